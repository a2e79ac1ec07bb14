"""`serve`: how it is tried. A toy model counts down, so a text's first number says how long its answer is.

Its cases know which texts belong together in a call: this file doesn't travel, and the probe stands in probes.py.
"""

from typing import Any

import numpy as np

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects
from transformer_course.lessons.drawing import Inputs

ANSWERS = aspects.main("answers, in the order of the prompts", 5.0, meaning="Each prompt gets its own, whole answer.")
JOIN = Aspect(
    "texts join and leave",
    ("calls",),
    aspects.CONTENT,
    weight=10.0,
    core=True,
    tags=frozenset({"usual"}),
    meaning="Each call holds as many texts as possible: those running, and the first in line for each free slot.",
)
LIMIT = aspects.special("cut off at max_new", weight=2.0, meaning="A text leaves when it has max_new new ids.",
                        keys=("output", "calls"))  # fmt: skip
FEW = aspects.special(
    "fewer prompts than slots", meaning="There may be fewer prompts than slots, or none at all.",
    keys=("output", "calls"),
)  # fmt: skip
LONG = aspects.special(
    "prompts of several ids",
    weight=2.0,
    meaning="Each text in a call begins with its whole prompt; an end_id in the prompt doesn't end it.",
    keys=("output", "calls"),
)
ALIKE = aspects.special("equal prompts", meaning="Two prompts that are equal are two texts.", keys=("output", "calls"))
OTHER = aspects.special("another end_id", meaning="The end_id that is passed in is used.", keys=("output", "calls"))
SINGLE = aspects.special("a single slot", meaning="With one slot, one text runs after the other.",
                         keys=("output", "calls"))  # fmt: skip


def cases(generator: np.random.Generator) -> list[Case]:
    def line(*lengths: int, slots: int, max_new: int = 50, end_id: int = 0, **others: Any) -> Inputs:
        prompts = [[length + end_id] for length in lengths]
        return {"prompts": prompts, "slots": slots, "end_id": end_id, "max_new": max_new, "others": [], **others}

    def mixed(count: int) -> list[int]:
        """Lengths of which the first three differ: 1 is among them, and a long one."""
        long, middle = int(generator.integers(7, 10)), int(generator.integers(3, 5))
        start = [int(n) for n in generator.permutation([1, long, middle])]
        return start + [int(n) for n in generator.permutation(np.arange(2, 2 + count - 3))]

    several = line(slots=2)
    several["prompts"] = [[0, 7, int(generator.integers(3, 6))], [4, 0, 2], [9, 9, 0, 6], [8, 1]]
    cut = line(*mixed(7), slots=3, max_new=4)
    cut_later = line(slots=2, max_new=3)  # with prompts of several ids: their length must not matter
    cut_later["prompts"] = [[9, 8], [7, 5, 8], [8, 3, 1, 5], [6, 2], [4, 7]]
    ends = line(slots=2)
    ends["prompts"] = [[5, 0], [2, 0], [3], [6, 0], [1]]
    ends["others"] = [([5, 0], 6), ([2, 0], 1), ([6, 0], 3)]  # no two of them end at once
    end = int(generator.integers(3, 8))
    alike = line(4, 2, 4, 4, 2, 3, slots=3)
    return [
        Case.of("with seven prompts and three slots", **line(*mixed(7), slots=3)),
        Case.of("with eight prompts and two slots", **line(*mixed(8), slots=2)),
        Case.of("with nine prompts and four slots", **line(*mixed(9), slots=4)),
        Case.of("where two texts end at once", **line(3, 3, 2, 4, 1, slots=2)),
        Case.of("where texts reach max_new", LIMIT, **cut),
        Case.of("where texts with longer prompts reach max_new", LIMIT, **cut_later),
        Case.of("where max_new is 1", LIMIT, **line(*mixed(6), slots=2, max_new=1)),
        Case.of("with fewer prompts than slots", FEW, **line(*mixed(4), slots=9)),
        Case.of("without any prompt", FEW, **line(slots=3)),
        Case.of("with prompts of several ids", LONG, **several),
        Case.of("with prompts that end with end_id", LONG, **ends),
        Case.of("with equal prompts", ALIKE, **alike),
        Case.of("with another end_id", OTHER, **line(*mixed(3), slots=2, end_id=end)),
        Case.of("with a single slot", SINGLE, **line(*mixed(5), slots=1)),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """Whole answers in another order than that of the prompts: in which one doesn't matter."""
    others = {tuple(text): token for text, token in case.inputs["others"]}
    answers = observation["output"]
    begins = [others.get(tuple(prompt), prompt[-1] - 1) for prompt in case.inputs["prompts"]]
    whole = all(answer and answer == list(range(answer[0], answer[0] - len(answer), -1)) for answer in answers)
    first = [answer[0] for answer in answers] if whole else []
    if sorted(first) == sorted(begins) and first != begins:
        return {**observation, "output": "the answers, in another order"}
    return observation


TRIAL = Trial(
    module="transformer_course.fast_answers.serving",
    points=3,
    cases=cases,
    canonical=in_words,
    shown=lambda case: {name: case.inputs[name] for name in ("prompts", "slots", "end_id", "max_new")},
    called={"calls": "the texts in each call"},
    aspects=(ANSWERS, JOIN, LIMIT, FEW, LONG, ALIKE, OTHER, SINGLE, aspects.untouched()),
)

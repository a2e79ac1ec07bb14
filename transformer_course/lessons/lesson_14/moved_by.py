"""`moved_by`: how it is tried."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects
from transformer_course.lessons.lesson_14.patients import ASKED, EACH, TWINS, VOCAB, Moves, model_of, moved_in
from transformer_course.lessons.watching import AS_ASKED

SOME = aspects.special("some digits alone", weight=5.0, meaning="A model may tell one digit from all the others.")
EITHER_WAY = aspects.special(
    "any logit, a little, up or down", weight=4.0, meaning="A small move counts, up or down, in any logit."
)
TREMBLES = aspects.special(
    "moves of less than 0.00001", weight=1.5, meaning="A move of less than 0.00001 doesn't count: a computer rounds."
)
OTHERS = aspects.special(
    "tokens that aren't digits",
    weight=3.0,
    meaning="Plus and padding aren't changed, and their rows are False; what stands in for a digit is a digit.",
)
ENDS = aspects.special("a 0 and a 9", weight=2.0, meaning="The digits 0 and 9 are changed like any other.")
SMALLEST = aspects.special("one digit, one answer", meaning="The smallest sums give the right result too.")


BOTH = Moves(up=range(9), down=range(9, VOCAB))
SMALL = Moves(size=3e-5, falls=True)
ONE_SMALL = Moves(up=[11], size=8e-5, falls=True)
EITHER = (
    SMALL,
    Moves(up=[6]),
    Moves(up=[0], size=0.1),
    Moves(up=[0, 3], down=[5, 8]),
    Moves(falls=True),
    ONE_SMALL,
    SMALL,
)
"""One for each answer: a logit in the middle, the first one, as much up as down, down only, one so little that the mean
over all of them doesn't show it; and a little, where the logits themselves are large, and where they are small."""


def cases(generator: np.random.Generator) -> list[Case]:
    def case(
        label: str,
        *about: Aspect,
        first: int = 2,
        second: int = 1,
        padding: int = 0,
        others: bool = False,
        ends: bool = False,
        moves: Sequence[Moves] = (Moves(),),
        **model: Any,
    ) -> Case:
        """No 0, 5 or 9, so that any digit may become one of these; each answer looks at some tokens only. Every digit
        more is ten more questions to the model."""
        digits = generator.choice([2, 3, 4, 5, 7, 8, 9], first + second).tolist()
        digits[1] = 1 if ends else int(generator.integers(2, 5))  # whoever tries one digit of each half finds the 5
        digits[0] = 3  # a 2, which is none of the digits that a model may tell from the others
        digits[first] = 10 if ends else 7  # a 6: the digit below it is one of these, and the one above it isn't
        source = torch.tensor([[*digits[:first], 11, *digits[first:], *[0] * padding]])
        length = max(first + 1, second + 1, len(moves))
        target_input = torch.tensor([[12, *generator.integers(1, 11, length - 1).tolist()]])
        if len(moves) > 1:
            target_input[0, -1] = 1
        sight = torch.from_numpy(generator.integers(0, 2, (source.shape[1], length)))
        sight[1] = 1
        sight[0, 0], sight[first + 1, 0] = 1, 0
        sight[0, 1], sight[first + 1, 1] = 0, 1
        sight[first] = int(others)
        sight[first + 1 + second :] = 1
        inputs = {"source": source, "target_input": target_input}
        tags = about[0].tags if about else aspects.USUAL
        model_here = partial(model_of, sight, source, target_input, moves=moves, notices_others=others, **model)
        wanted = moved_in(model_here(), source, target_input)
        return Case(label, inputs, tags, partial(model_here, wanted=wanted))

    return [
        case("with a model whose logits rise with some digits", second=2),
        case("with numbers of different lengths", first=3),
        case("with a 0 and a 9 in the sum", ENDS, ends=True),
        case("with a model whose logits move in different ways", EITHER_WAY, moves=EITHER),
        case("with a model that rounds differently each time", TREMBLES, moves=[Moves(size=0.01)], trembles=True),
        case("with a model in which each answer looks for a different digit", SOME, looks=EACH),
        case("with a model to which every digit looks like one other digit", SOME, looks=TWINS, moves=[BOTH]),
        case(
            "with a model that looks at plus, padding and any other token too",
            OTHERS,
            padding=2,
            others=True,
            moves=[BOTH],
        ),
        case("with numbers of one digit", SMALLEST, first=1),
    ]


def plain(observation: Observation, case: Case) -> Observation:
    """Whether a gradient would flow through it doesn't matter. Of what was asked, the words about it are left."""
    asked, seen = observation.get(ASKED), {name: value for name, value in observation.items() if name != ASKED}
    output = seen.get("output")
    if "output" in seen:
        seen = {ASKED: AS_ASKED, **seen}
    if not isinstance(output, torch.Tensor):
        return seen
    output = seen["output"] = output.detach()
    if asked is not None and output.shape == asked[-1].shape and not torch.equal(output.bool(), asked[-1]):
        *changed, shown, _ = asked
        sentences = [_changed(case.inputs["source"][0].tolist(), *changed)]
        if not changed[0] and not changed[1]:  # so it is known what was compared
            sentences.insert(0, _kept(case.inputs["source"][0], output.bool(), shown))
        seen[ASKED] = " ".join(filter(None, sentences)) or AS_ASKED
    return seen


def _changed(source: list[int], other_target: bool, several: bool, tried: list[list[int]]) -> str:
    """What may be wrong with what the model is asked."""
    if other_target:
        return "You ask the model about another target input as well. Which of the two arguments should change?"
    if several:
        return "Some sources that you try differ in more than one token. How many may change at a time?"
    digits = [place for place, token in enumerate(source) if 1 <= token <= 10]
    left_out = [place for place in digits if not tried[place]]
    if left_out:
        which = f"the {source[left_out[0]] - 1} at place {left_out[0]} of the source, counted from 0"
        return f"You never change {which}, while all else stays. Which tokens are digits?"
    for place in digits:
        digit, others = source[place] - 1, [one - 1 for one in tried[place] if 1 <= one <= 10]
        if set(others) | {digit} != set(range(10)):
            listed = ", ".join(map(str, others)) or "no digit"
            return f"In place of a {digit}, you try {listed}. Which other digits could move an answer?"
    return ""


def _kept(source: torch.Tensor, output: torch.Tensor, shown: torch.Tensor) -> str:
    """What is to be said of a result that doesn't say what the sources that were tried have moved."""
    digits = (source >= 1) & (source <= 10)
    if (shown & ~output).any():
        return (
            "Some source that you try moves a logit by more than 0.00001, and your result is False there. What do you "
            "compare, and how do you keep it?"
        )
    if output[~digits].any():
        return "Your result is True in the row of a token that isn't a digit. What does the docstring say about these?"
    if (output & ~shown).any():
        return (
            "Your result is True where no other digit that you try moves a logit by more than 0.00001. What do you "
            "compare, and for which entry?"
        )
    return ""


KEYS = (ASKED, "output")


TRIAL = Trial(
    module="transformer_course.length_generalization.sight",
    points=3,
    cases=cases,
    canonical=plain,
    called={ASKED: "what the model is asked", "left": "the arguments after the call"},
    aspects=(
        aspects.right_kind(
            "shape (source_length, target_length), boolean", "A row for each source token, a column for each answer."
        ),
        *(
            replace(aspect, keys=KEYS)
            for aspect in (aspects.values(8.0), SOME, EITHER_WAY, TREMBLES, OTHERS, ENDS, SMALLEST)
        ),
        aspects.also("arguments untouched", "left", weight=0.5, meaning="Source and target input stay as they were."),
    ),
)

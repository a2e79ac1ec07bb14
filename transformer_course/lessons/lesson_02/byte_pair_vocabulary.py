"""`byte_pair_vocabulary`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL, main, special, untouched, worded
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.byte_pairs import byte_pair_vocabulary
from transformer_course.lessons.lesson_02.drawing import draw_merges
from transformer_course.lessons.watching import AS_ASKED

DOUBLED = special(
    "the same token twice", meaning="A token that two merges make has one id, the first, and no id is left out."
)
ONE = special("a single merge", meaning="A single merge gives the right vocabulary too.")
NONE = special("no merges", meaning="An empty list of merges gives an empty vocabulary.")


def cases(generator: np.random.Generator) -> list[Case]:
    return [
        Case.of("on a few merges", merges=draw_merges(generator)[:3]),
        Case.of("on more merges", merges=draw_merges(generator)),
        Case.of("where two merges make the same token", DOUBLED, merges=draw_merges(generator, doubled=True)),
        Case.of("on a single merge", ONE, merges=draw_merges(generator)[:1]),
        Case.of("without any merges", NONE, merges=[]),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The vocabulary, and what its ids and tokens are instead, if that can be seen."""
    if "output" not in observation or not case.tags >= USUAL:
        return observation
    if observation.get("again", AS_ASKED) != AS_ASKED:  # its ids come of how often it was called
        return {"numbered": AS_ASKED, **observation}
    return {"numbered": _numbered(observation["output"], case.inputs["merges"]), **observation}


def _numbered(output: Any, merges: list[tuple[str, str]]) -> str:
    right = byte_pair_vocabulary(merges)
    if not isinstance(output, dict) or output == right or not all(type(i) is int for i in output.values()):
        return AS_ASKED
    for name, halves in (("first", {a for a, _ in merges}), ("second", {b for _, b in merges})):
        if output.keys() == halves:
            return f"Your tokens are the {name} halves of the pairs alone. What does a merge make of its two?"
    if output.keys() != right.keys():
        return AS_ASKED
    ids = sorted(output.values())
    start, in_a_row = ids[0], ids == list(range(ids[0], ids[0] + len(ids)))
    order = sorted(output, key=lambda token: output[token])
    if not in_a_row or (start != 257 and len(ids) < 2):
        return AS_ASKED
    first = (
        "" if start == 257 else f"Your smallest id is {start}. Which is the first that neither padding nor a byte has?"
    )
    second = "" if order == list(right) else "The ids don't follow the order of the merges. Which token comes first?"
    return " ".join(filter(None, (first, second))) or AS_ASKED


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"again": "what a second call gives", "numbered": "which tokens get which ids"},
    aspects=(
        worded(
            worded(
                main(
                    "an id for each merged token", meaning="Each merged token gets the id that the docstring gives it."
                ),
                "numbered",
            ),
            "again",
        ),
        DOUBLED,
        ONE,
        NONE,
        untouched("the merges stay as they were"),
    ),
)

"""The ways in which an answer may have been made, in words: whoever made it otherwise than asked is told how."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from transformer_course.lessons.watching import AS_ASKED

Ways = Mapping[str, Any]
"""Ways of taking one step, each by a sentence that says what it is; `AS_ASKED` is the right one."""


def way_taken(steps: Sequence[Ways], fits: Callable[..., bool]) -> tuple[str, ...] | None:
    """For each step the sentence of the way that was taken; None where no ways fit together.

    `fits` gets one way for each step, in their order. Those with the fewest slips are tried first.
    """
    for way in sorted(product(*steps), key=lambda way: len(way) - way.count(AS_ASKED)):
        if fits(*(step[sentence] for step, sentence in zip(steps, way, strict=True))):
            return way
    return None

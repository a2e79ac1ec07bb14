"""What a probe says in words beside the result: a case says whether that is wanted, as it is where an aspect looks."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from cellcheck.authoring.spec import USUAL, Case

IN_WORDS = "in_words"
Draw = Callable[[np.random.Generator], list[Case]]


def usually_in_words(draw: Draw) -> Draw:
    """The same cases, of which the usual ones want words."""

    @wraps(draw)
    def cases(generator: np.random.Generator) -> list[Case]:
        return [replace(case, inputs={**case.inputs, IN_WORDS: case.tags >= USUAL}) for case in draw(generator)]

    return cases


def without_the_wish(inputs: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """A case's other inputs, and whether it wants words."""
    return {name: value for name, value in inputs.items() if name != IN_WORDS}, bool(inputs[IN_WORDS])

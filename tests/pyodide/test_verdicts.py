"""Inside and outside, each answer gets the same verdict: points, mistake, aspects, and the sentence that is said.

Inside is Pyodide, the Python that the site serves: another NumPy, 32 bits for an index, one thread. `make test` draws
some exercises; `make claims` takes them all, and two seeds.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from cellcheck.checking.judge import PUBLIC_SEED
from cellcheck.syllabus import find_lesson
from tests.nightly import drawn, later
from tests.pyodide.conftest import PythonInNode
from tests.pyodide.slips import SLIPS
from tests.pyodide.test_parts import SYMBOLS
from tests.pyodide.verdicts import verdicts

EXERCISES = [
    *((lesson, symbol) for lesson, symbols in SYMBOLS.items() for symbol in symbols),
    *(("09_numpy_transformer", each.symbol) for each in find_lesson("09")[0].announced("09_numpy_transformer")),
]
NEED_TORCH = {
    ("encode", "mistake tensor_returned"),
    ("linear_gradients", "honest linear_by_autograd"),
    ("mlp_predict_numpy", "wrong a tensor"),
}
"""Answers that ask PyTorch for something: where there is none, they stop."""
LONG = {"DecoderBlock"}
"""Exercises whose answers take half a minute there."""
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


@pytest.mark.parametrize("seed", [PUBLIC_SEED, pytest.param(12345, marks=later)])
@pytest.mark.parametrize(
    ("lesson", "symbol"), [pytest.param(*each, marks=later if each[1] in LONG else ()) for each in EXERCISES]
)
@drawn(2)
def test_every_answer_gets_the_same_verdict_inside_and_outside(
    python: PythonInNode, lesson: str, symbol: str, seed: int
) -> None:
    texts = SLIPS.get(symbol, {})
    inside, outside = python.ask(lesson, symbol, seed, texts), verdicts(lesson, symbol, seed, texts)
    assert len(inside) > 5
    differing = differences(inside, outside)
    stopped = {name for answer, name in NEED_TORCH if answer == symbol}
    assert {name: both for name, both in differing.items() if name not in stopped} == {}
    assert all(inside[name]["points"] == 0 for name in stopped)


def differences(inside: dict[str, Any], outside: dict[str, Any]) -> dict[str, Any]:
    """The answers with two verdicts, each with both."""
    assert inside.keys() == outside.keys()
    return {
        name: (inside[name], outside[name])
        for name in inside
        if {**inside[name], "message": ""} != {**outside[name], "message": ""}
        or not same_words(inside[name]["message"], outside[name]["message"])
    }


def same_words(one: str, other: str) -> bool:
    """The same sentence; of numbers in it, the last digits may differ, as between any two processors."""
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=False)
    return _NUMBER.sub("#", one) == _NUMBER.sub("#", other) and all(
        float(a) == pytest.approx(float(b), rel=1e-3, abs=1e-6) for a, b in numbers
    )

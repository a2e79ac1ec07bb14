"""What becomes of a compiler that warns, or isn't there."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch

from transformer_course.timing import try_to_compile

Function = Callable[..., Any]


def warns(function: Function) -> Function:
    logging.getLogger("torch").warning("No CUDA runtime is found")
    return function


def fails(function: Function) -> Function:
    raise RuntimeError("there is no C++ compiler")


@pytest.mark.parametrize(
    ("compiler", "sentence"), [(warns, ""), (fails, "There is no compiled version here: RuntimeError.")]
)
def test_a_warning_is_not_for_learners_and_a_failure_is_one_sentence(
    compiler: Function, sentence: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(torch, "compile", compiler)
    compiled, _, problem = try_to_compile(len, "abc")
    assert (compiled, problem) == (None if sentence else len, sentence)
    assert caplog.messages == []
    logging.getLogger("torch").warning("another time")
    assert caplog.messages == ["another time"]

"""How long a call takes, with and without a compiler."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch

from course.timing import try_to_compile

Function = Callable[..., Any]


def test_a_warning_of_the_compilers_is_not_for_learners(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def compile_with_a_warning(function: Function) -> Function:
        logging.getLogger("torch").warning("No CUDA runtime is found")
        return function

    monkeypatch.setattr(torch, "compile", compile_with_a_warning)
    compiled, _, problem = try_to_compile(len, "abc")
    assert (compiled, problem) == (len, "")
    assert caplog.messages == []
    logging.getLogger("torch").warning("another time")
    assert caplog.messages == ["another time"]


def test_a_compiler_that_fails_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_compiler(function: Function) -> Function:
        raise RuntimeError("there is no C++ compiler")

    monkeypatch.setattr(torch, "compile", no_compiler)
    compiled, _, problem = try_to_compile(len, "abc")
    assert compiled is None
    assert problem == "There is no compiled version here: RuntimeError."
    logging.getLogger("torch").warning("seen again")
    assert caplog.messages == ["seen again"]

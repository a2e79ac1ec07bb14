"""Whether an answer refuses by itself: its own error says so, and one from within PyTorch doesn't."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from transformer_course.lessons.refusing import own_refusal, refusal


def refused(size: int) -> None:
    raise ValueError(f"{size} doesn't fit")


def raised(size: int) -> None:
    raise RuntimeError(f"{size} doesn't fit")


def asserted(size: int) -> None:
    assert size < 0, "it doesn't fit"


def helped(size: int) -> None:
    raised(size)


def a_value_error_of_python(size: int) -> int:
    return int(f"{size} patches")


def left_to_pytorch(size: int) -> torch.Tensor:
    return torch.zeros(4).reshape(size, size)


def indexed(size: int) -> int:
    return [0, 1, 2][size]


@pytest.mark.parametrize(
    ("symbol", "outcome", "kind"),
    [
        (refused, "an error", "a ValueError"),
        (raised, "an error", "another error than a ValueError"),
        (asserted, "an error", "another error than a ValueError"),
        (helped, "an error", "another error than a ValueError"),
        (a_value_error_of_python, "an error", "a ValueError"),
        (left_to_pytorch, "only an error from within", "another error than a ValueError"),
        (indexed, "only an error from within", "another error than a ValueError"),
        (lambda size: torch.zeros(size, 2), "a Tensor of shape (3, 2)", "no error"),
        (lambda size: (size, size), "a tuple", "no error"),
    ],
)
def test_what_becomes_of_such_arguments(symbol: Callable[..., Any], outcome: str, kind: str) -> None:
    assert own_refusal(symbol, 3) == {"refusal": outcome, "kind": kind}


def test_a_blank_answer_refuses_nothing() -> None:
    def blank(size: int) -> None:
        raise NotImplementedError

    for asked in (refusal, own_refusal):
        with pytest.raises(NotImplementedError):
            asked(blank, 3)


@pytest.mark.parametrize(
    ("symbol", "kind"),
    [
        (a_value_error_of_python, "a ValueError"),
        (left_to_pytorch, "another error than a ValueError"),
        (lambda size: size, "no error"),
    ],
)
def test_where_the_docstring_names_the_error_its_kind_is_told(symbol: Callable[..., Any], kind: str) -> None:
    assert refusal(symbol, 3)["kind"] == kind

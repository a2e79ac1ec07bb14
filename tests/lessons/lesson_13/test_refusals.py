"""Whether an answer refuses by itself: its own error says so, and one from within PyTorch doesn't."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from transformer_course.lessons.lesson_13.refusals import REFUSED, refusal


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
    ("symbol", "said"),
    [
        (raised, REFUSED),
        (asserted, REFUSED),
        (helped, REFUSED),
        (a_value_error_of_python, REFUSED),
        (left_to_pytorch, "only an error from within"),
        (indexed, "only an error from within"),
        (lambda size: torch.zeros(size, 2), "no error, and a result of shape (3, 2)"),
        (lambda size: (size, size), "no error"),
    ],
)
def test_what_becomes_of_such_arguments(symbol: Callable[..., Any], said: str) -> None:
    assert refusal(symbol, 3) == said


def test_a_blank_answer_refuses_nothing() -> None:
    def blank(size: int) -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        refusal(blank, 3)

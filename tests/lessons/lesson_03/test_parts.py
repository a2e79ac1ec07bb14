"""What is said of a module that lacks a part."""

import pytest
import torch
from torch import nn

from cellcheck.checking.cards import standing
from cellcheck.checking.check import Checker
from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import FeedForward


class NoFirstBias(FeedForward):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(d_model, d_ff)
        self.linear_in = nn.Linear(d_model, d_ff, bias=False)


class NoLastBias(MultiHeadAttention):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.output = nn.Linear(d_model, d_model, bias=False)


class Halved(FeedForward):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) * 0.47


@pytest.mark.parametrize(
    ("symbol", "wrong", "bias"),
    [("FeedForward", NoFirstBias, "linear_in.bias"), ("MultiHeadAttention", NoLastBias, "output.bias")],
)
def test_a_missing_bias_is_told_before_the_numbers_that_follow_from_it(
    symbol: str, wrong: type[nn.Module], bias: str
) -> None:
    verdict = Checker("03").verdict(symbol, wrong)
    assert verdict.message.startswith(f"Your module has no {bias}, which should have the shape (")
    stands = standing(verdict)
    assert stands.wrong is not None
    assert stands.wrong.name == "named parts, all in use"
    assert "values" in stands.later
    assert stands.lines[-1].startswith("Not judged yet: ")


def test_wrong_numbers_alone_are_told_as_such() -> None:
    assert "entries of the result differ" in Checker("03").verdict("FeedForward", Halved).message

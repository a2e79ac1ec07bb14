"""A model that was trained on a GPU is asked there."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from transformer_course.lessons.lesson_13.experiments import reading, seeing


class Elsewhere(nn.Module):
    """Lies on another device, and notes where its inputs come from."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, device="meta"))
        self.asked: set[str] = set()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self.asked.add(inputs.device.type)
        return torch.zeros(len(inputs), 2)


ROWS = torch.tensor([[3, 4, 5, 0], [6, 7, 0, 0]])
DATA: Any = SimpleNamespace(test=(ROWS, torch.tensor([0, 1])))


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: seeing.answers(model, DATA),
        lambda model: seeing.answers(model, DATA, ROWS),
        lambda model: reading.odds(model, ROWS),
        lambda model: reading.rights(model, DATA),
        lambda model: reading.what_words_do(model, ROWS[0]),
        lambda model: reading.agreement(model, model, DATA),
    ],
)
def test_inputs_go_where_the_model_is(ask: Callable[[nn.Module], Any]) -> None:
    model = Elsewhere()
    ask(model)
    assert model.asked == {"meta"}

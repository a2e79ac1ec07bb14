"""`Forecaster`: cases, mistakes and variants. The contract names no parts, so questions are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course.beyond.forecasting import Forecaster
from course.blocks import EncoderBlock
from grader.authoring import draw
from grader.authoring.aspects import USUAL
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.lesson_12.exercises.looks import EVERYTHING, FEW, looks
from lessons.lesson_12.exercises.stacks import Stacked, but, shared_mistakes

SIZES = ("input_length", "horizon", "d_model", "num_heads", "d_ff", "num_layers")


def _models(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, layers: int, ask: tuple[str, ...] = FEW, **other: Any) -> dict[str, Any]:
        length, horizon = int(generator.integers(6, 9)), int(generator.integers(2, 4))
        heads, d_ff = int(generator.integers(2, 4)), int(generator.integers(11, 16))
        sizes = dict(zip(SIZES, (length, horizon, 4 * heads, heads, d_ff, layers), strict=True))
        dtype = other.pop("dtype", torch.float32)
        sizes |= other
        return {"x": draw.normal(generator, batch, sizes["input_length"], dtype=dtype), "sizes": sizes, "ask": [*ask]}

    return [
        Case("with one block", model(3, 1, EVERYTHING), USUAL),
        Case("with three blocks", model(2, 3, EVERYTHING), USUAL),
        Case("with as many rows as values", model(6, 1, input_length=6), tagged("sizes")),
        Case("with a horizon longer than the input", model(3, 1, input_length=4, horizon=7), tagged("sizes")),
        Case("with a horizon of one", model(3, 1, horizon=1), tagged("sizes")),
        Case("on a batch of one", model(1, 1), tagged("one")),
        Case("with float64", model(3, 1, dtype=torch.float64), tagged("float64")),
    ]


class Model(Stacked):
    """The right model; mistakes change one thing about it."""

    def __init__(
        self, input_length: int, horizon: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        self.input_length, self.horizon = input_length, horizon
        self.embedding = nn.Linear(1, d_model)
        self.prepare(input_length, d_model, num_heads, d_ff, num_layers)
        self.head = self.last(input_length, d_model, horizon)

    def last(self, input_length: int, d_model: int, horizon: int) -> Any:
        return nn.Linear(input_length * d_model, horizon)

    def tokens(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.embedding(x[..., None]))

    def read(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1)


_but = but(Model)


def _narrow(read: Any, **methods: Any) -> type[Stacked]:
    """A last layer that reads one vector."""
    return _but(read=read, last=lambda self, length, d_model, horizon: nn.Linear(d_model, horizon), **methods)


def _one_token(self: Model, x: torch.Tensor) -> torch.Tensor:
    """All values become one token, repeated."""
    whole = nn.functional.linear(x, self.embedding.weight.repeat(1, x.shape[1]), self.embedding.bias)
    return whole[:, None].expand(-1, x.shape[1], -1)


def _scaled_by_batch(self: Model, x: torch.Tensor) -> torch.Tensor:
    return Model.tokens(self, (x - x.mean()) / (x.std() + 1e-6))


def _last_step_only(self: Stacked, result: torch.Tensor) -> torch.Tensor:
    return result[:, :1]


class _PerPlace(Model):
    """A last layer for each position, as a variant: what all positions say is added up."""

    def last(self, input_length: int, d_model: int, horizon: int) -> Any:
        return nn.ModuleList(nn.Linear(d_model, horizon, bias=place == 0) for place in range(input_length))

    def forward(self, x: torch.Tensor) -> Any:
        x = self.norm(self.run(self.placed(self.tokens(x))))
        return torch.stack([layer(x[:, place]) for place, layer in enumerate(self.head)]).sum(dim=0)


class _FromTheLastValue(Model):
    """The head forecasts the difference from the last value."""

    def forward(self, x: torch.Tensor) -> Any:
        return x[:, -1:] + super().forward(x)


class _Written(nn.Module):
    """Other names, a parameter for the positions, and a Sequential of blocks."""

    def __init__(self, n: int, horizon: int, d_model: int, num_heads: int, d_ff: int, num_layers: int) -> None:
        super().__init__()
        self.lift = nn.Parameter(torch.randn(d_model))
        self.shift = nn.Parameter(torch.zeros(1, n, d_model))
        self.encoder = nn.Sequential(*(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)))
        self.out = nn.Sequential(nn.LayerNorm(d_model), nn.Flatten(), nn.Linear(n * d_model, horizon))

    def forward(self, series: torch.Tensor) -> Any:
        return self.out(self.encoder(series.unsqueeze(2) * self.lift + self.shift))


FORECASTER = Exercise(
    symbol="Forecaster",
    points=4,
    cases=_models,
    references=(Forecaster,),
    aspects=looks("forecasts (batch, horizon)", "one value"),
    mistakes=(
        *shared_mistakes(Model),
        Mistake(
            "the_window_as_one_token",
            _but(tokens=_one_token),
            "Every token holds the whole window, so attention has nothing to choose from. How many values should a "
            "token hold?",
            central=True,
        ),
        Mistake(
            "scaled_by_the_batch",
            _but(tokens=_scaled_by_batch),
            "You scale with the mean of the whole batch, so a window's forecast depends on its neighbours. Whose mean "
            "may a row use?",
            central=True,
        ),
        Mistake(
            "relu_at_the_end",
            _but(finish=lambda self, result: torch.relu(result)),
            "Your forecasts are never negative. May a series fall below 0?",
        ),
        Mistake(
            "sigmoid_at_the_end",
            _but(finish=lambda self, result: torch.sigmoid(result)),
            "All your forecasts lie between 0 and 1. Which numbers may a forecast be?",
        ),
        Mistake(
            "tanh_at_the_end",
            _but(finish=lambda self, result: torch.tanh(result)),
            "All your forecasts lie between -1 and 1. Which numbers may a forecast be?",
        ),
        Mistake(
            "first_step_only",
            _but(finish=_last_step_only),
            "You return one step of the forecast. How many does horizon ask for?",
            central=True,
        ),
        Mistake(
            "a_forecast_for_every_position",
            _narrow(lambda self, x: x),
            "You return a forecast for every position: (batch, input_length, horizon). How many forecasts does a "
            "window need?",
            central=True,
        ),
        Mistake(
            "an_axis_too_many",
            _but(finish=lambda self, result: result.unsqueeze(-1)),
            "The numbers are right, but there is an axis of length 1 at the end. Which shape does the docstring give?",
        ),
        Mistake(
            "squeezed",
            _but(finish=lambda self, result: result.squeeze()),
            "Axes of length 1 disappear from your forecast. Isn't a batch of one row still a batch?",
        ),
    ),
    variants={
        "flattened": Model,
        "the last position": _narrow(lambda self, x: x[:, -1]),
        "the mean of all positions": _narrow(lambda self, x: x.mean(dim=1)),
        "a layer for each position": _PerPlace,
        "the difference from the last value": _FromTheLastValue,
        "other names": _Written,
    },
)

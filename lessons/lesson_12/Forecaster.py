"""`Forecaster`: how it is tried. The contract names no parts, so questions are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring import draw
from grader.authoring.aspects import BATCH_OF_ONE, FLOAT64
from grader.authoring.spec import Case, Trial
from lessons.lesson_12.looks import EVERYTHING, FEW, SIZES, looks
from lessons.lesson_12.readers import look_at

NAMES = ("input_length", "horizon", "d_model", "num_heads", "d_ff", "num_layers")


def cases(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, layers: int, ask: tuple[str, ...] = FEW, **other: Any) -> dict[str, Any]:
        length, horizon = int(generator.integers(6, 9)), int(generator.integers(2, 4))
        heads, d_ff = int(generator.integers(2, 4)), int(generator.integers(11, 16))
        dtype = other.pop("dtype", torch.float32)
        sizes = dict(zip(NAMES, (length, horizon, 4 * heads, heads, d_ff, layers), strict=True)) | other
        return {"x": draw.normal(generator, batch, sizes["input_length"], dtype=dtype), "sizes": sizes, "ask": [*ask]}

    return [
        Case.of("with one block", **model(3, 1, EVERYTHING)),
        Case.of("with three blocks", **model(2, 3, EVERYTHING)),
        Case.of("with as many rows as values", SIZES, **model(6, 1, input_length=6)),
        Case.of("with a horizon longer than the input", SIZES, **model(3, 1, input_length=4, horizon=7)),
        Case.of("with a horizon of one", SIZES, **model(3, 1, horizon=1)),
        Case.of("on a batch of one", BATCH_OF_ONE, **model(1, 1)),
        Case.of("with float64", FLOAT64, **model(3, 1, dtype=torch.float64)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the model answers; each value should be a token."""
    sizes = inputs["sizes"]
    return look_at(symbol, inputs, range(sizes["input_length"]), sizes["horizon"])


TRIAL = Trial(
    module="course.beyond.forecasting",
    points=4,
    cases=cases,
    probe=probe,
    aspects=looks("forecasts (batch, horizon)", "one value"),
)

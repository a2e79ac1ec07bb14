"""`Forecaster`: how it is tried. The contract names no parts, so questions are asked."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects, draw
from transformer_course.lessons.lesson_13.looks import CORE, EVERYTHING, FEW, SIZES, looks
from transformer_course.lessons.lesson_13.readers import look_at

NAMES = ("input_length", "horizon", "d_model", "num_heads", "d_ff", "num_layers")


def cases(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, layers: int, ask: tuple[str, ...] = FEW, **other: Any) -> dict[str, Any]:
        length, horizon = int(generator.integers(5, 7)), int(generator.integers(2, 4))
        heads, d_ff = int(generator.integers(2, 4)), int(generator.integers(11, 16))
        dtype = other.pop("dtype", torch.float32)
        sizes = dict(zip(NAMES, (length, horizon, 4 * heads, heads, d_ff, layers), strict=True)) | other
        return {"x": draw.normal(generator, batch, sizes["input_length"], dtype=dtype), "sizes": sizes, "ask": [*ask]}

    return [
        Case.of("with one block", **model(3, 1, CORE)),
        Case.of("with two blocks", **model(2, 2, EVERYTHING)),
        Case.of("with as many rows as values", SIZES, **model(5, 1, input_length=5)),
        Case.of("with a horizon longer than the input", SIZES, **model(2, 1, input_length=4, horizon=7)),
        Case.of("with a horizon of one", SIZES, **model(2, 1, horizon=1)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **model(1, 1)),
        Case.of("with float64", aspects.FLOAT64, **model(2, 1, dtype=torch.float64)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the model answers; each value should be a token."""
    sizes = inputs["sizes"]
    return look_at(symbol, inputs, range(sizes["input_length"]), sizes["horizon"])


TRIAL = Trial(
    module="transformer_course.beyond.forecasting",
    points=4,
    cases=cases,
    probe=probe,
    aspects=looks("forecasts (batch, horizon)", "one value"),
)

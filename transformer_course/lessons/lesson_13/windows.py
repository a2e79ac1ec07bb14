"""`windows`: how it is tried."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects, draw
from cellcheck.authoring.calls import in_order
from transformer_course.lessons.refusing import own_refusal

ONE = aspects.special("an input or a horizon of one", meaning="input_length and horizon may be one.")
SINGLE = aspects.special("a single window", meaning="A series in which a single window fits gives that window.")
CHANNELS = aspects.special(
    "several channels", weight=2.0, meaning="A series (n, channels) gives windows (k, length, channels)."
)
REFUSED = aspects.special(
    "a series that is too short",
    weight=2.0,
    meaning="Where a series is too short for one window, your own error says so, and not one from within PyTorch.",
    keys=("refusal",),
)


def cases(generator: np.random.Generator) -> list[Case]:
    i, h = draw.dims(generator, 2, 2, 5)
    n = i + h + int(generator.integers(4, 8))

    def case(label: str, *about: Aspect, series: torch.Tensor, input_length: int = i, horizon: int = h) -> Case:
        return Case.of(label, *about, series=series, input_length=input_length, horizon=horizon)

    def normal(*sizes: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        return draw.normal(generator, *sizes, dtype=dtype)

    return [
        case("on a short series", series=normal(n)),
        case("with a long input", series=normal(n + 6), input_length=6),
        case("with a long horizon", series=normal(n + 7), horizon=7),
        case("with a horizon of one", ONE, series=normal(n), horizon=1),
        case("with an input of one", ONE, series=normal(n), input_length=1),
        case("where a single window fits", SINGLE, series=normal(i + h)),
        case("with three channels", CHANNELS, series=normal(n, 3)),
        case("with one channel", CHANNELS, series=normal(n, 1)),
        case("with float64", aspects.FLOAT64, series=normal(n, dtype=torch.float64)),
        case("with a series that is not contiguous", aspects.LAYOUT, series=draw.strided(normal(n))),
        case("where one value is missing for a window", REFUSED, series=normal(i + h - 1)),
        case("with a series that is far too short", REFUSED, series=normal(2), input_length=i + 1),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The windows; where the series is too short for one, how it is refused."""
    if len(inputs["series"]) < inputs["input_length"] + inputs["horizon"]:
        return own_refusal(symbol, *inputs.values())
    return in_order(symbol, inputs)


def pair(observation: Observation, case: Case) -> Observation:
    """A tuple or a list of two, whichever."""
    output = observation.get("output")
    if isinstance(output, list | tuple) and len(output) == 2:
        return {**observation, "output": list(output)}
    return observation


TRIAL = Trial(
    module="transformer_course.beyond.series",
    points=2,
    cases=cases,
    probe=probe,
    canonical=pair,
    called={"refusal": "the answer to a series that is too short"},
    aspects=(
        aspects.shape("a pair of the right shapes", "You return inputs and targets, one row of each for every window."),
        aspects.values(10.0),
        ONE,
        SINGLE,
        CHANNELS,
        aspects.dtype(weight=0.5),
        replace(aspects.FLOAT64, weight=0.5),
        replace(aspects.LAYOUT, weight=0.5),
        REFUSED,
        aspects.untouched(weight=0.5),
    ),
)

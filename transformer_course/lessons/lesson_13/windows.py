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
BY_ITS_NAME = aspects.special(
    "by a ValueError", "a series that is too short", 0.5, "The error is the one that the docstring names.", ("kind",)
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


ALL_PLACES = "in order, at every place"
BACKWARDS = "Within each example, your {} run backwards in time. Which of its values comes first?"


def pair(observation: Observation, case: Case) -> Observation:
    """A tuple or a list of two, whichever; and in words where in the series they begin, if not where they should.

    Where there are too few of them, or too many, or longer ones, that is said in their place.
    """
    if "output" not in observation:
        return observation
    output, alike = observation["output"], [ALL_PLACES, ALL_PLACES]
    if not isinstance(output, list | tuple) or len(output) != 2:
        return {"where": alike, **observation}
    if all(isinstance(one, list | tuple) and one for one in output):
        lists = "You return lists of windows. Which function makes one tensor of them?"
        return {"where": alike, **observation, "output": lists}
    series, (i, h) = case.inputs["series"], (case.inputs["input_length"], case.inputs["horizon"])
    places = len(series) - i - h + 1
    forms = [_form("inputs", output[0], series, i, places), _form("targets", output[1], series, h, places)]
    where = [_where("inputs", output[0], series, i, 0, places), _where("targets", output[1], series, h, i, places)]
    if where[0] and where[1] == BACKWARDS.format("targets") and where[0] != BACKWARDS.format("inputs"):
        where[0] = f"{where[0]} {where[1]}"  # of all these, only what is said of the inputs is told
    for place, one in enumerate(output):
        if where[place] and len(one) != places:
            forms[place], where[place] = where[place], ""
    return {
        "where": [words or ALL_PLACES for words in where],
        **observation,
        "output": [words or one for words, one in zip(forms, output, strict=True)],
    }


def _form(which: str, windows: Any, series: torch.Tensor, length: int, places: int) -> str:
    """What is wrong with the shape of windows of these many values; nothing where they have it."""
    if not isinstance(windows, torch.Tensor) or not windows.dim():
        return ""
    if series.dim() > 1:
        if windows.shape[1:] == (length * series.shape[1],):
            return f"Your {which} have no axis for the channels. Which axes does the docstring give them?"
        return ""
    if windows.shape == (places,) and length > 1:
        return f"Your {which} are single values, one for each example. How many values has each of them?"
    if windows.dim() == 1:
        return f"Your {which} lie end to end in one row. Which function puts one window below the other?"
    if windows.dim() > 2 or windows.shape[1] == length:
        return ""
    if len(windows) == length:
        return f"Your {which} are side by side, each in a column. Which axis holds the examples?"
    begins = _begins(windows, series)
    where = f", the first at place {begins[0]}" if begins and begins[0] >= 0 else ""
    return (
        f"Each of your {which} has {windows.shape[1]} values{where}, but {length} are asked for. Where should it begin "
        "and end?"
    )


def _begins(windows: torch.Tensor, series: torch.Tensor) -> list[int]:
    """Where each begins in a series that goes on at its beginning; -1 where it isn't a piece of that."""
    length = windows.shape[1]
    if not 0 < length <= len(series):
        return []
    pieces = torch.cat([series, series[: length - 1]]).unfold(0, length, 1)
    if series.dim() > 1:
        pieces = pieces.transpose(1, 2)
    return [next(iter((pieces == one).flatten(1).all(dim=1).nonzero().flatten().tolist()), -1) for one in windows]


def _where(which: str, windows: Any, series: torch.Tensor, length: int, first: int, places: int) -> str:
    """What is to be said of where these windows begin, counted from 0; nothing where nothing can be."""
    if not isinstance(windows, torch.Tensor) or windows.shape[1:] != (length, *series.shape[1:]):
        return ""
    pieces = series.unfold(0, length, 1)
    if series.dim() > 1:
        pieces = pieces.transpose(1, 2)
    if length > 1 and _all_there(windows.flip(1), pieces) and not _all_there(windows, pieces):
        return BACKWARDS.format(which)
    begin = _begins(windows, series)
    if -1 in begin or begin == [*range(first, first + places)]:
        return ""
    if not begin:
        return f"There are no {which}, though a window fits. At how many places does it?"
    listed = ", ".join(map(str, begin[:3])) + (f" ... {begin[-1]}" if len(begin) > 3 else "")
    over = ", and what runs over its end goes on at its beginning" if max(begin) > len(series) - length else ""
    return (
        f"Counted from 0, your {which} begin at {listed} in a series of {len(series)}{over}. After which values does a "
        "target begin, and at which places could a window begin?"
    )


def _all_there(windows: torch.Tensor, pieces: torch.Tensor) -> bool:
    return all((pieces == one).flatten(1).all(dim=1).any() for one in windows)


TRIAL = Trial(
    module="transformer_course.beyond.series",
    points=2,
    cases=cases,
    probe=probe,
    canonical=pair,
    called={
        "where": "where your windows begin",
        "refusal": "the answer to a series that is too short",
        "kind": "the error",
    },
    aspects=(
        aspects.shape("a pair of the right shapes", "You return inputs and targets, one row of each for every window."),
        aspects.worded(aspects.values(10.0), "where"),
        ONE,
        SINGLE,
        CHANNELS,
        aspects.dtype(weight=0.5),
        replace(aspects.FLOAT64, weight=0.5),
        replace(aspects.LAYOUT, weight=0.5),
        REFUSED,
        BY_ITS_NAME,
        aspects.untouched(weight=0.5),
    ),
)

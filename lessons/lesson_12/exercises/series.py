"""`windows` and `seasonal_naive`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.beyond.series import seasonal_naive, windows
from grader.authoring import draw
from grader.authoring.aspects import USUAL, dtype, refused, shape, special, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation, tagged

Pair = tuple[torch.Tensor, torch.Tensor]


def _long_series(generator: np.random.Generator) -> list[Case]:
    i, h = draw.dims(generator, 2, 2, 5)
    n = i + h + int(generator.integers(4, 8))

    def case(label: str, tag: str, series: torch.Tensor, input_length: int, horizon: int) -> Case:
        inputs = {"series": series, "input_length": input_length, "horizon": horizon}
        return Case(label, inputs, tagged(tag) if tag else USUAL)

    return [
        case("on a short series", "", draw.normal(generator, n), i, h),
        case("with a long input", "", draw.normal(generator, n + 6), 6, h),
        case("with a long horizon", "", draw.normal(generator, n + 7), i, 7),
        case("with a horizon of one", "one", draw.normal(generator, n), i, 1),
        case("with an input of one", "one", draw.normal(generator, n), 1, h),
        case("where a single window fits", "single", draw.normal(generator, i + h), i, h),
        case("with three channels", "channels", draw.normal(generator, n, 3), i, h),
        case("with one channel", "channels", draw.normal(generator, n, 1), i, h),
        case("with float64", "float64", draw.normal(generator, n, dtype=torch.float64), i, h),
        case("with a series that is not contiguous", "strided", draw.strided(draw.normal(generator, n)), i, h),
        case("where one value is missing for a window", "refused", draw.normal(generator, i + h - 1), i, h),
        case("with a series that is far too short", "refused", draw.normal(generator, 2), i + 1, h),
    ]


def _pair(observation: Observation, case: Case) -> Observation:
    """A tuple or a list of two, whichever."""
    kept, output = dict(observation), observation.get("output")
    if isinstance(output, list | tuple) and len(output) == 2:
        kept["output"] = list(output)
    return kept


def _enough(series: torch.Tensor, input_length: int, horizon: int) -> int:
    """How many windows fit."""
    if len(series) < input_length + horizon:
        raise ValueError("the series is too short")
    return len(series) - input_length - horizon + 1


def _stacked(
    target: Callable[[int, int, int], tuple[int, int]] = lambda start, n, h: (start + n, start + n + h),
    fewer: int = 0,
    step: int = 1,
) -> Callable[..., Pair]:
    """Windows cut one by one; `target(start, input_length, horizon)` says from where to where a target goes."""

    def cut(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
        starts = range(0, max(_enough(series, input_length, horizon) - fewer, 1), step)
        places = [target(start, input_length, horizon) for start in starts]
        inputs = torch.stack([series[start : start + input_length] for start in starts])
        return inputs, torch.stack([series[first:last] for first, last in places])

    return cut


def _backwards(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    inputs, targets = windows(series, input_length, horizon)
    return inputs.flip(0), targets.flip(0)


def _every_input(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    """All inputs, those at the end without a target too."""
    _enough(series, input_length, horizon)
    return series.unfold(0, input_length, 1).movedim(-1, 1), windows(series, input_length, horizon)[1]


def _unfolded(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    pieces = series.unfold(0, input_length + horizon, 1).movedim(-1, 1)
    return pieces[:, :input_length], pieces[:, input_length:]


def _unfolded_only(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    """Channels end up before the time."""
    pieces = series.unfold(0, input_length + horizon, 1)
    return pieces[..., :input_length], pieces[..., input_length:]


def _scaled(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    scaled = (series - series.mean(dim=0)) / series.std(dim=0).clamp(min=1e-6)
    return windows(scaled, input_length, horizon)


def _never_refuses(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    if len(series) < input_length + horizon:
        shape = (0, 0, *series.shape[1:])
        return series.new_zeros(shape), series.new_zeros(shape)
    return windows(series, input_length, horizon)


def _indexed(series: torch.Tensor, input_length: int, horizon: int) -> Pair:
    starts = torch.arange(_enough(series, input_length, horizon))[:, None]
    return series[starts + torch.arange(input_length)], series[starts + input_length + torch.arange(horizon)]


def _sliding(series: torch.Tensor, input_length: int, horizon: int) -> list[torch.Tensor]:
    view = np.lib.stride_tricks.sliding_window_view(series.numpy(), input_length + horizon, axis=0)
    pieces = torch.from_numpy(np.moveaxis(view, -1, 1).copy())
    return [pieces[:, :input_length], pieces[:, input_length:]]


WINDOWS = Exercise(
    symbol="windows",
    points=2,
    cases=_long_series,
    references=(windows,),
    canonical=_pair,
    aspects=(
        shape("a pair of the right shapes", "You return inputs and targets, one row of each for every window."),
        values(10.0),
        special("an input or a horizon of one", "one", meaning="input_length and horizon may be one."),
        special("a single window", "single", meaning="A series in which a single window fits gives that window."),
        special("several channels", "channels", 2.0, "A series (n, channels) gives windows (k, length, channels)."),
        dtype(weight=0.5),
        special("float64", "float64", 0.5),
        special("any layout in memory", "strided", 0.5),
        refused("a series that is too short", "refused", 2.0),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "last_window_missing",
            _stacked(fewer=1),
            "The last window is missing. If 10 values are there and a window takes 10, how many windows fit?",
        ),
        Mistake(
            "target_overlaps_the_input",
            _stacked(lambda start, n, h: (start + n - 1, start + n + h - 1)),
            "Your target begins with the last value of the input, so part of the answer is in the question. Where does "
            "the future begin?",
            central=True,
        ),
        Mistake(
            "a_gap_before_the_target",
            _stacked(lambda start, n, h: (start + n + 1, start + n + h + 1), fewer=1),
            "There is a value between input and target that belongs to neither. Which one comes right after the input?",
            central=True,
        ),
        Mistake(
            "target_is_the_shifted_input",
            _stacked(lambda start, n, h: (start + 1, start + n + 1)),
            "Your target is the input moved by one, as for a language model. How many values are there to forecast, "
            "and which?",
            central=True,
        ),
        Mistake(
            "windows_do_not_overlap",
            lambda series, input_length, horizon: _stacked(step=input_length + horizon)(series, input_length, horizon),
            "Your windows lie end to end. At how many places does a window fit if it may begin anywhere?",
            central=True,
        ),
        Mistake(
            "steps_of_the_horizon",
            lambda series, input_length, horizon: _stacked(step=max(horizon, 2))(series, input_length, horizon),
            "You skip places at which a window could begin. How far is it from one window to the next?",
            central=True,
        ),
        Mistake(
            "swapped",
            lambda series, input_length, horizon: windows(series, input_length, horizon)[::-1],
            "You return the targets first. In which order does the docstring want the two?",
            central=True,
        ),
        Mistake(
            "last_value_only",
            _stacked(lambda start, n, h: (start + n + h - 1, start + n + h)),
            "Your target is a single value, the last of the horizon. How many steps are to be forecast?",
            central=True,
        ),
        Mistake(
            "backwards_in_time",
            _backwards,
            "Your windows come last first. In which order does the docstring want them?",
        ),
        Mistake(
            "more_inputs_than_targets",
            _every_input,
            "You have inputs at the end that have no target. Which is the last place at which both fit?",
            central=True,
        ),
        Mistake(
            "channels_before_time",
            _unfolded_only,
            "With several channels, your windows are (k, channels, length). If you used unfold: where does it put its "
            "new axis?",
        ),
        Mistake(
            "scaled_with_the_future",
            _scaled,
            "You scaled the series, with the mean of all of it. Does the docstring ask for that, and what would the "
            "mean tell an early window?",
            central=True,
        ),
        Mistake(
            "too_short_goes_on",
            _never_refuses,
            "A series that is too short for any window gives empty tensors. What does the docstring ask for?",
        ),
    ),
    variants={
        "cut one by one": _stacked(),
        "unfold": _unfolded,
        "two indices": _indexed,
        "NumPy, as a list": _sliding,
    },
)


def _histories(generator: np.random.Generator) -> list[Case]:
    period = int(generator.integers(3, 6))
    n = 2 * period + 1 + int(generator.integers(0, 2))  # never a multiple of the period

    def case(label: str, tag: str, length: int, period: int, horizon: int, **other: Any) -> Case:
        inputs = {"history": draw.normal(generator, length, **other), "period": period, "horizon": horizon}
        return Case(label, inputs, tagged(tag) if tag else USUAL)

    whole = torch.arange(1, n + 1) * int(generator.integers(2, 5))
    return [
        case("within one period", "", n, period, period - 1),
        case("with a long history", "", n + 2 * period, period, period - 1),
        case("over exactly one period", "", n, period, period),
        case("with a horizon longer than the period", "long", n, period, period + 2),
        case("with a horizon of almost three periods", "long", n, period, 3 * period - 1),
        case("with a history of exactly one period", "short", period, period, period - 1),
        case("with a period of one", "one", n, 1, 4),
        case("with a horizon of one", "one", n, period, 1),
        Case("with whole numbers", {"history": whole, "period": period, "horizon": period}, tagged("whole")),
        case("with float64", "float64", n, period, period, dtype=torch.float64),
    ]


def _places(place: Callable[[int, int, int], int]) -> Callable[..., torch.Tensor]:
    """`place(step, n, period)` says which value of the history a step repeats."""

    def forecast(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
        n = len(history)
        return torch.stack([history[min(max(place(step, n, period), -n), n - 1)] for step in range(horizon)])

    return forecast


def _last_only(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    return history[-1].repeat(horizon)


def _period_mean(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    return history[-period:].double().mean().to(history.dtype).repeat(horizon)


def _cut_short(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    return history[len(history) - period :][:horizon]


def _with_growth(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    last = seasonal_naive(history, period, horizon)
    before = history[: len(history) - period] if len(history) >= 2 * period else history
    return last + (last - seasonal_naive(before, period, horizon))


def _repeated(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    return history[-period:].repeat(horizon // period + 1)[:horizon]


def _appended(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    known = list(history)
    for _ in range(horizon):
        known.append(known[-period])
    return torch.stack(known[len(history) :])


SEASONAL_NAIVE = Exercise(
    symbol="seasonal_naive",
    points=1,
    cases=_histories,
    references=(seasonal_naive,),
    aspects=(
        Aspect(
            "shape (horizon,)",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The forecast has one value for each step.",
        ),
        values(6.0),
        special("a horizon longer than the period", "long", 5.0, "A long horizon repeats the last period."),
        special("a history of one period", "short", meaning="A history of exactly one period is enough."),
        special("a period or a horizon of one", "one", meaning="The period and the horizon may be one."),
        special("whole numbers", "whole", 0.5, "A history of whole numbers works too."),
        dtype(weight=0.5),
        special("float64", "float64", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "last_value",
            _last_only,
            "You repeat the last value. What was the value in the same month a period ago?",
            central=True,
        ),
        Mistake(
            "first_period",
            _places(lambda step, n, period: step % period),
            "You repeat the first period of the history. Which period is the most recent?",
            central=True,
        ),
        Mistake(
            "phase_of_the_start",
            _places(lambda step, n, period: n - period + (n + step) % period),
            "You count the seasons from the beginning of the history, so your forecast starts in the wrong one. Which "
            "value is exactly one period before step 0?",
            central=True,
        ),
        Mistake(
            "one_step_late",
            _places(lambda step, n, period: n - period + (step + 1) % period),
            "Your forecast is one step ahead of the season. Which value is exactly one period before step 0?",
            central=True,
        ),
        Mistake(
            "one_step_early",
            _places(lambda step, n, period: n - 1 - period + step % period),
            "Your forecast begins one value too early. Which value is exactly one period before step 0?",
            central=True,
        ),
        Mistake(
            "backwards",
            _places(lambda step, n, period: n - 1 - step % period),
            "Your forecast runs backwards through the last period. In which order do its values come again?",
            central=True,
        ),
        Mistake(
            "no_longer_than_a_period",
            _cut_short,
            "Your forecast ends after one period, however long the horizon is. What comes after the last period?",
            central=True,
        ),
        Mistake(
            "stays_at_the_end",
            _places(lambda step, n, period: n - period + min(step, period - 1)),
            "Beyond one period your forecast stays at the last value. Which operation starts again from the first?",
        ),
        Mistake(
            "mean_of_the_period",
            _period_mean,
            "You repeat the mean of the last period. Is July like January?",
            central=True,
        ),
        Mistake(
            "with_growth",
            _with_growth,
            "You add the growth of the last period. That may forecast better, but does the docstring ask for it?",
        ),
        Mistake(
            "a_list",
            lambda history, period, horizon: [float(x) for x in seasonal_naive(history, period, horizon)],
            "The numbers are right, but they come as a list. What type was the history?",
        ),
    ),
    variants={
        "repeat and cut": _repeated,
        "append and look back": _appended,
        "index by index": _places(lambda step, n, period: n - period + step % period),
        "tile": lambda history, period, horizon: history[-period:].tile(-(-horizon // period))[:horizon],
    },
)

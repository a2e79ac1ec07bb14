"""`looks_ahead`, the bug clinic: does a forecast know anything of the future?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.beyond.series import looks_ahead
from grader.authoring import draw
from grader.authoring.aspects import also, tells_apart
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_12.exercises.patients import pipeline_of

# (patient, tag, words for the learner)
_TRIED = [
    ("naive", "sound", "with the seasonal naive forecast"),
    ("scaled_by_the_past", "sound", "with a pipeline that scales by the mean of the past"),
    ("fitted_to_the_past", "sound", "with a model that was fitted to the past alone"),
    ("logarithms", "sound", "with a pipeline that works with logarithms of the past"),
    ("by_length", "sound", "with a pipeline that uses how long the series is, and nothing else of the future"),
    ("late", "sound", "with a pipeline that does without the last known value"),
    ("copied", "all", "with a pipeline that returns the future itself"),
    ("scaled_by_all", "all", "with a pipeline that scales by the mean of the whole series"),
    ("fitted_to_all", "all", "with a model that was fitted to the whole series"),
    ("top", "all", "with a pipeline that never goes far beyond the largest value of the whole series"),
    ("bottom", "all", "with a pipeline that measures from the smallest value of the whole series"),
    ("fitted_one_too_far", "one", "with a model whose last training window ends one step too late"),
    ("smoothed", "one", "with a pipeline that smooths with a centred mean of three"),
    ("hardly", "one", "with a pipeline that mixes in a thousandth of the value at the cut"),
    ("last_value", "one", "with a pipeline that looks at the very last value alone"),
    ("growth", "one", "with a pipeline that uses the difference between two future values"),
]


def _pipelines(generator: np.random.Generator) -> list[Case]:
    n, cut = int(generator.integers(22, 27)), int(generator.integers(15, 18))
    season = torch.tensor([3.0, -2.0, 0.5, -1.0]).repeat(7)[:n]
    series = 10 + season + draw.normal(generator, n) / 4
    series[2] = 5.0  # the smallest value is in the past
    series[cut - 1] = 16.0  # so is a peak, and a slightly higher one is to come
    series[cut + 2] = 17.0
    series[cut], series[-1] = 11.0, 7.5  # far enough apart to be told when the future is turned round
    return [
        Case(label, {"series": series, "cut": cut}, frozenset({tag}), partial(pipeline_of, name))
        for name, tag, label in _TRIED
    ]


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-5, atol=1e-6)


def _changing(*changes: Callable[[torch.Tensor, int], torch.Tensor], close: Any = _close) -> Callable[..., bool]:
    """Compares the forecast with that for each changed copy of the series."""

    def test(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
        forecast = pipeline(series, cut)
        return any(not close(forecast, pipeline(change(series.clone(), cut), cut)) for change in changes)

    return test


def _future(change: Callable[[torch.Tensor], torch.Tensor], offset: int = 0) -> Callable[..., torch.Tensor]:
    """The series with its values from cut + offset on replaced."""

    def changed(series: torch.Tensor, cut: int) -> torch.Tensor:
        return torch.cat([series[: cut + offset], change(series[cut + offset :])])

    return changed


def _wild(future: torch.Tensor) -> torch.Tensor:
    return future + 50 * torch.arange(1, len(future) + 1).cos()


def _one_value(value: Callable[[torch.Tensor, int], int]) -> Callable[..., torch.Tensor]:
    def changed(series: torch.Tensor, cut: int) -> torch.Tensor:
        series[value(series, cut)] += 40
        return series

    return changed


def _cut_off(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
    """Takes the future away."""
    try:
        return not torch.equal(pipeline(series, cut), pipeline(series[:cut], cut))
    except Exception:
        return True


def _in_place(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
    forecast = pipeline(series, cut)
    found = looks_ahead(pipeline, series, cut)
    series[cut:] += 1
    return found and bool(torch.isfinite(forecast).any())


def _compared_with_the_truth(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
    """Suspects a forecast that is very good."""
    forecast = pipeline(series, cut)
    return bool((forecast - series[cut : cut + len(forecast)]).abs().mean() < 1)


def _each_in_turn(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
    """One future value after the other, up and down."""
    forecast = pipeline(series, cut)
    for place in range(cut, len(series)):
        for amount in (100.0, -100.0):
            other = series.clone()
            other[place] += amount
            if (pipeline(other, cut) != forecast).any():
                return True
    return False


def _random_tails(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
    generator = torch.Generator().manual_seed(0)
    forecasts = [pipeline(series, cut)]
    for _ in range(6):
        tail = 100 * torch.randn(len(series) - cut, generator=generator)
        forecasts.append(pipeline(torch.cat([series[:cut], tail]), cut))
    return len({tuple(forecast.tolist()) for forecast in forecasts}) > 1


def _numpy(pipeline: Any, series: torch.Tensor, cut: int) -> bool:
    ramps = np.linspace(-90.0, 120.0, len(series) - cut)
    tails = [ramps, -ramps, np.flip(ramps) * 3, ramps**2]
    others = [torch.cat([series[:cut], torch.from_numpy(tail).to(series.dtype)]) for tail in tails]
    wanted = np.asarray(pipeline(series, cut))
    return any(not np.array_equal(wanted, np.asarray(pipeline(other, cut))) for other in others)


LOOKS_AHEAD = Exercise(
    symbol="looks_ahead",
    points=3,
    cases=_pipelines,
    references=(looks_ahead,),
    aspects=(
        *tells_apart(
            sound="honest pipelines pass",
            all="use of the whole series is found",
            one="a look at one or two values is found",
            meanings={
                "sound": "A pipeline that uses the past alone, or how long the series is, doesn't look ahead.",
                "all": "Its mean, a fit, its largest or smallest value, or the future itself: all are found.",
                "one": "A look at a single future value is a look ahead too, wherever it is and however small.",
            },
        ),
        also(
            "the series untouched",
            "verdict and series",
            weight=0.5,
            meaning="Your test is right about all pipelines, and leaves the series as it was.",
        ),
    ),
    mistakes=(
        Mistake(
            "always_true",
            lambda pipeline, series, cut: True,
            "Your test says True whatever it is shown. Which pipelines are honest?",
            central=True,
        ),
        Mistake(
            "always_false",
            lambda pipeline, series, cut: False,
            "Your test says False whatever it is shown. Which value could you change to find out?",
            central=True,
        ),
        Mistake(
            "the_wrong_way_round",
            lambda pipeline, series, cut: not looks_ahead(pipeline, series, cut),
            "You say True to the honest pipelines. Which way round should the answer be?",
            central=True,
        ),
        Mistake(
            "changes_the_past_too",
            _changing(_future(_wild, -1)),
            "You change the value before the cut as well, which every forecast may use. Is series[cut] the last known "
            "value, or the first unknown one?",
            central=True,
        ),
        Mistake(
            "starts_one_too_late",
            _changing(_future(_wild, 1), _future(lambda future: future + 60, 1), _future(lambda future: -future, 1)),
            "You leave the value at the cut as it is. Is it part of the past, or of the future?",
            central=True,
        ),
        Mistake(
            "changes_the_cut_alone",
            _changing(_one_value(lambda series, cut: cut)),
            "You change one value, the one at the cut. What about a pipeline that looks further ahead?",
            central=True,
        ),
        Mistake(
            "changes_the_end_alone",
            _changing(_one_value(lambda series, cut: -1)),
            "You change one value, the last. What about a pipeline that looks a single step ahead?",
            central=True,
        ),
        Mistake(
            "shifts_only",
            _changing(_future(lambda future: future + 30), _future(lambda future: future - 30)),
            "You add the same to all future values, so their differences stay. Which change leaves nothing as it was?",
        ),
        Mistake(
            "turns_round_only",
            _changing(_future(lambda future: future.flip(0))),
            "You turn the future round, so its mean, its largest and its smallest value stay. Which change leaves "
            "nothing as it was?",
            central=True,
        ),
        Mistake(
            "up_only",
            _changing(_future(lambda future: future + 20 + torch.arange(len(future)) ** 2)),
            "You make future values larger, never smaller. What about a pipeline that asks for the smallest?",
        ),
        Mistake(
            "takes_the_future_away",
            _cut_off,
            "You compare with a series that ends at the cut, so a pipeline that only uses the length counts as looking "
            "ahead. How can you change the future and keep its length?",
            central=True,
        ),
        Mistake(
            "allows_small_changes",
            _changing(
                _future(lambda future: future + 0.5 + 0.1 * torch.arange(len(future)).cos()),
                _future(lambda future: future - 0.5),
                close=lambda one, other: torch.allclose(one, other, rtol=0.01, atol=0.01),
            ),
            "A forecast that moves a little counts as unmoved. How much may a value that isn't known yet change it?",
        ),
        Mistake(
            "suspects_good_forecasts",
            _compared_with_the_truth,
            "You ask how good the forecast is. Can an honest one be good, and one that looks ahead be bad?",
            central=True,
        ),
        Mistake(
            "series_changed",
            _in_place,
            "Your verdict is right, but the caller's series has other values now. What should you change in its place?",
        ),
    ),
    variants={
        "each value in turn": _each_in_turn,
        "random futures": _random_tails,
        "NumPy": _numpy,
    },
)

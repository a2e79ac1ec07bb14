"""What `looks_ahead` is tried on: pipelines that make a forecast, honest ones and ones that know the future."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import torch

from cellcheck.authoring.patients import Patient
from transformer_course.beyond.series import seasonal_naive, windows

Pipeline = Callable[[torch.Tensor, int], torch.Tensor]
PERIOD, HORIZON = 4, 4


def _naive(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Honest: the last period again."""
    return seasonal_naive(series[:cut], PERIOD, HORIZON)


def _scaled_by(known: Callable[[torch.Tensor, int], torch.Tensor]) -> Pipeline:
    """Scales, damps the swings a little, and scales back: the mean and the spread of `known(series, cut)` matter."""

    def pipeline(series: torch.Tensor, cut: int) -> torch.Tensor:
        part = known(series, cut)
        mean, spread = part.mean(), part.std() + 1
        return (_naive(series, cut) - mean) / spread * (0.9 * spread) + mean

    return pipeline


def _fitted(until: Callable[[torch.Tensor, int], int]) -> Pipeline:
    """A linear forecast, fitted by least squares to the windows of the series up to `until(series, cut)`."""

    def pipeline(series: torch.Tensor, cut: int) -> torch.Tensor:
        inputs, targets = windows(series[: until(series, cut)], PERIOD, 1)
        if not (inputs.isfinite().all() and targets.isfinite().all()):
            return torch.full((HORIZON,), torch.nan, dtype=series.dtype)  # what least squares would make of it
        weights = torch.linalg.lstsq(_with_one(inputs), targets).solution
        known = list(series[:cut])
        for _ in range(HORIZON):
            last = torch.stack(known[-PERIOD:])[None]
            known.append((_with_one(last) @ weights)[0, 0])
        return torch.stack(known[cut:])

    return pipeline


def _with_one(inputs: torch.Tensor) -> torch.Tensor:
    return torch.cat([inputs, torch.ones_like(inputs[:, :1])], dim=1)


def _logarithms(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Honest: works with logarithms, of the past alone."""
    return seasonal_naive(series[:cut].clamp(min=0.1).log(), PERIOD, HORIZON).exp()


def _by_length(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Honest: damps more the more is still to come. Only the length of the series says so."""
    return _naive(series, cut) * (1 - 0.1 * cut / len(series))


def _late(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Honest: does without the last known value, which arrives late."""
    return seasonal_naive(series[: cut - 1], PERIOD, HORIZON)


def _copied(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Returns the future itself."""
    return series[cut : cut + HORIZON]


def _smoothed(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Smooths with a centred mean of three: the last known value looks one step ahead."""
    padded = torch.cat([series[:1], series, series[-1:]])
    smooth = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    return _naive(smooth, cut)


def _top(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Never forecasts more than nine tenths of the largest value of the whole series."""
    return _naive(series, cut).clamp(max=0.9 * float(series.max()))


def _bottom(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Measures from the smallest value of the whole series."""
    low = series.min()
    return (_naive(series, cut) - low) * 1.1 + low


def _last_value(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Looks at the very last value alone."""
    return _naive(series, cut) + 0.1 * series[-1]


def _growth(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Adds the growth per step between the first value after the cut and the last one of all."""
    steps = max(len(series) - 1 - cut, 1)
    return _naive(series, cut) + (series[-1] - series[cut]) / steps


def _record(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Mixes in the largest value of the whole series."""
    return _naive(series, cut) * 0.9 + 0.1 * series.max()


def _depth(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Mixes in the smallest value of the whole series."""
    return _naive(series, cut) * 0.9 + 0.1 * series.min()


def _capped(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Never forecasts much more than the mean of the future: it moves only when that falls."""
    return _naive(series, cut).clamp(max=float(series[cut:].mean()) + 7)


def _propped(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Never forecasts much less than the mean of the future: it moves only when that rises."""
    return _naive(series, cut).clamp(min=float(series[cut:].mean()) - 5)


def _tilted(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Turns its forecast by the mean of the future: the last steps go up by as much as the first go down."""
    return _naive(series, cut) + 0.1 * series[cut:].mean() * (torch.arange(HORIZON) - (HORIZON - 1) / 2)


def _wary(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Goes lower the further the future is from the mean of the past."""
    return _naive(series, cut) - 0.1 * (series[cut:] - series[:cut].mean()).abs().mean()


def _first_step(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Mixes in the value at the cut, in its first step alone."""
    forecast = _naive(series, cut)
    forecast[0] = 0.9 * forecast[0] + 0.1 * series[cut]
    return forecast


def _mixing_in(place: int) -> Pipeline:
    """Mixes in the value so many places after the cut."""
    return lambda series, cut: _naive(series, cut) * 0.9 + 0.1 * series[cut + place]


def _second_step(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Mixes in the value at the cut, in its second step alone."""
    forecast = _naive(series, cut)
    forecast[1] = 0.9 * forecast[1] + 0.1 * series[cut]
    return forecast


def _hardly(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Mixes in a thousandth of the value to come."""
    return _naive(series, cut) * 0.999 + 0.001 * series[cut]


def _barely(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Leans towards the value to come, by a fiftieth at most: however much that changes, the forecast hardly does."""
    return _naive(series, cut) + 0.02 * (series[cut] - LEVEL).tanh()


LEVEL = 11.0


def _above(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Moves as soon as the value at the cut is more than a level, and not if it is less."""
    return _naive(series, cut) + 0.1 * (series[cut] - LEVEL).clamp(min=0)


def _below(series: torch.Tensor, cut: int) -> torch.Tensor:
    """Moves as soon as the value at the cut is less than a level, and not if it is more."""
    return _naive(series, cut) + 0.1 * (LEVEL - series[cut]).clamp(min=0)


PIPELINES: dict[str, Pipeline] = {
    "naive": _naive,
    "scaled_by_the_past": _scaled_by(lambda series, cut: series[:cut]),
    "fitted_to_the_past": _fitted(lambda series, cut: cut),
    "logarithms": _logarithms,
    "by_length": _by_length,
    "late": _late,
    "copied": _copied,
    "scaled_by_all": _scaled_by(lambda series, cut: series),
    "fitted_to_all": _fitted(lambda series, cut: len(series)),
    "fitted_one_too_far": _fitted(lambda series, cut: cut + 1),
    "smoothed": _smoothed,
    "top": _top,
    "bottom": _bottom,
    "last_value": _last_value,
    "growth": _growth,
    "above": _above,
    "below": _below,
    "hardly": _hardly,
    "barely": _barely,
    "capped": _capped,
    "propped": _propped,
    "tilted": _tilted,
    "wary": _wary,
    "first_step": _first_step,
    "second_step": _second_step,
    "second_value": _mixing_in(1),
    "third_value": _mixing_in(2),
    "record": _record,
    "depth": _depth,
}
SHAKY = "shaky"
"""Honest, and the last digit of what it returns is another one in every second call."""


@dataclass
class Asked:
    """What a pipeline was asked, beside the forecast for the series as it is."""

    series: torch.Tensor
    cut: int
    known: torch.Tensor
    """The forecast for the series as it is."""
    kinds: set[str] = field(default_factory=set)

    def note(self, series: torch.Tensor, forecast: torch.Tensor) -> None:
        """Notes in which ways a series differs, and whether its forecast does."""
        if series.shape != self.series.shape:
            self.kinds.add("another length")
            return
        change = series.double() - self.series.double()
        if change[: self.cut].ne(0).any():
            self.kinds.add("another past")
        elif change.ne(0).any():
            later = change[self.cut :]
            places_of = {"cut": later[:1].ne(0), "up": later > 0, "down": later < 0, "unknown": later.isnan()}
            self.kinds |= {"changed"} | {kind for kind, places in places_of.items() if places.any()}
            far = forecast.shape != self.known.shape or not (forecast - self.known).abs().max() <= 2e-5
            self.kinds |= {"moved"} if far else set()


def pipeline_of(name: str, series: torch.Tensor, cut: int) -> Patient:
    """A patient that answers `forecast`, with the series and the cut. It notes what it is asked beside these."""
    calls = count()
    asked = Asked(series, cut, _forecast(name, series, cut))

    def forecast(series: torch.Tensor, cut: int) -> torch.Tensor:
        result = _forecast(name, series, cut)
        if cut == asked.cut:
            asked.note(series, result)
        return torch.nextafter(result, 2 * result) if name == SHAKY and next(calls) % 2 else result

    return Patient({"forecast": forecast}, lambda: {ASKED: sorted(asked.kinds)})


ASKED = "asked"
"""Under this name a patient says what was asked of it."""


def _forecast(name: str, series: torch.Tensor, cut: int) -> torch.Tensor:
    # In double, from a copy, and rounded: the same numbers elsewhere in memory may be added up in another order.
    if name == SHAKY:
        return _naive(series.double().clone(), cut).float()
    return PIPELINES[name](series.double().clone(), cut).round(decimals=5).float()

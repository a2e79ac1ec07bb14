"""Forecasts with a rolling origin: what each forecast knows ends where it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.beyond.forecasting import Forecaster
from transformer_course.beyond.series import scale_windows, seasonal_naive, windows
from transformer_course.downloads import NotAvailable
from transformer_course.plots import Picture
from transformer_course.progress import Progress
from transformer_course.tasks.monthly import PERIOD, carbon_dioxide, passengers

INPUT, HORIZON = 24, PERIOD
ORIGINS = 4
"""Forecasts of a year each, for the last four years."""
Pipeline = Callable[[torch.Tensor, int], torch.Tensor]
Scale = Callable[[torch.Tensor], Sequence[torch.Tensor]]
UNITS = {"passengers": "thousand passengers", "carbon dioxide": "parts per million"}
BEGINS = {"passengers": (1949, 1), "carbon dioxide": (1964, 5)}
"""The year and the month of each series' first value."""


@dataclass(frozen=True)
class Parts:
    """What the learner wrote."""

    windows: Callable[..., tuple[torch.Tensor, torch.Tensor]] = windows
    scale_windows: Scale = scale_windows
    forecaster: Callable[..., nn.Module] = Forecaster


OURS = Parts()


def both_series() -> dict[str, torch.Tensor]:
    """The passengers, if they can be had, and the carbon dioxide."""
    series = {}
    try:
        series["passengers"] = passengers()
    except NotAvailable as problem:
        print(problem)
    return series | {"carbon dioxide": carbon_dioxide()}


def origins(series: torch.Tensor) -> list[int]:
    """Where the forecasts are made: at the beginning of each of the last four years."""
    return [len(series) - HORIZON * (year + 1) for year in reversed(range(ORIGINS))]


def years(values: torch.Tensor, name: str) -> torch.Tensor:
    """When each value of a series was measured, as a year with a fraction."""
    year, month = BEGINS[name]
    return year + (month - 1 + torch.arange(len(values))) / 12


def shown(name: str, values: torch.Tensor) -> Picture:
    """A whole series."""
    title = f"{name}, {len(values)} months"
    return plots.curves({name: values}, x=years(values, name), title=title, x_label="year", y_label=UNITS[name])


def usual_error(series: torch.Tensor) -> float:
    """The mean error of last year's value in the part of the series that lies before the first forecast."""
    known = series[: origins(series)[0]]
    return (known[PERIOD:] - known[:-PERIOD]).abs().mean().item()


def errors(pipeline: Pipeline, series: torch.Tensor) -> list[float]:
    """The mean absolute error of each year's forecast, divided by the usual one."""
    usual = usual_error(series)
    return [
        (pipeline(series, cut) - series[cut : cut + HORIZON]).abs().mean().item() / usual for cut in origins(series)
    ]


def mase(pipeline: Pipeline, series: torch.Tensor) -> float:
    """The mean absolute scaled error (Hyndman and Koehler 2006, section 3, for seasons)."""
    return sum(errors(pipeline, series)) / ORIGINS


def last_year() -> Pipeline:
    """The seasonal naive forecast."""
    return lambda series, cut: seasonal_naive(series[:cut], PERIOD, HORIZON)


def last_year_and_growth() -> Pipeline:
    """The same, raised by as much as the last year was above the year before."""

    def pipeline(series: torch.Tensor, cut: int) -> torch.Tensor:
        growth = series[cut - PERIOD : cut].mean() - series[cut - 2 * PERIOD : cut - PERIOD].mean()
        return seasonal_naive(series[:cut], PERIOD, HORIZON) + growth

    return pipeline


def as_it_is(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """No change."""
    return inputs, torch.zeros_like(inputs[:, :1]), torch.ones_like(inputs[:, :1])


def train_on(
    series: torch.Tensor,
    build: Callable[[], nn.Module],
    scale: Scale,
    steps: int,
    learning_rate: float,
    parts: Parts = OURS,
    seed: int = 0,
    name: str = "",
) -> nn.Module:
    """Train on all windows of a series, which must end where the forecast is made. The loss is the absolute error."""
    torch.manual_seed(seed)
    inputs, targets = parts.windows(series, INPUT, HORIZON)
    inputs, mean, spread = scale(inputs)
    targets = (targets - mean) / spread
    model, generator = build(), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in (bar := Progress(range(steps), desc=name)):
        chosen = torch.randint(len(inputs), (32,), generator=generator)
        loss = (model(inputs[chosen]) - targets[chosen]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        bar.show_loss(loss.item())
    return model


def learnt(
    build: Callable[[], nn.Module],
    scale: Scale,
    steps: int,
    learning_rate: float,
    parts: Parts = OURS,
    seed: int = 0,
    name: str = "",
    leaking: bool = False,
) -> Pipeline:
    """A pipeline that is retrained at each cut, on what is known there; a `leaking` one trains on everything."""

    def pipeline(series: torch.Tensor, cut: int) -> torch.Tensor:
        known = series[:cut]
        level, size = known.mean(), known.std()
        known = (known - level) / size
        learnt_from = (series - level) / size if leaking else known
        model = train_on(learnt_from, build, scale, steps, learning_rate, parts, seed, name)
        last = known[-INPUT:][None]
        last, mean, spread = scale(last)
        with torch.no_grad():
            forecast: torch.Tensor = model(last) * spread + mean
        return forecast[0] * size + level

    return pipeline


def small(parts: Parts = OURS) -> nn.Module:
    """The forecaster of the experiments."""
    return parts.forecaster(INPUT, HORIZON, 16, 2, 32, 1)


def transformer(parts: Parts = OURS, seed: int = 0, scaled: bool = True, leaking: bool = False) -> Pipeline:
    """A small Transformer; its windows are `scaled` by their own mean and spread, or as they are."""
    scale = parts.scale_windows if scaled else as_it_is
    return learnt(lambda: small(parts), scale, 200, 4e-3, parts, seed, "a Transformer", leaking)


def linear(parts: Parts = OURS, seed: int = 0, scaled: bool = False, leaking: bool = False) -> Pipeline:
    """One Linear layer from the window to the forecast."""
    scale = parts.scale_windows if scaled else as_it_is
    return learnt(lambda: nn.Linear(INPUT, HORIZON), scale, 400, 1e-2, parts, seed, "one Linear layer", leaking)


def pipelines(parts: Parts = OURS, seed: int = 0) -> dict[str, Pipeline]:
    """All forecasts of the table, by name."""
    return {
        "seasonal naive": last_year(),
        "seasonal naive and growth": last_year_and_growth(),
        "one Linear layer": linear(parts, seed),
        "one Linear layer, windows scaled": linear(parts, seed, scaled=True),
        "Transformer": transformer(parts, seed, scaled=False),
        "Transformer, windows scaled": transformer(parts, seed),
    }


def compare(series: Mapping[str, torch.Tensor], forecasts: Mapping[str, Pipeline]) -> pd.DataFrame:
    """Scaled errors: a row for each forecast, a column for each year of each series."""
    table: dict[tuple[str, int], dict[str, float]] = {
        (name, int(years(values, name)[cut])): {} for name, values in series.items() for cut in origins(values)
    }
    for name, values in series.items():
        for how, pipeline in forecasts.items():
            for cut, error in zip(origins(values), errors(pipeline, values), strict=True):
                table[name, int(years(values, name)[cut])][how] = error
    return pd.DataFrame(table)


def means(table: pd.DataFrame) -> pd.DataFrame:
    """MASE: a row for each forecast, a column for each series. Below 1 is better than last year's value used to be."""
    return table.T.groupby(level=0, sort=False).mean().T


def drawn(name: str, series: torch.Tensor, forecasts: Mapping[str, Pipeline], title: str) -> Picture:
    """The last two years, and what each pipeline said of the last one at its beginning."""
    cut = len(series) - HORIZON
    nothing = [float("nan")] * HORIZON
    lines = {"what happened": series[cut - HORIZON :].tolist()}
    lines |= {how: nothing + pipeline(series, cut).tolist() for how, pipeline in forecasts.items()}
    when = years(series, name)[cut - HORIZON :]
    return plots.curves(lines, x=when, title=title, x_label="year", y_label=UNITS[name], legend=True)


def ahead(ours: Sequence[float], rivals: Sequence[float]) -> str:
    """Who wins on four years: somebody who is ahead in each of them, or nobody.

    >>> ahead([0.3, 0.2, 0.1, 0.4], [0.5, 0.3, 0.1, 0.5]), ahead([0.3, 0.2], [0.5, 0.3])
    ('too close', 'yes')
    """
    if all(one < other for one, other in zip(ours, rivals, strict=True)):
        return "yes"
    return "no" if all(one > other for one, other in zip(ours, rivals, strict=True)) else "too close"

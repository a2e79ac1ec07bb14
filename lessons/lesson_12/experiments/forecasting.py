"""Forecasts with a rolling origin: what each forecast knows ends where it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import torch
from torch import nn

from course import plots
from course.beyond.forecasting import Forecaster
from course.beyond.series import seasonal_naive, windows
from course.downloads import NotAvailable
from course.plots import Picture
from course.progress import Progress
from course.tasks.monthly import PERIOD, carbon_dioxide, passengers
from course.tracing import attention_maps

INPUT, HORIZON = 24, PERIOD
ORIGINS = 4
"""Forecasts of a year each, for the last four years."""
Pipeline = Callable[[torch.Tensor, int], torch.Tensor]


@dataclass(frozen=True)
class Parts:
    """What the learner wrote."""

    windows: Callable[..., tuple[torch.Tensor, torch.Tensor]] = windows
    seasonal_naive: Callable[..., torch.Tensor] = seasonal_naive
    forecaster: Callable[..., nn.Module] = Forecaster


OURS = Parts()


def both_series() -> dict[str, torch.Tensor]:
    """The passengers, if they can be had, and the carbon dioxide."""
    found = {}
    try:
        found["passengers"] = passengers()
    except NotAvailable as problem:
        print(problem)
    return found | {"carbon dioxide": carbon_dioxide()}


def origins(series: torch.Tensor) -> list[int]:
    """Where the forecasts are made: at the beginning of each of the last four years."""
    return [len(series) - HORIZON * (year + 1) for year in reversed(range(ORIGINS))]


def mase(pipeline: Pipeline, series: torch.Tensor) -> float:
    """The mean absolute scaled error: that of all forecasts, divided by the mean error of last year's value in the
    part of the series that lies before the first forecast (Hyndman and Koehler 2006, section 3, for seasons).
    """
    cuts = origins(series)
    known = series[: cuts[0]]
    usual = (known[PERIOD:] - known[:-PERIOD]).abs().mean()
    errors = [(pipeline(series, cut) - series[cut : cut + HORIZON]).abs().mean() for cut in cuts]
    return (torch.stack(errors).mean() / usual).item()


def last_year(parts: Parts = OURS) -> Pipeline:
    """The seasonal naive forecast."""
    return lambda series, cut: parts.seasonal_naive(series[:cut], PERIOD, HORIZON)


def last_year_and_growth(parts: Parts = OURS) -> Pipeline:
    """The same, raised by as much as the last year was above the year before."""

    def pipeline(series: torch.Tensor, cut: int) -> torch.Tensor:
        growth = series[cut - PERIOD : cut].mean() - series[cut - 2 * PERIOD : cut - PERIOD].mean()
        return parts.seasonal_naive(series[:cut], PERIOD, HORIZON) + growth

    return pipeline


def by_its_own_mean(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The centre and the spread of each window, (n, 1) each: known when its forecast is made."""
    return inputs.mean(dim=1, keepdim=True), inputs.std(dim=1, keepdim=True) + 1e-6


def as_it_is(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """No change."""
    return torch.zeros_like(inputs[:, :1]), torch.ones_like(inputs[:, :1])


def train_on(
    series: torch.Tensor,
    build: Callable[[], nn.Module],
    scale: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
    steps: int,
    learning_rate: float,
    parts: Parts = OURS,
    seed: int = 0,
    name: str = "",
) -> nn.Module:
    """Train on all windows of a series, which must end where the forecast is made. The loss is the absolute error."""
    torch.manual_seed(seed)
    inputs, targets = parts.windows(series, INPUT, HORIZON)
    centre, spread = scale(inputs)
    inputs, targets = (inputs - centre) / spread, (targets - centre) / spread
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
    scale: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
    steps: int,
    learning_rate: float,
    parts: Parts = OURS,
    seed: int = 0,
    name: str = "",
    leaking: bool = False,
) -> Pipeline:
    """A pipeline that trains anew at each cut, with what is known there; a `leaking` one trains with everything."""

    def pipeline(series: torch.Tensor, cut: int) -> torch.Tensor:
        known = series[:cut]
        level, size = known.mean(), known.std()
        known = (known - level) / size
        learnt_from = (series - level) / size if leaking else known
        model = train_on(learnt_from, build, scale, steps, learning_rate, parts, seed, name)
        last = known[-INPUT:][None]
        centre, spread = scale(last)
        with torch.no_grad():
            forecast: torch.Tensor = model((last - centre) / spread) * spread + centre
        return forecast[0] * size + level

    return pipeline


def small(parts: Parts = OURS) -> nn.Module:
    """The forecaster of the experiments."""
    return parts.forecaster(INPUT, HORIZON, 16, 2, 32, 1)


def transformer(parts: Parts = OURS, seed: int = 0, scaled: bool = True, leaking: bool = False) -> Pipeline:
    """A small Transformer; its windows are `scaled` by their own mean and spread, or as they are."""
    scale = by_its_own_mean if scaled else as_it_is
    return learnt(lambda: small(parts), scale, 200, 4e-3, parts, seed, "a Transformer", leaking)


def linear(parts: Parts = OURS, seed: int = 0, scaled: bool = False, leaking: bool = False) -> Pipeline:
    """One Linear layer from the window to the forecast."""
    scale = by_its_own_mean if scaled else as_it_is
    return learnt(lambda: nn.Linear(INPUT, HORIZON), scale, 400, 1e-2, parts, seed, "one Linear layer", leaking)


def pipelines(parts: Parts = OURS, seed: int = 0) -> dict[str, Pipeline]:
    """All forecasts of the table, by name."""
    return {
        "seasonal naive": last_year(parts),
        "seasonal naive and growth": last_year_and_growth(parts),
        "one Linear layer": linear(parts, seed),
        "one Linear layer, windows scaled": linear(parts, seed, scaled=True),
        "Transformer": transformer(parts, seed, scaled=False),
        "Transformer, windows scaled": transformer(parts, seed),
    }


def compare(series: Mapping[str, torch.Tensor], forecasts: Mapping[str, Pipeline]) -> pd.DataFrame:
    """MASE: a row for each forecast, a column for each series. Below 1 is better than last year's value used to be."""
    return pd.DataFrame(
        {name: {how: mase(pipeline, values) for how, pipeline in forecasts.items()} for name, values in series.items()}
    )


def drawn(series: torch.Tensor, forecasts: Mapping[str, Pipeline], title: str) -> Picture:
    """The last two years, and what each pipeline said of the last one at its beginning."""
    cut = len(series) - HORIZON
    months = range(-HORIZON, HORIZON)
    nothing = [float("nan")] * HORIZON
    lines = {"what happened": series[cut - HORIZON :].tolist()}
    lines |= {name: nothing + pipeline(series, cut).tolist() for name, pipeline in forecasts.items()}
    return plots.curves(lines, x=list(months), title=title, x_label="months after the cut", y_label="", legend=True)


def where_it_looks(series: torch.Tensor, parts: Parts = OURS, seed: int = 0) -> Picture:
    """How much attention each month of the last window gets, on average over all months that look."""
    cut = len(series) - HORIZON
    known = (series[:cut] - series[:cut].mean()) / series[:cut].std()
    model = train_on(known, lambda: small(parts), by_its_own_mean, 200, 4e-3, parts, seed, "a Transformer")
    last = known[-INPUT:][None]
    centre, spread = by_its_own_mean(last)
    weights = next(iter(attention_maps(model, (last - centre) / spread).values()))[0]  # (heads, tokens, tokens)
    looked_at = weights[..., -INPUT:].mean(dim=1)
    months = [str(month) for month in range(-INPUT, 0)]
    heads = [f"head {head + 1}" for head in range(len(looked_at))]
    return plots.heatmap(looked_at, heads, months, title="Where each head looks", columns="months before the cut")

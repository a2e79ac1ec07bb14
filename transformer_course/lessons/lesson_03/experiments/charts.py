"""Lesson 3's charts: what was measured, drawn, and nothing else. The numbers come from the text's own cells."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import torch

from transformer_course import plots
from transformer_course.plots.picture import Picture

Shares = Mapping[str, float]  # {test set: accuracy}
COIN = {"coin": 0.5}


# --- attention weights


def factor_chart(factors: Sequence[int], weights: torch.Tensor, words: Sequence[str]) -> Picture:
    """Each word's share as the query grows; `weights` is (factors, words)."""
    return plots.curves(
        {word: weights[:, place] for place, word in enumerate(words)},
        x=factors,
        title="From a soft dictionary to a hard one",
        x_label="the query times ...",
        y_label="share",
    )


def widths_chart(widths: Sequence[int], largest: Mapping[str, Sequence[float]]) -> Picture:
    """What `largest_weights` measured at these widths."""
    return plots.curves(
        largest,
        x_names=[str(width) for width in widths],
        title="The largest of eight weights, on average",
        x_label="d",
        y_label="weight",
        levels={"equal shares": 1 / 8},
    )


def weights_chart(
    maps: Mapping[str, torch.Tensor],
    symbols: Sequence[str] | None = None,
    *,
    title: str = "",
    low: float | None = None,
    high: float | None = None,
) -> Picture:
    """Who looks at whom, side by side: each map is (length, length), and `symbols` are its tokens.

    >>> weights_chart({"head 0": torch.eye(2)}, ["2", "1"])
    rows: who looks; columns: at whom
    head 0
      2 1
    2 1 0
    1 0 1
    """
    rounded = {name: weights.round(decimals=2) for name, weights in maps.items()}
    return plots.heatmaps(
        rounded, symbols, symbols, title=title, rows="who looks", columns="at whom", low=low, high=high
    )


def heads(weights: torch.Tensor) -> dict[str, torch.Tensor]:
    """Weights (heads, length, length) as {"head 0": (length, length), ...}."""
    return {f"head {head}": map_of_head for head, map_of_head in enumerate(weights)}


def share_of_padding(weights: torch.Tensor, tokens: torch.Tensor) -> float:
    """The share of attention that goes to padding, averaged over all tokens that look.

    >>> share_of_padding(torch.full((4, 4), 0.25), torch.tensor([3, 0, 0, 12]))
    0.5
    """
    return weights[:, tokens == 0].sum(dim=1).mean().item()


def splits_chart(yours: torch.Tensor, careless: torch.Tensor) -> Picture:
    """Both heads of two ways to cut a tensor, each (1, 2, length, d_head)."""
    return plots.heatmaps(
        {
            "yours, head 0": yours[0, 0],
            "yours, head 1": yours[0, 1],
            "careless 0": careless[0, 0],
            "careless 1": careless[0, 1],
        },
        title="The tens are the token",
    )


def looks_chart(weights: torch.Tensor, texts: Sequence[str], name: str, shares: Shares) -> Picture:
    """The CLS token's weights for a few texts, (texts, 8), and how good the model is."""
    return plots.heatmap(
        weights.round(decimals=2),
        texts,
        title=f"{name}: all {shares['all']:.2f}, equal lengths {shares['equal lengths']:.2f}",
        columns="position (CLS is at 7)",
        low=0,
        high=1,
    )


def focus_chart(looks: pd.DataFrame) -> Picture:
    """The table of `focus`: a column for each head. Layers and heads are counted from 0."""
    return plots.heatmap(
        looks.T.round(2),
        list(looks.columns),
        list(looks.index),
        title="Where CLS looks, on average",
        columns="head",
        low=0,
        high=1,
    )


# --- losses and accuracies


def losses_chart(losses: Mapping[str, Sequence[float]], title: str, y_limits: tuple[float, float]) -> Picture:
    """Training losses, beside that of a coin."""
    return plots.curves(losses, title=title, x_label="step", levels={"coin": math.log(2)}, y_limits=y_limits)


def progress_chart(on_the_way: Mapping[str, Sequence[float]], every: int) -> Picture:
    """The accuracy on each test set, measured again and again during training."""
    return plots.curves(
        on_the_way,
        x=[every * nth for nth in range(len(next(iter(on_the_way.values()))))],
        title="One thing after another",
        x_label="step",
        y_label="accuracy",
        levels=COIN,
    )


def seeds_chart(runs: Mapping[str, Shares], longer_wins: float) -> Picture:
    """The accuracies of runs that differ in their seed: a line for each test set."""
    tests = next(iter(runs.values()))
    return plots.dots(
        {test: {name: [shares[test]] for name, shares in runs.items()} for test in tests},
        title="One layer with positions, three seeds",
        x_label="accuracy",
        levels=COIN | {"longer wins": longer_wins},
        x_limits=(0.4, 1.02),
    )


def ablations_chart(variants: Any, tests: Sequence[str]) -> Picture:
    """The long table, grouped by variant: the accuracy of each run on each test set."""
    return plots.dots(
        {name: {test: list(runs[test]) for test in tests} for name, runs in variants},
        title="One change at a time, four seeds each",
        x_label="accuracy",
        levels=COIN,
        x_limits=(0.42, 1.01),
    )


def rates_chart(by_rate: Any) -> Picture:
    """The long table of six layers, grouped by variant and learning rate: each run's accuracy on all texts."""
    return plots.dots(
        {f"{name}, {rate:g}": {"all": list(runs["all"])} for (name, rate), runs in by_rate},
        title="Six layers: variant and learning rate, three seeds each",
        x_label="accuracy on all texts",
        levels=COIN,
        x_limits=(0.42, 1.01),
    )


def extremes(by_rate: Any) -> pd.DataFrame:
    """The same table in numbers: the lowest and the highest of each group."""
    columns = [("all", "min"), ("all", "max"), ("equal lengths", "max"), ("final loss", "min"), ("final loss", "max")]
    table: pd.DataFrame = by_rate.agg(**{f"{column}, {extreme}": (column, extreme) for column, extreme in columns})
    return table


def depth_chart(depths: Sequence[int], apart: Mapping[str, Sequence[float]]) -> Picture:
    """What `differences_by_depth` measured after so many blocks."""
    return plots.curves(
        apart,
        x_names=[str(depth) for depth in depths],
        title="How different the tokens of a row are",
        x_label="blocks",
        y_label="difference",
        log_y=True,
    )


def padding_chart(lengths: Sequence[int], by_length: Mapping[str, Sequence[float]], title: str) -> Picture:
    """The accuracy on the same texts, padded to each of these lengths."""
    return plots.curves(
        by_length, x=lengths, title=title, x_label="padded to", y_label="accuracy", y_limits=(0.45, 1.03)
    )

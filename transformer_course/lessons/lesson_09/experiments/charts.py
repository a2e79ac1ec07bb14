"""The lesson's charts, with their titles and axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from transformer_course import plots
from transformer_course.plots import Picture


def by_exponent(errors: Mapping[str, Sequence[float]], exponents: Sequence[int]) -> Picture:
    """How far off a measured slope is, by the exponent of h: a line for each kind of number."""
    return plots.curves(
        errors,
        x=exponents,
        title="How well a slope is measured",
        x_label="h = 10 to the power of",
        y_label="relative error",
        log_y=True,
        legend=True,
    )


def by_epoch(shares: Mapping[str, Sequence[float]], title: str, y_label: str = "questions right") -> Picture:
    """Shares of right answers, before the first epoch and after each."""
    return plots.curves(shares, title=title, x_label="epochs", y_label=y_label, y_limits=(-0.04, 1.06))


def where_heads_look(weights: Mapping[str, np.ndarray]) -> Picture:
    """For each operation: the mean weights (heads, length) with which its own position looks at all four."""
    return plots.heatmaps(
        {name: each.round(2) for name, each in weights.items()},
        [f"head {number}" for number in range(1, 5)],
        ["op", "1st", "2nd", "3rd"],
        title="Where each head looks, by operation",
        low=0.0,
        high=1.0,
    )

"""Remarks beside the drawings of a lesson's pictures: what can be left out, and is quieter than the rest."""

from __future__ import annotations

from matplotlib.axes import Axes

QUIET = "#5c616a"


def note(axes: Axes, x: float, y: float, text: str, size: float = 10, ha: str = "center") -> None:
    """A remark with its middle, or its end named by `ha`, at (x, y)."""
    axes.text(x, y, text, ha=ha, va="center", size=size, color=QUIET)

"""Small grids of numbered cells, boxes and arrows: what most pictures are made of."""

from collections.abc import Collection
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_course.plots.arrays import number
from transformer_course.plots.style import COLOURS, FAINT, FRAME, INK

PALE = "#eef1f4"  # an ordinary cell
LIT = "#cfe3f2"  # a cell that the text speaks about; it also gets a thick frame


def blank(axes: Axes, width: float, height: float) -> None:
    """A sheet of paper: no axes, equal units, y pointing down as one reads."""
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_aspect("equal")
    axes.set_axis_off()


def cells(
    axes: Axes,
    left: float,
    top: float,
    values: Any,
    *,
    lit: Collection[tuple[int, int]] = (),
    title: str = "",
    below: str = "",
) -> None:
    """A grid of unit cells with a number or a word in each; `lit` cells are tinted and framed."""
    table = np.atleast_2d(np.asarray(values, dtype=object))
    rows, columns = table.shape
    for row in range(rows):
        for column in range(columns):
            corner = (left + column, top + row)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=PALE, edgecolor=FAINT, linewidth=1))
            value = table[row, column]
            word = value if isinstance(value, str) else number(float(value))
            weight = "bold" if (row, column) in lit else "normal"
            axes.text(left + column + 0.5, top + row + 0.5, word, ha="center", va="center", weight=weight)
    for row, column in lit:
        corner = (left + column + 0.06, top + row + 0.06)
        axes.add_patch(Rectangle(corner, 0.88, 0.88, facecolor=LIT, edgecolor=FRAME, linewidth=2.2, zorder=1.5))
    if title:
        axes.text(left + columns / 2, top - 0.25, title, ha="center", va="bottom", weight="bold")
    if below:
        axes.text(left + columns / 2, top + rows + 0.25, below, ha="center", va="top", color="#5c616a")


def sign(axes: Axes, x: float, y: float, text: str, size: float = 16) -> None:
    """A plus, an equals sign or another short mark between two grids."""
    axes.text(x, y, text, ha="center", va="center", size=size)


def box(axes: Axes, x: float, y: float, text: str, width: float = 2.4, height: float = 0.9) -> None:
    """A rounded box with its centre at (x, y)."""
    shape = FancyBboxPatch(
        (x - width / 2, y - height / 2),
        width,
        height,
        boxstyle="round,pad=0.02,rounding_size=0.18",
        facecolor=PALE,
        edgecolor=INK,
        linewidth=1.2,
    )
    axes.add_patch(shape)
    axes.text(x, y, text, ha="center", va="center")


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    bend: float = 0.0,
    dashed: bool = False,
) -> None:
    """An arrow from `start` to `end`; `bend` makes it an arc."""
    style = {
        "arrowstyle": "-|>",
        "color": COLOURS[1] if dashed else INK,
        "linewidth": 1.6,
        "linestyle": (0, (3, 2)) if dashed else "-",
        "connectionstyle": f"arc3,rad={bend}",
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", xy=end, xytext=start, arrowprops=style)

"""One look for the whole course: a light card that reads well in light and dark notebooks alike.

Colours are Okabe and Ito's, which colour-blind readers can tell apart. Colour never stands alone:
every line also has its own dashes and its own label, every cell its number or its outline.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

CARD = "#fdfcf9"  # the background, solid: a dark theme must not shine through
INK = "#22252b"  # text and outlines
FAINT = "#8a8f98"  # grids, baselines, what stands in the background
FRAME = "#d55e00"  # what is pointed out
COLOURS = ("#0072b2", "#d55e00", "#007a5e", "#a34a82", "#8a6a00", "#3c3c46")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.4)),
    (0, (6, 2, 1, 2)),
    (0, (9, 3)),
    (0, (3, 1, 1, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P")

SHADES = "cividis"  # a heat map's colours: even in brightness, the same to a colour-blind reader
SIGNED = "PuOr"  # for numbers of both signs: orange below zero, violet above, pale at zero

STYLE: Any = {
    "figure.facecolor": CARD,
    "figure.edgecolor": CARD,
    "figure.dpi": 110,
    "savefig.dpi": "figure",
    "savefig.facecolor": CARD,
    "axes.facecolor": CARD,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "figure.constrained_layout.h_pad": 0.12,
    "figure.constrained_layout.w_pad": 0.12,
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "legend.frameon": False,
}


@contextmanager
def drawing(
    width: float = 6.4, height: float = 3.6, columns: int = 1, **subplots: Any
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure in the course's style, with `columns` axes side by side.

    >>> with drawing(4, 3, columns=2) as (figure, axes):
    ...     _ = axes[0].plot([1, 2, 3])
    >>> len(figure.axes)
    2

    The figure is closed at the end, so that a notebook shows it once: where its cell asks for it.
    """
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            1, columns, figsize=(width, height), squeeze=False, layout="constrained", **subplots
        )
        try:
            yield figure, list(grid[0])
        finally:
            plt.close(figure)

"""Heat maps, for the eye and as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, TwoSlopeNorm

from transformer_course.plots.arrays import number, to_numpy
from transformer_course.plots.picture import Picture
from transformer_course.plots.style import CARD, FRAME, INK, SHADES, SIGNED, drawing

BLOCKS = " ░▒▓█"  # from the smallest value to the largest
MOST_NUMBERS = 12  # a matrix with more columns is written in blocks: numbers would not be read


def as_text(
    matrix: Any,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    numbers: bool | None = None,
) -> str:
    """A heat map in plain text: a table of numbers, or shaded blocks where there are too many.

    >>> print(as_text([[1.0, 0.25], [0.0, 0.5]], ["cat", "dog"], ["x", "y"]))
        x    y
    cat 1 0.25
    dog 0  0.5
    >>> print(as_text([[0, 1, 2], [2, 1, 0]], numbers=False))
    | ▒█|
    |█▒ |
    blocks from 0 (empty) to 2 (full)
    """
    values = np.atleast_2d(to_numpy(matrix))  # (rows, columns)
    rows, columns = values.shape
    left = _padded(row_labels if row_labels is not None else [""] * rows)
    if numbers is None:
        numbers = columns <= MOST_NUMBERS
    if numbers:
        table = [[number(value) for value in row] for row in values]
        if column_labels is not None:
            table = [list(column_labels), *table]
            left = [" " * len(left[0]), *left]
        widths = [max(len(line[column]) for line in table) for column in range(columns)]
        lines = [
            f"{label} " * bool(label) + " ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for label, line in zip(left, table, strict=True)
        ]
        return "\n".join(lines)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    steps = np.nan_to_num((values - low) / ((high - low) or 1.0)) * (len(BLOCKS) - 1)
    lines = [
        f"{label} " * bool(label) + "|" + "".join(BLOCKS[round(step)] for step in row) + "|"
        for label, row in zip(left, steps, strict=True)
    ]
    return "\n".join([*lines, f"blocks from {number(low)} (empty) to {number(high)} (full)"])


def heatmap(
    matrix: Any,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    *,
    title: str = "",
    rows: str = "",
    columns: str = "",
    low: float | None = None,
    high: float | None = None,
    outline: Sequence[tuple[int, int]] = (),
) -> Picture:
    """A matrix as a heat map, with a number in every cell as long as there is room for it.

    `rows` and `columns` say what the two axes are. `low` and `high` fix the range of the shades,
    so that two heat maps can be held against each other. Cells in `outline` get a thick frame.

    >>> heatmap([[1.0, 0.0], [0.0, 1.0]], title="who looks at whom")
    who looks at whom
    1 0
    0 1
    """
    values = np.atleast_2d(to_numpy(matrix))
    height, width = values.shape
    with drawing(min(9.0, max(3.2, 1.6 + 0.62 * width)), min(7.0, max(1.9, 1.1 + 0.5 * height))) as (
        figure,
        axes,
    ):
        draw_heat(axes[0], values, row_labels, column_labels, low=low, high=high, outline=outline)
        axes[0].set(title=title, xlabel=columns, ylabel=rows)
        if width > MOST_NUMBERS:
            figure.colorbar(axes[0].images[0], ax=axes[0], shrink=0.8)
    words = [title] if title else []
    if rows or columns:
        words.append("; ".join(f"{axis}: {name}" for axis, name in (("rows", rows), ("columns", columns)) if name))
    words.append(as_text(values, row_labels, column_labels))
    if outline:
        words.append("framed: " + ", ".join(f"row {row} column {column}" for row, column in outline))
    return Picture(figure, "\n".join(words))


def heatmaps(
    matrices: Mapping[str, Any],
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    *,
    title: str = "",
    rows: str = "",
    columns: str = "",
    low: float | None = None,
    high: float | None = None,
) -> Picture:
    """Several matrices of one shape side by side, {name: matrix}, in the same shades.

    >>> heatmaps({"head 0": [[1.0, 0.0]], "head 1": [[0.25, 0.75]]}, column_labels=["cat", "sat"])
    head 0
    cat sat
      1   0
    head 1
     cat  sat
    0.25 0.75
    """
    tables = {name: np.atleast_2d(to_numpy(matrix)) for name, matrix in matrices.items()}
    low = low if low is not None else min(float(np.nanmin(table)) for table in tables.values())
    high = high if high is not None else max(float(np.nanmax(table)) for table in tables.values())
    height, width = next(iter(tables.values())).shape
    each = min(max(1.9, 0.9 + 0.36 * width), 11.0 / len(tables))
    words = [title] if title else []
    if rows or columns:
        words.append("; ".join(f"{axis}: {name}" for axis, name in (("rows", rows), ("columns", columns)) if name))
    with drawing(each * len(tables), min(6.0, 1.5 + 0.3 * height), columns=len(tables)) as (figure, panels):
        for panel, (name, table) in zip(panels, tables.items(), strict=True):
            first = panel is panels[0]
            labels = row_labels if first else [""] * height
            draw_heat(panel, table, labels, column_labels, low=low, high=high, numbers=each > 0.5 * width)
            panel.set(title=name, xlabel=columns, ylabel=rows if first else "")
            words += [name, as_text(table, row_labels, column_labels)]
        if each <= 0.5 * width:
            figure.colorbar(panels[-1].images[0], ax=panels, shrink=0.8)
        if title:
            figure.suptitle(title, x=0.01, ha="left", size=12)
    return Picture(figure, "\n".join(words))


def draw_heat(
    axes: Axes,
    values: np.ndarray,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    outline: Sequence[tuple[int, int]] = (),
    numbers: bool = True,
) -> None:
    """Draw one heat map into `axes`; the building block of `heatmap` and of the pictures."""
    height, width = values.shape
    finite = values[np.isfinite(values)]
    low = low if low is not None else float(finite.min(initial=0.0))
    high = high if high is not None else float(finite.max(initial=0.0))
    signed = low < 0 < high
    reach = max(abs(low), abs(high))
    norm: Normalize = TwoSlopeNorm(0.0, -reach, reach) if signed else Normalize(low, high if high > low else low + 1)
    colours = mpl.colormaps[SIGNED if signed else SHADES]
    axes.imshow(values, cmap=colours, norm=norm, aspect="auto")
    if numbers and width <= MOST_NUMBERS:
        for row in range(height):
            for column in range(width):
                value = float(values[row, column])
                red, green, blue, _ = colours(norm(value))
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                axes.text(column, row, number(value), ha="center", va="center", size=10, color=CARD if dark else INK)
    for row, column in outline:
        axes.add_patch(
            mpl.patches.Rectangle(
                (column - 0.46, row - 0.46), 0.92, 0.92, fill=False, lw=3, ec=FRAME, clip_on=False, zorder=3
            )
        )
    few_rows, few_columns = height <= 2 * MOST_NUMBERS, width <= 2 * MOST_NUMBERS
    if row_labels is not None or few_rows:
        axes.set_yticks(range(height), row_labels if row_labels is not None else [str(i) for i in range(height)])
    if column_labels is not None or few_columns:
        axes.set_xticks(range(width), column_labels if column_labels is not None else [str(i) for i in range(width)])
    axes.set_xticks(np.arange(-0.5, width), minor=True)
    axes.set_yticks(np.arange(-0.5, height), minor=True)
    if width <= 2 * MOST_NUMBERS and height <= 2 * MOST_NUMBERS:
        axes.grid(which="minor", color=CARD, linewidth=2)
    axes.tick_params(which="both", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _padded(labels: Sequence[str]) -> list[str]:
    width = max((len(label) for label in labels), default=0)
    return [label.ljust(width) for label in labels]

"""Lesson 13's pictures: one encoder with three entrances, windows that slide, a mask for a mean, and patches."""

import numpy as np
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import QUIET, note
from transformer_course.plots.cells import arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, FRAME, drawing
from transformer_course.tasks.handwriting import handwriting

__all__ = [
    "another_future",
    "cut_into_patches",
    "mean_of_three",
    "rolling_origin",
    "same_shape",
    "sliding_windows",
    "three_entrances",
]


def three_entrances() -> Figure:
    """Words, months and patches become vectors in three ways; the same encoder reads all of them."""
    with drawing(8.2, 3.8) as (figure, (axes,)):
        blank(axes, 16.4, 7.6)
        for top, name, entrance, goal in (
            (0.4, "words", "Embedding", "praise or pan"),
            (3.0, "months", "Linear", "the next year"),
            (5.6, "patches", "Linear", "a digit"),
        ):
            cells(axes, 0.4, top, [[""] * 3])
            note(axes, 1.9, top + 1.45, name, size=11)
            arrow(axes, (3.7, top + 0.5), (4.5, top + 0.5))
            box(axes, 5.9, top + 0.5, entrance, 2.6, 1.0)
            arrow(axes, (7.3, top + 0.5), (8.4, 2.6 + 0.35 * top))
            arrow(axes, (11.6, 2.6 + 0.35 * top), (12.7, top + 0.5))
            note(axes, 14.5, top + 0.5, goal, size=12)
        box(axes, 10.0, 3.55, "the encoder\nof lesson 3", 3.0, 3.4)
    return figure


def mean_of_three() -> Figure:
    """A row of five vectors of which three count; their mean, and the mean of all five."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 16.4, 5.8)
        cells(axes, 0.6, 1.2, [[2, 4, 6, 9, 9]], lit=[(0, 0), (0, 1), (0, 2)], title="x")
        cells(axes, 0.6, 3.6, [["yes", "yes", "yes", "no", "no"]], title="mask")
        arrow(axes, (6.2, 1.7), (8.2, 1.7))
        cells(axes, 8.6, 1.2, [[4]], lit=[(0, 0)])
        note(axes, 10.0, 1.7, "(2 + 4 + 6) / 3", size=12, ha="left")
        sign(axes, 7.2, 4.1, "not")
        cells(axes, 8.6, 3.6, [[6]])
        note(axes, 10.0, 4.1, "the mean of all five", size=12, ha="left")
    return figure


def rolling_origin() -> Figure:
    """Four forecasts of a year each: what is known when each of them is made, and which year it is of."""
    with drawing(8.2, 3.2) as (figure, (axes,)):
        blank(axes, 16.4, 6.4)
        years = ["...", "54", "55", "56", "57", "58", "59", "60"]
        for row in range(4):
            top = 0.4 + 1.4 * row
            cells(axes, 0.8, top, [years[: 5 + row]], lit=[(0, 4 + row)])
            axes.plot([4.8 + row, 4.8 + row], [top - 0.25, top + 1.25], color=FRAME, linewidth=3)
        note(axes, 9.8, 1.6, "plain: known", size=11, ha="left")
        note(axes, 9.8, 2.6, "thick line: the cut", size=11, ha="left")
        note(axes, 9.8, 3.6, "framed: forecast", size=11, ha="left")
    return figure


def sliding_windows() -> Figure:
    """A series of seven values, and the three windows of three and two that fit into it."""
    with drawing(8.2, 3.9) as (figure, (axes,)):
        blank(axes, 16.4, 7.8)
        values = [5, 6, 8, 7, 9, 11, 10]
        cells(axes, 1.0, 0.9, [values], title="series")
        for place in range(3):
            top = 2.9 + 1.5 * place
            cells(axes, 1.0 + place, top, [values[place : place + 3]])
            cells(axes, 4.0 + place, top, [values[place + 3 : place + 5]], lit=[(0, 0), (0, 1)])
            note(axes, 9.2, top + 0.5, f"window {place + 1}", size=11, ha="left")
        note(axes, 12.0, 3.4, "plain: input", size=11, ha="left")
        note(axes, 12.0, 4.4, "framed: target", size=11, ha="left")
    return figure


def same_shape() -> Figure:
    """Two windows on different levels become the same numbers."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 16.4, 5.8)
        for top, values, level in ((1.0, [2, 4, 6], 4), (3.6, [102, 104, 106], 104)):
            cells(axes, 0.6, top, [values])
            arrow(axes, (4.0, top + 0.5), (10.2, top + 0.5))
            note(axes, 7.1, top + 0.1, f"minus {level}, divided by 2", size=11)
            cells(axes, 10.6, top, [[-1, 0, 1]], lit=[(0, 0), (0, 1), (0, 2)])
        note(axes, 2.1, 0.6, "windows", size=11)
        note(axes, 12.1, 0.6, "what the model reads", size=11)
    return figure


def another_future() -> Figure:
    """The same past with two futures, and what an honest pipeline and one that looks ahead make of them."""
    with drawing(8.6, 3.9) as (figure, (axes,)):
        blank(axes, 17.2, 7.8)
        for top, future in ((1.2, [9, 11]), (4.0, [95, -40])):
            cells(axes, 0.6, top, [[5, 6, 8, 7]], title="past" if top < 2 else "")
            cells(axes, 5.2, top, [future], lit=[(0, 0), (0, 1)] if top > 2 else (), title="future" if top < 2 else "")
            axes.plot([4.9, 4.9], [top - 0.3, top + 1.3], color=FRAME, linewidth=2)
            arrow(axes, (7.6, top + 0.5), (9.2, top + 0.5))
        note(axes, 4.9, 2.9, "cut", size=10)
        cells(axes, 9.6, 1.2, [[9, 8]], title="forecast")
        cells(axes, 9.6, 4.0, [[9, 8]])
        note(axes, 12.0, 4.5, "the same: honest", size=11, ha="left")
        cells(axes, 9.6, 5.6, [[52, -16]], lit=[(0, 0), (0, 1)])
        note(axes, 12.0, 6.1, "different: it looks ahead", size=11, ha="left")
        sign(axes, 8.6, 6.1, "or", size=11)
    return figure


def cut_into_patches() -> Figure:
    """A handwritten digit of 8 by 8 pixels, cut into 16 patches of 2 by 2, numbered in reading order."""
    image = handwriting().train[0][2, 0].numpy()
    with drawing(7.6, 3.6, columns=2) as (figure, (left, right)):
        for axes in (left, right):
            axes.imshow(1 - image, cmap="gray", vmin=-0.2, vmax=1)
            axes.set(xticks=[], yticks=[])
        left.set(title="8 by 8 pixels")
        for line in np.arange(1.5, 7, 2):
            right.axhline(line, color=FRAME, linewidth=2)
            right.axvline(line, color=FRAME, linewidth=2)
        for patch in range(16):
            right.text(
                2 * (patch % 4) + 0.5,
                2 * (patch // 4) + 0.5,
                str(patch + 1),
                ha="center",
                va="center",
                color=COLOURS[0],
                weight="bold",
                bbox={"facecolor": "white", "edgecolor": QUIET, "boxstyle": "round,pad=0.15"},
            )
        right.set(title="16 patches: 16 tokens")
    return figure

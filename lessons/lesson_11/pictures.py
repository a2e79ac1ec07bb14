"""Lesson 11's pictures: a window and its targets, a block, a soft gate, shared keys, and two thin matrices."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course.plots.cells import LIT, PALE, arrow, blank, box, cells, sign
from course.plots.style import COLOURS, DASHES, FAINT, FRAME, INK, drawing
from lessons.remarks import note

__all__ = ["one_block", "one_place_later", "shared_keys", "soft_gate", "two_thin_ones"]


def one_place_later() -> Figure:
    """A text of names, a window of five tokens, and the same window one place later."""
    text = ["|", "a", "d", "a", "|", "b", "o", "b", "|"]
    with drawing(8.0, 3.2) as (figure, (axes,)):
        blank(axes, 16.0, 6.4)
        for row, (name, start, count) in enumerate((("text", 0, 9), ("inputs", 1, 5), ("targets", 2, 5))):
            top = 0.5 + 2.0 * row
            note(axes, 0.3, top + 0.5, name, size=11, ha="left")
            cells(axes, 3.2 + start, top, [text[start : start + count]])
        for place in range(5):
            arrow(axes, (4.7 + place, 3.5), (5.7 + place, 4.5))
        note(axes, 12.6, 1.0, "| is the line end", ha="left")
        note(axes, 12.6, 5.0, "one place later", ha="left")
    return figure


def one_block() -> Figure:
    """The residual stream; twice a branch leaves it, through a norm and a layer, and is added."""
    with drawing(8.6, 2.7) as (figure, (axes,)):
        blank(axes, 17.2, 5.4)
        axes.plot([0.6, 16.6], [4.2, 4.2], color=INK, linewidth=2.4)
        note(axes, 0.6, 4.8, "x", size=12)
        for left, norm, layer in ((1.6, "norm1", "attention,\ncausal mask"), (9.2, "norm2", "feed-forward")):
            axes.plot([left, left, left + 0.5], [4.2, 1.6, 1.6], color=INK, linewidth=1.6)
            box(axes, left + 1.5, 1.6, norm, 1.9, 0.9)
            arrow(axes, (left + 2.5, 1.6), (left + 3.1, 1.6))
            box(axes, left + 4.5, 1.6, layer, 2.7, 1.4)
            axes.plot([left + 5.9, left + 6.5], [1.6, 1.6], color=INK, linewidth=1.6)
            arrow(axes, (left + 6.5, 1.6), (left + 6.5, 3.8))
            axes.text(
                left + 6.5, 4.2, "+", ha="center", va="center", size=15, bbox={"facecolor": LIT, "edgecolor": INK}
            )
    return figure


def soft_gate() -> Figure:
    """ReLU and SiLU over z from -4 to 4, and the way of x through gate, up and down."""
    z = np.linspace(-4, 4, 161)
    with drawing(9.4, 3.4, columns=2, gridspec_kw={"width_ratios": [2, 3]}) as (figure, (left, right)):
        left.plot(z, np.maximum(z, 0), color=FAINT, linestyle=DASHES[1])
        left.plot(z, z / (1 + np.exp(-z)), color=COLOURS[0])
        left.set(xlabel="z", ylim=(-0.8, 4))
        note(left, -3.8, 2.9, "dashed: ReLU", size=10, ha="left")
        note(left, -3.8, 2.3, "solid: SiLU", size=10, ha="left")
        blank(right, 12.0, 6.0)
        note(right, 0.5, 3.0, "x", size=13)
        for y, name in ((1.5, "gate"), (4.5, "up")):
            arrow(right, (0.9, 3.0), (1.9, y))
            box(right, 2.9, y, name, 1.8, 0.9)
        arrow(right, (3.9, 1.5), (4.6, 1.5))
        box(right, 5.6, 1.5, "SiLU", 1.8, 0.9)
        arrow(right, (6.6, 1.6), (7.4, 2.7))
        arrow(right, (3.9, 4.4), (7.4, 3.3))
        box(right, 8.3, 3.0, "product", 1.8, 0.9)
        arrow(right, (9.3, 3.0), (9.9, 3.0))
        box(right, 10.9, 3.0, "down", 1.8, 0.9)
    return figure


def shared_keys() -> Figure:
    """Four query heads above two key heads; neighbours share one."""
    with drawing(7.4, 2.8) as (figure, (axes,)):
        blank(axes, 14.8, 5.6)
        for head in range(4):
            middle = 2.6 + 3.2 * head
            box(axes, middle, 1.1, f"query head {head}", 2.9, 1.0)
            axes.plot([middle, 4.2 + 6.4 * (head // 2)], [1.7, 3.9], color=INK, linewidth=1.6)
        for head in range(2):
            box(axes, 4.2 + 6.4 * head, 4.4, f"key head {head}, value head {head}", 5.2, 1.0)
    return figure


def two_thin_ones() -> Figure:
    """A large frozen square, and the product of a tall, narrow matrix and a low, wide one."""
    with drawing(7.6, 3.6) as (figure, (axes,)):
        blank(axes, 15.2, 7.2)
        shapes = (
            (0.8, 0.8, 5.0, 5.0, PALE, FAINT, "W, frozen\n64 · 64\n4,096 numbers"),
            (7.4, 0.8, 0.7, 5.0, LIT, FRAME, ""),
            (9.4, 2.9, 5.0, 0.7, LIT, FRAME, "down, 4 · 64: 256 numbers"),
        )
        for left, top, width, height, face, edge, words in shapes:
            axes.add_patch(Rectangle((left, top), width, height, facecolor=face, edgecolor=edge, linewidth=1.6))
            axes.text(left + width / 2, top + height / 2, words, ha="center", va="center", size=10)
        sign(axes, 6.6, 3.25, "+")
        sign(axes, 8.75, 3.25, "·")
        note(axes, 7.75, 6.4, "up, 64 · 4: 256 numbers", size=10)
    return figure

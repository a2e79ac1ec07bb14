"""Lesson 12's pictures: a soft gate, shared keys, and two thin matrices."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import LIT, PALE, arrow, blank, box, sign
from transformer_course.plots.style import COLOURS, DASHES, FAINT, FRAME, INK, drawing

__all__ = ["shared_keys", "soft_gate", "two_thin_ones"]


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

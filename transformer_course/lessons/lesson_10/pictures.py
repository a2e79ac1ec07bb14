"""Lesson 10's pictures: a flat curve, a schedule, a clipped arrow, a batch in pieces, blocks that forget, and bits."""

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from transformer_course.lessons.lesson_10.experiments.bits import bits_of
from transformer_course.lessons.remarks import QUIET, note
from transformer_course.plots.cells import arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, FRAME, INK, drawing

__all__ = ["bits", "clipped_arrow", "flat_line", "forgetful_blocks", "three_pieces", "up_and_down"]


def flat_line() -> Figure:
    """A training loss over 200 steps that stays at a little more than 2.5."""
    steps = np.arange(0, 201, 2)
    loss = 2.56 + 0.03 * np.sin(steps * 0.9) * np.cos(steps * 0.37)
    with drawing(7.6, 3.4, columns=2, gridspec_kw={"width_ratios": [3, 2]}) as (figure, (left, right)):
        left.plot(steps, loss, color=COLOURS[0])
        left.set(title="training loss", xlabel="step", ylim=(0, 3))
        blank(right, 8.0, 6.0)
        for place, words in enumerate(("learning rate too low?", "the wrong weights?", "no gradient at all?")):
            sign(right, 0.8, 1.3 + 1.6 * place, "?")
            note(right, 1.6, 1.3 + 1.6 * place, words, size=11, ha="left")
    return figure


def up_and_down() -> Figure:
    """The learning rate over 100 steps: a straight line up to step 20, half a cosine wave down to 0 at step 100."""
    up, down = np.arange(1, 21), np.arange(20, 101)
    with drawing(7.0, 3.4) as (figure, (axes,)):
        axes.plot(up, up / 20, color=COLOURS[0])
        axes.plot(down, (1 + np.cos(np.pi * (down - 20) / 80)) / 2, color=COLOURS[0], linestyle=(0, (5, 2)))
        axes.set_xticks([1, 20, 60, 100], ["1", "warmup_steps", "", "total_steps"])
        axes.set_yticks([0, 0.5, 1], ["0", "half", "peak"])
        axes.set(title="learning rate", xlabel="step")
        note(axes, 20, 0.3, "  warm-up: a straight line", size=11, ha="left")
        note(axes, 62, 0.62, "half a cosine wave", size=11, ha="left")
    return figure


def clipped_arrow() -> Figure:
    """The arrow (3, 4) of length 5, and on top of it the arrow (0.6, 0.8) of length 1 that it is clipped to."""
    with drawing(5.2, 4.4) as (figure, (axes,)):
        axes.set_aspect("equal")
        axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=QUIET, linestyle=(0, (3, 2)), linewidth=1.4))
        style = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (3, 4), (0, 0), arrowprops={**style, "color": QUIET, "linewidth": 2, "linestyle": "--"})
        axes.annotate("", (0.6, 0.8), (0, 0), arrowprops={**style, "color": FRAME, "linewidth": 4})
        note(axes, 3.1, 3.7, "(3, 4), norm 5", size=11, ha="left")
        note(axes, 1.15, 0.6, "(0.6, 0.8), norm 1", size=11, ha="left")
        note(axes, 0.9, -0.8, "max_norm = 1", size=10, ha="left")
        axes.set(xlim=(-1.4, 5.6), ylim=(-1.4, 4.6), xticks=range(-1, 6), yticks=range(-1, 5))
    return figure


def three_pieces() -> Figure:
    """Eight rows in pieces of four, three and one; each gradient times its share, added up, then one step."""
    with drawing(8.2, 3.6) as (figure, (axes,)):
        blank(axes, 16.4, 7.2)
        top = 0.8
        for rows, share in ((4, "4/8"), (3, "3/8"), (1, "1/8")):
            cells(axes, 0.6, top, [[""] * rows])
            arrow(axes, (4.9, top + 0.5), (6.0, top + 0.5))
            box(axes, 7.3, top + 0.5, "model", 2.2, 1.0)
            arrow(axes, (8.5, top + 0.5), (9.4, top + 0.5))
            note(axes, 10.6, top + 0.5, f"{share} of the gradient", size=11)
            arrow(axes, (12.0, top + 0.5), (13.3, 3.5))
            top += 2.1
        box(axes, 14.7, 3.5, "sum,\none step", 2.4, 1.5)
    return figure


def forgetful_blocks() -> Figure:
    """Four blocks, plain and checkpointed; what each keeps is stacked above it."""
    with drawing(8.2, 4.4) as (figure, (axes,)):
        blank(axes, 16.4, 8.8)
        for bottom, name, stacks in ((3.2, "plain", (0, 1, 2, 3)), (7.4, "checkpointed", (2,))):
            note(axes, 0.3, bottom, name, size=11, ha="left")
            for place in range(4):
                left = 4.2 + 3.1 * place
                box(axes, left + 1.0, bottom, f"block {place + 1}", 2.0, 0.9)
                arrow(axes, (left - 0.95, bottom), (left - 0.05, bottom))
                if place in stacks:
                    for layer in range(3):
                        axes.plot([left + 0.2, left + 1.8], [bottom - 0.75 - 0.4 * layer] * 2, color=FRAME, linewidth=5)
        note(axes, 4.2 + 6.2 + 1.0, 5.5, "only here: the gradient has got this far", size=10)
    return figure


def bits() -> Figure:
    """0.1 in float32, bfloat16 and float16: a box for each bit, in three kinds."""
    kinds = {"sign": "#f3e3c3", "exponent": "#cfe3f2", "fraction": "#eef1f4"}
    with drawing(10.6, 3.6) as (figure, (axes,)):
        blank(axes, 37.2, 11.4)
        for row, (dtype, exponent) in enumerate(((torch.float32, 8), (torch.bfloat16, 8), (torch.float16, 5))):
            top = 1.6 + 3.4 * row
            note(axes, 0.2, top + 0.5, str(dtype).removeprefix("torch."), size=11, ha="left")
            for place, bit in enumerate(bits_of([0.1], dtype)[0]):
                kind = "sign" if place == 0 else "exponent" if place <= exponent else "fraction"
                corner = (5.0 + place, top)
                axes.add_patch(Rectangle(corner, 1, 1, facecolor=kinds[kind], edgecolor=INK, linewidth=0.8))
                axes.text(corner[0] + 0.5, top + 0.53, str(bit), ha="center", va="center", size=9, color=INK)
            end = 5.0 + 8 * dtype.itemsize
            note(axes, 5.5, top - 0.55, "sign", size=9)
            note(axes, 6.0 + exponent / 2, top - 0.55, f"exponent: {exponent} bits", size=9)
            fraction = 8 * dtype.itemsize - 1 - exponent
            note(axes, (6.0 + exponent + end) / 2, top - 0.55, f"fraction: {fraction} bits", size=9)
            for edge in (6.0, 6.0 + exponent):
                axes.plot([edge, edge], [top - 0.15, top + 1.15], color=FRAME, linewidth=2.4)
    return figure

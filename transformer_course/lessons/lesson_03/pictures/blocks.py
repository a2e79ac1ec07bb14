"""Lesson 3's pictures, second sitting: heads, masks, norms, the block and the whole classifier."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import LIT, PALE, arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, FAINT, FRAME, INK, drawing

__all__ = [
    "classifier_stack",
    "heads_as_views",
    "heads_merged",
    "mask_over_keys",
    "norm_axes",
    "padding_changes_nothing",
    "pre_and_post_norm",
    "vectors_cut_into_heads",
]

TOKENS = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])  # (3, 4): three tokens of four numbers
LEFT_HALF = [(row, column) for row in range(3) for column in range(2)]


def vectors_cut_into_heads() -> Figure:
    """Three tokens of four numbers become two heads: each has all three tokens, and half of every vector."""
    with drawing(8.2, 2.6) as (figure, (axes,)):
        blank(axes, 17.4, 5.4)
        cells(axes, 2.0, 1.2, TOKENS, lit=LEFT_HALF, title="(length 3, d_model 4)")
        for row, word in enumerate(["cat", "sees", "ball"]):
            axes.text(1.7, 1.7 + row, word, ha="right", va="center")
        arrow(axes, (6.5, 2.7), (8.3, 2.7))
        cells(axes, 9.0, 1.2, TOKENS[:, :2], lit=LEFT_HALF, title="head 0", below="(3, d_head 2)")
        cells(axes, 13.0, 1.2, TOKENS[:, 2:], title="head 1", below="(3, d_head 2)")
    return figure


def heads_merged() -> Figure:
    """Two heads side by side again, and beside it what `reshape` alone makes of them: mixed-up tokens."""
    heads = TOKENS.reshape(3, 2, 2).transpose(1, 0, 2)  # (heads, length, d_head)
    with drawing(8.2, 2.7) as (figure, (axes,)):
        blank(axes, 18.0, 5.6)
        cells(axes, 0.3, 1.2, heads[0], lit=LEFT_HALF, title="head 0")
        cells(axes, 3.0, 1.2, heads[1], title="head 1")
        arrow(axes, (5.5, 2.7), (6.9, 2.7))
        cells(axes, 7.4, 1.2, TOKENS, lit=LEFT_HALF, title="side by side", below="each token is whole")
        sign(axes, 12.4, 2.7, "not", size=12)
        wrong = heads.reshape(3, 4)
        mixed = [(row, column) for row in range(3) for column in range(4) if wrong[row, column] % 4 in (1, 2)]
        cells(axes, 13.4, 1.2, wrong, lit=mixed, title="reshape alone", below="tokens mixed up")
    return figure


def heads_as_views() -> Figure:
    """Two heads look at the same three words with different weights; their results are put side by side and mixed."""
    words = ["cat", "sees", "ball"]
    views = [
        [["0.1", "0.2", "0.7"], ["0.8", "0.1", "0.1"], ["0.6", "0.3", "0.1"]],
        [["0.8", "0.1", "0.1"], ["0.2", "0.1", "0.7"], ["0.3", "0.1", "0.6"]],
    ]
    with drawing(8.4, 4.4) as (figure, (axes,)):
        blank(axes, 19.6, 10.3)
        box(axes, 1.7, 5.2, "the same\nthree words", width=2.9, height=1.5)
        for nth, (top, view) in enumerate(zip((1.2, 6.3), views, strict=True)):
            middle = top + 1.5
            arrow(axes, (3.25, 5.2), (4.6, middle))
            largest = [(row, max(range(3), key=lambda column: float(view[row][column]))) for row in range(3)]
            cells(axes, 6.2, top, view, lit=largest, title=f"view of head {nth}")
            for row, word in enumerate(words):
                axes.text(6.05, top + 0.5 + row, word, ha="right", va="center", size=10)
                note(axes, 6.7 + row, top + 3.3, word)
            arrow(axes, (9.5, middle), (10.9, middle))
            box(axes, 12.4, middle, f"result {nth}\n(3, d_head)", width=2.7, height=1.4)
            arrow(axes, (13.85, middle), (15.2, 4.7 if nth == 0 else 5.7))
        box(axes, 17.3, 5.2, "side by side,\nthen Linear\n(3, d_model)", width=3.8, height=2.1)
    return figure


def mask_over_keys() -> Figure:
    """Tokens 4, 7 and padding give one row of yes, yes, no; broadcasting lays it over every query."""
    with drawing(8.2, 2.6) as (figure, (axes,)):
        blank(axes, 17.6, 5.4)
        cells(axes, 0.4, 2.1, [[4, 7, 0]], lit=[(0, 2)], title="tokens (3,)", below="0 is padding")
        arrow(axes, (3.8, 2.6), (5.2, 2.6))
        cells(
            axes, 5.7, 2.1, [["yes", "yes", "no"]], lit=[(0, 2)], title="mask (1, 1, 1, 3)", below="one entry per key"
        )
        arrow(axes, (9.1, 2.6), (10.7, 2.6))
        note(axes, 9.9, 2.1, "broadcast")
        rows = [["yes", "yes", "no"]] * 3
        cells(axes, 12.6, 1.1, rows, lit=[(i, 2) for i in range(3)], title="for every head: (3, 3)", below="keys")
        for row, query in enumerate(["query 4", "query 7", "query 0"]):
            axes.text(12.4, 1.6 + row, query, ha="right", va="center", size=10)
    return figure


def norm_axes() -> Figure:
    """A table of tokens and features: LayerNorm measures along one token, BatchNorm along one feature."""
    numbers = np.array([[1, 3, 2], [4, 8, 6], [0, 1, 5], [7, 4, 7]])
    with drawing(8.2, 3.1) as (figure, (axes,)):
        blank(axes, 17.4, 6.5)
        cells(axes, 2.2, 1.2, numbers, lit=[(1, column) for column in range(3)], title="LayerNorm")
        cells(axes, 11.0, 1.2, numbers, lit=[(row, 1) for row in range(4)], title="BatchNorm")
        for left in (2.2, 11.0):
            for row in range(4):
                note(axes, left - 0.2, 1.7 + row, f"token {row}", ha="right")
            note(axes, left + 1.5, 5.6, "features")
        note(axes, 5.5, 2.7, "mean 6 and spread\nof this one token", size=10, ha="left")
        note(axes, 14.3, 3.2, "mean 4 and spread\nof this feature,\nover all tokens\nof the batch", size=10, ha="left")
    return figure


def _block(axes: Axes, middle: float, title: str, pre: bool) -> None:
    """One encoder block from bottom to top; the residual runs along the right side."""
    axes.text(middle, 0.5, title, ha="center", va="center", weight="bold")
    trunk = middle + 2.9
    for bottom, name in [(12.0, "attention"), (6.7, "feed-forward")]:
        layers = ["norm", name] if pre else [name]
        arrow(axes, (middle, bottom), (middle, bottom - 0.75))
        y = bottom - 1.2
        for place, layer in enumerate(layers):
            box(axes, middle, y, layer, width=3.4, height=0.85)
            if layer == "norm":
                axes.patches[-1].set(facecolor=LIT, edgecolor=FRAME, linewidth=1.8)
            if place + 1 < len(layers):
                arrow(axes, (middle, y - 0.45), (middle, y - 0.85))
            y -= 1.3
        plus = bottom - 3.85 if pre else bottom - 2.75
        arrow(axes, (middle, y + 0.85), (middle, plus + 0.35))
        axes.scatter([middle], [plus], s=190, facecolor=PALE, edgecolor=INK, zorder=3)
        axes.text(middle, plus, "+", ha="center", va="center", size=12, zorder=4)
        colour = COLOURS[0]
        axes.plot([middle, trunk, trunk], [bottom - 0.2, bottom - 0.2, plus], color=colour, linewidth=2.6)
        stroke = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.6, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=(middle + 0.33, plus), xytext=(trunk, plus), arrowprops=stroke)
        end = bottom - 5.3 + 0.0
        if pre:
            axes.plot([middle, middle], [plus - 0.33, end + 0.0], color=INK, linewidth=1.6)
        else:
            arrow(axes, (middle, plus - 0.35), (middle, plus - 0.7))
            box(axes, middle, plus - 1.15, "norm", width=3.4, height=0.85)
            axes.patches[-1].set(facecolor=LIT, edgecolor=FRAME, linewidth=1.8)
            axes.plot([middle, middle], [plus - 1.6, end], color=INK, linewidth=1.6)
    note(axes, middle, 12.5, "x", size=12)
    arrow(axes, (middle, 1.5), (middle, 1.0))


def pre_and_post_norm() -> Figure:
    """The encoder block twice: pre-norm leaves the residual stream alone, post-norm normalises it twice."""
    with drawing(7.6, 6.2) as (figure, (axes,)):
        blank(axes, 16.0, 13.0)
        _block(axes, 3.6, "pre-norm: ours", pre=True)
        _block(axes, 11.4, "post-norm: the paper of 2017", pre=False)
        note(axes, 6.75, 9.9, "residual\nstream", size=10, ha="left")
        note(axes, 14.55, 9.9, "residual\nstream", size=10, ha="left")
    return figure


def classifier_stack() -> Figure:
    """The whole classifier from tokens to logits, with the shape after each part."""
    parts = [
        ("tokens", "(batch, length)"),
        ("embedding", "(batch, length, d_model)"),
        ("positions", "(batch, length, d_model)"),
        ("encoder block", "(batch, length, d_model)"),
        ("encoder block", "(batch, length, d_model)"),
        ("final norm", "(batch, length, d_model)"),
        ("last position", "(batch, d_model)"),
        ("Linear", "(batch, num_classes)"),
    ]
    with drawing(7.2, 4.9) as (figure, (axes,)):
        blank(axes, 14.4, 9.8)
        for place, (name, shape) in enumerate(parts):
            y = 0.7 + 1.2 * place
            box(axes, 4.6, y, name, width=3.8, height=0.8)
            note(axes, 7.0, y, shape, size=11, ha="left")
            if place:
                arrow(axes, (4.6, y - 0.78), (4.6, y - 0.42))
        axes.add_patch(Rectangle((2.3, 3.75), 4.6, 2.3, fill=False, edgecolor=FAINT, linestyle=(0, (4, 3)), lw=1.3))
        note(axes, 2.1, 4.9, "num_layers\ntimes", ha="right")
        stroke = {"arrowstyle": "-|>", "color": COLOURS[1], "linewidth": 1.6, "linestyle": (0, (3, 2))}
        axes.annotate("", xy=(11.2, 4.9), xytext=(13.6, 4.9), arrowprops=stroke)
        axes.plot([10.6, 13.6, 13.6], [0.7, 0.7, 4.9], color=COLOURS[1], linestyle=(0, (3, 2)), linewidth=1.6)
        note(axes, 13.4, 2.9, "padding\nmask", ha="right")
    return figure


def padding_changes_nothing() -> Figure:
    """One text in three rows: without padding, with more of it, and with another vector for it. The same logits?"""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 17.4, 6.1)
        rows = [(0.5, list("2-1"), "as it is"), (2.3, [*"2-1", "0", "0", "0"], "more padding")]
        rows.append((4.1, [*"2-1", "0*", "0*", "0*"], "other content"))
        for y, row, words in rows:
            axes.text(0.2, y + 0.5, words, va="center", weight="bold")
            cells(axes, 4.2, y, [row], lit=[(0, place) for place in range(3, len(row))])
            arrow(axes, (10.6, y + 0.5), (12.2, 2.8))
        box(axes, 14.4, 2.8, "the same\nlogits?", width=3.2, height=1.7)
    return figure

"""Lesson 9's pictures: computation graphs, with solid arrows forward and dashed ones back."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import arrow, blank, box
from transformer_course.plots.style import drawing

__all__ = [
    "attention_graph",
    "block_graph",
    "decoder_graph",
    "linear_graph",
    "norm_three_paths",
    "one_weight",
    "softmax_paths",
    "tape_graph",
]

Point = tuple[float, float]


def _back(axes: Axes, start: Point, end: Point, text: str = "", at: Point | None = None, bend: float = 0.0) -> None:
    arrow(axes, start, end, dashed=True, bend=bend)
    if text:
        x, y = at or ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.4)
        note(axes, x, y, text, size=10)


def one_weight() -> Figure:
    """w is 2; times 3, minus 10, squared: 6, -4, 16. Backward 1, -8, -8, -24."""
    with drawing(8.4, 2.7) as (figure, (axes,)):
        blank(axes, 17.2, 5.4)
        for x, word in ((1.6, "w = 2"), (6.2, "6"), (10.8, "-4"), (15.4, "16")):
            box(axes, x, 2.3, word, width=2.2)
        for left, word in ((1.6, "times 3"), (6.2, "minus 10"), (10.8, "squared")):
            arrow(axes, (left + 1.25, 2.1), (left + 3.4, 2.1))
            note(axes, left + 2.3, 1.5, word, size=11)
        for right, word in ((15.4, "-8"), (10.8, "-8"), (6.2, "-24")):
            arrow(axes, (right - 1.25, 2.7), (right - 3.4, 2.7), dashed=True)
            note(axes, right - 2.3, 3.3, word, size=11)
        note(axes, 15.4, 3.3, "1", size=11)
        note(axes, 8.6, 0.6, "forward: values", size=11)
        note(axes, 8.6, 4.6, "backward, dashed: how fast the loss changes with each of them", size=11)
    return figure


def linear_graph() -> Figure:
    """x and W meet in a product, b is added; back come g Wᵀ, xᵀ g and the sum of g over the rows."""
    with drawing(8.0, 3.9) as (figure, (axes,)):
        blank(axes, 16.0, 7.8)
        box(axes, 1.8, 1.4, "x", width=1.8)
        box(axes, 1.8, 4.0, "W", width=1.8)
        box(axes, 7.4, 2.6, "product", width=2.4)
        box(axes, 7.4, 6.4, "b", width=1.8)
        box(axes, 11.4, 2.6, "+", width=1.4)
        box(axes, 14.8, 2.6, "y", width=1.4)
        arrow(axes, (2.8, 1.3), (6.1, 2.3))
        arrow(axes, (2.8, 3.8), (6.1, 2.8))
        arrow(axes, (8.7, 2.5), (10.6, 2.5))
        arrow(axes, (8.4, 6.1), (11.1, 3.2))
        arrow(axes, (12.2, 2.5), (14.0, 2.5))
        _back(axes, (14.0, 2.9), (12.2, 2.9), "g", (13.1, 3.3))
        _back(axes, (6.1, 2.0), (2.8, 0.9), "g Wᵀ", (4.8, 0.9))
        _back(axes, (6.1, 3.2), (2.8, 4.3), "xᵀ g", (4.8, 4.5))
        _back(axes, (11.5, 3.3), (8.5, 6.6), "the sum of g\nover the rows", (11.9, 5.5))
    return figure


def softmax_paths() -> Figure:
    """Two scores, two weights, four arrows: to its own weight w(1 - w), to the other -w w."""
    with drawing(7.2, 3.3) as (figure, (axes,)):
        blank(axes, 14.4, 6.6)
        box(axes, 1.8, 1.5, "score 1", width=2.6)
        box(axes, 1.8, 5.0, "score 2", width=2.6)
        box(axes, 12.4, 1.5, "weight 1", width=2.8)
        box(axes, 12.4, 5.0, "weight 2", width=2.8)
        arrow(axes, (3.2, 1.5), (10.9, 1.5))
        arrow(axes, (3.2, 5.0), (10.9, 5.0))
        arrow(axes, (3.2, 1.8), (10.9, 4.6))
        arrow(axes, (3.2, 4.7), (10.9, 1.9))
        note(axes, 7.0, 0.9, "w₁ (1 - w₁)", size=11)
        note(axes, 7.0, 5.6, "w₂ (1 - w₂)", size=11)
        note(axes, 9.8, 3.3, "- w₁ w₂", size=11)
        note(axes, 4.3, 3.3, "- w₁ w₂", size=11)
    return figure


def norm_three_paths() -> Figure:
    """Forward along solid arrows; back along three dashed ones: directly, through the root, and through the mean."""
    with drawing(9.4, 5.0) as (figure, (axes,)):
        blank(axes, 19.4, 10.2)
        box(axes, 1.2, 5.0, "x", width=1.4)
        box(axes, 3.8, 8.2, "mean", width=2.0)
        box(axes, 6.4, 5.0, "centred: x - mean", width=4.2)
        box(axes, 9.4, 1.6, "r: root of the variance", width=5.4)
        box(axes, 12.6, 5.0, "n: centred / r", width=3.4)
        box(axes, 17.4, 5.0, "n · weight + bias", width=3.6)
        arrow(axes, (1.9, 4.8), (4.2, 4.8))
        arrow(axes, (1.6, 5.6), (3.1, 7.6))
        arrow(axes, (4.6, 7.6), (5.7, 5.6))
        arrow(axes, (6.6, 4.4), (8.2, 2.2))
        arrow(axes, (10.6, 2.2), (12.2, 4.4))
        arrow(axes, (8.6, 4.8), (10.8, 4.8))
        arrow(axes, (14.4, 4.8), (15.5, 4.8))
        _back(axes, (15.5, 5.2), (14.4, 5.2), "g", (15.0, 5.7))
        _back(axes, (10.8, 5.2), (8.6, 5.2), "1: g / r", (9.7, 5.8))
        _back(axes, (12.9, 4.4), (11.3, 2.2))
        _back(axes, (7.4, 2.2), (5.8, 4.4), "3: - n · mean(g n) / r", (3.9, 3.0))
        _back(axes, (4.2, 5.2), (1.9, 5.2), "1 + 3", (3.0, 5.7))
        _back(axes, (6.5, 5.6), (5.0, 8.0), "2: - the mean of\nwhat centred got", (8.2, 7.4))
        _back(axes, (2.7, 8.0), (1.1, 5.6))
        note(axes, 11.8, 9.5, "solid: forward. Dashed: back. At x, the three paths add up.", size=10)
    return figure


def attention_graph() -> Figure:
    """Query and key to scores, softmax, weights; with the value to the output. Back in five steps."""
    with drawing(8.8, 3.8) as (figure, (axes,)):
        blank(axes, 17.8, 7.6)
        box(axes, 1.5, 1.5, "query", width=2.2)
        box(axes, 1.5, 4.0, "key", width=2.2)
        box(axes, 6.2, 2.7, "scores / √d", width=3.2)
        box(axes, 11.2, 2.7, "weights", width=2.6)
        box(axes, 11.2, 6.4, "value", width=2.2)
        box(axes, 16.0, 2.7, "output", width=2.4)
        arrow(axes, (2.7, 1.4), (4.5, 2.3))
        arrow(axes, (2.7, 3.8), (4.5, 2.8))
        arrow(axes, (7.9, 2.6), (9.8, 2.6))
        arrow(axes, (12.6, 2.6), (14.7, 2.6))
        arrow(axes, (12.4, 6.0), (15.4, 3.3))
        note(axes, 8.9, 2.1, "softmax", size=10)
        _back(axes, (15.8, 3.4), (12.5, 6.5), "1", (14.9, 5.2))
        _back(axes, (14.7, 3.0), (12.6, 3.0), "2", (13.6, 3.5))
        _back(axes, (9.8, 3.0), (7.9, 3.0), "3", (8.9, 3.5))
        _back(axes, (4.5, 2.0), (2.7, 1.0), "4", (3.8, 1.0))
        _back(axes, (4.5, 3.1), (2.7, 4.3), "5", (3.8, 4.3))
    return figure


def _residual(axes: Axes, left: float, norm: str, layer: str, three: bool) -> None:
    """One sub-layer from `left` on: a split, the norm and the layer below, and a plus."""
    axes.plot([left], [1.6], marker="o", color="black", markersize=5)
    arrow(axes, (left, 1.6), (left + 7.4, 1.6))
    box(axes, left + 1.4, 4.0, norm, width=2.0)
    box(axes, left + 5.2, 4.0, layer, width=3.2)
    arrow(axes, (left, 1.7), (left + 1.0, 3.5))
    for height in (3.75, 4.0, 4.25) if three else (4.0,):
        arrow(axes, (left + 2.5, height), (left + 3.5, height))
    arrow(axes, (left + 6.4, 3.5), (left + 7.6, 2.1))
    box(axes, left + 8.0, 1.6, "+", width=0.9)
    arrow(axes, (left + 7.4, 1.2), (left + 0.1, 1.2), dashed=True)
    arrow(axes, (left + 7.9, 2.2), (left + 5.6, 4.9), dashed=True, bend=-0.35)
    arrow(axes, (left + 4.6, 4.6), (left + 1.8, 4.6), dashed=True, bend=-0.3)
    arrow(axes, (left + 0.7, 3.9), (left - 0.1, 2.0), dashed=True, bend=-0.3)
    note(axes, left + 3.1, 5.6, "dQ + dK + dV" if three else "one gradient", size=10)
    note(axes, left + 3.7, 0.7, "g, past the layer", size=10)


def block_graph() -> Figure:
    """Two residuals in a row: norm1 and attention, norm2 and feed-forward; at each split the gradients add up."""
    with drawing(9.6, 3.2) as (figure, (axes,)):
        blank(axes, 20.6, 6.6)
        note(axes, 0.5, 1.6, "x", size=12)
        arrow(axes, (0.8, 1.6), (1.6, 1.6))
        _residual(axes, 1.7, "norm1", "attention", three=True)
        arrow(axes, (10.2, 1.6), (11.2, 1.6))
        _residual(axes, 11.3, "norm2", "feed-forward", three=False)
        note(axes, 20.1, 1.6, "y", size=12)
    return figure


def decoder_graph() -> Figure:
    """The encoder states go into the cross-attention as keys and as values; their two gradients meet in a sum."""
    with drawing(8.4, 4.2) as (figure, (axes,)):
        blank(axes, 17.0, 8.4)
        for x, word in ((2.0, "self-attention"), (8.4, "cross-attention"), (14.4, "feed-forward")):
            box(axes, x, 1.8, word, width=3.8)
        arrow(axes, (4.0, 1.6), (6.4, 1.6))
        arrow(axes, (10.4, 1.6), (12.4, 1.6))
        note(axes, 5.2, 1.1, "queries", size=10)
        box(axes, 8.4, 6.8, "encoder states", width=4.2)
        arrow(axes, (7.6, 6.3), (7.6, 2.4))
        arrow(axes, (8.4, 6.3), (8.4, 2.4))
        note(axes, 6.7, 4.3, "keys", size=10)
        note(axes, 9.3, 4.3, "values", size=10)
        _back(axes, (12.4, 2.0), (10.4, 2.0))
        _back(axes, (6.4, 2.0), (4.0, 2.0), "dQ", (5.2, 2.5))
        _back(axes, (10.0, 2.4), (10.0, 6.3), "dK + dV", (11.3, 4.3))
        note(axes, 8.4, 7.8, "to the encoder: the sum over all decoder blocks", size=10)
    return figure


def tape_graph() -> Figure:
    """x is 3, s = x x is 9, y = s + x is 12. Back come 1 and 1 from the sum, 3 and 3 from the product: 7 at x."""
    with drawing(8.6, 4.0) as (figure, (axes,)):
        blank(axes, 17.2, 8.2)
        box(axes, 1.6, 4.6, "x = 3", width=2.2)
        box(axes, 6.2, 2.2, "1: product", width=3.2)
        box(axes, 10.2, 2.2, "s = 9", width=2.2)
        box(axes, 12.6, 4.6, "2: sum", width=2.4)
        box(axes, 15.8, 4.6, "y = 12", width=2.2)
        arrow(axes, (2.3, 4.0), (4.5, 2.0))
        arrow(axes, (2.6, 4.2), (4.7, 2.6))
        arrow(axes, (7.9, 2.0), (9.0, 2.0))
        arrow(axes, (10.7, 2.8), (11.9, 4.0))
        arrow(axes, (2.8, 4.7), (11.3, 4.7))
        arrow(axes, (13.9, 4.4), (14.6, 4.4))
        _back(axes, (14.6, 4.8), (13.9, 4.8), "1", (14.2, 5.4))
        _back(axes, (12.4, 4.0), (11.2, 2.7), "1", (12.3, 3.0))
        _back(axes, (9.0, 2.4), (7.9, 2.4), "1", (8.5, 2.9))
        _back(axes, (4.4, 1.6), (1.8, 4.0), "3", (2.6, 2.2))
        _back(axes, (5.2, 2.8), (2.8, 4.4), "3", (4.6, 3.8))
        _back(axes, (11.3, 5.1), (2.8, 5.1), "1", (7.0, 5.6))
        note(axes, 1.6, 6.1, "3 + 3 + 1 = 7", size=12)
        note(axes, 8.6, 7.4, "forward: 1, then 2. Back, dashed: 2, then 1. What arrives at x adds up.", size=10)
    return figure

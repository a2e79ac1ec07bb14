"""Lesson 11's pictures: a window and its targets, and a block."""

from matplotlib.figure import Figure

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import LIT, arrow, blank, box, cells
from transformer_course.plots.style import INK, drawing

__all__ = ["one_block", "one_place_later", "staircase"]


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
        note(axes, 12.6, 5.0, "one position later", ha="left")
    return figure


def staircase() -> Figure:
    """Five predictions from one window: each row reads one token more, and has the next one for its target."""
    inputs, targets = ["a", "d", "a", "|", "b"], ["d", "a", "|", "b", "o"]
    with drawing(7.4, 3.6) as (figure, (axes,)):
        blank(axes, 14.0, 6.8)
        note(axes, 3.5, 0.6, "the model reads", size=11)
        note(axes, 9.5, 0.6, "it should predict", size=11)
        for row, target in enumerate(targets):
            cells(axes, 1.0, 1.2 + row, [inputs[: row + 1]])
            cells(axes, 9.0, 1.2 + row, [[target]], lit=[(0, 0)])
            arrow(axes, (2.2 + row, 1.7 + row), (8.8, 1.7 + row))
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

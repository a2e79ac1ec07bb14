"""Lesson 8's pictures: the model and its layers, where its masks go, what it is trained for, and the ladder."""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import LIT, PALE, arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, FAINT, FRAME, INK, drawing

__all__ = [
    "four_rungs",
    "letters_and_sentences",
    "masks_in_three_places",
    "roads_from_word_to_word",
    "softened_target",
    "two_orders",
    "two_ways_to_batch",
    "whole_model",
]


def letters_and_sentences() -> Figure:
    """One model, two tasks: letters go in and sounds come out; English goes in and German comes out."""
    with drawing(8.4, 2.7) as (figure, (axes,)):
        blank(axes, 17.4, 5.4)
        box(axes, 8.7, 2.6, "the model\nyou build", 2.8, 4.4)
        cells(axes, 0.5, 0.8, [["g", "a", "u", "n", "t"]])
        arrow(axes, (5.8, 1.3), (7.1, 1.3))
        arrow(axes, (10.3, 1.3), (11.6, 1.3))
        cells(axes, 11.9, 0.8, [["G", "AO", "N", "T"]])
        axes.text(3.6, 3.8, "The witch found a key\nand lost it.", ha="center", va="center")
        arrow(axes, (5.8, 3.8), (7.1, 3.8))
        arrow(axes, (10.3, 3.8), (11.6, 3.8))
        axes.text(14.5, 3.8, "Die Hexe hat einen Schlüssel\ngefunden und ihn verloren.", ha="center", va="center")
    return figure


def roads_from_word_to_word() -> Figure:
    """Five words: a recurrent net needs four steps from the first to the last, self-attention needs one."""
    with drawing(8.0, 3.6) as (figure, (axes,)):
        blank(axes, 17.0, 7.6)
        words = ("the", "dog", "saw", "a", "cat")
        places = [1.5 + 2.3 * place for place in range(5)]
        for top, name, steps in (
            (1.2, "recurrent", "four steps, one\nafter the other"),
            (5.0, "self-attention", "one step"),
        ):
            for x, word in zip(places, words, strict=True):
                box(axes, x, top, "", 1.2, 0.8)
                axes.text(x, top + 1.55, word, ha="center", va="center", weight="bold")
                arrow(axes, (x, top + 1.2), (x, top + 0.45))
            note(axes, 12.6, top - 0.2, name, ha="left", size=11)
            note(axes, 12.6, top + 0.9, steps, ha="left")
        for one, other in pairwise(places):
            arrow(axes, (one + 0.65, 1.2), (other - 0.65, 1.2), dashed=True)
        arrow(axes, (places[0], 4.55), (places[-1], 4.55), bend=-0.12, dashed=True)
    return figure


def _column(axes: Axes, x: float, steps: Sequence[tuple[float, str]]) -> None:
    """Boxes from bottom to top, joined by arrows; a "+" is a plain sign."""
    for (y, name), (above, upper) in pairwise(steps):
        arrow(axes, (x, y - (0.3 if name in "+x" else 0.42)), (x, above + (0.3 if upper == "+" else 0.42)))
    for y, name in steps:
        if name in ("+", "x"):
            sign(axes, x, y, name, size=17 if name == "+" else 12)
        elif name:
            box(axes, x, y, name, 3.0, 0.75)


def _aside(axes: Axes, x: float, start: float, end: float) -> None:
    """The residual connection: out of the column at `start`, and back into the plus at `end`."""
    axes.plot([x, x + 2.2, x + 2.2], [start, start, end], color=COLOURS[0], linewidth=1.8)
    arrow(axes, (x + 2.2, end), (x + 0.35, end))


def two_orders() -> Figure:
    """An encoder layer in the paper's order, where each sum is normalised, and in the pre-norm order of lesson 3."""
    with drawing(7.6, 5.4) as (figure, (axes,)):
        blank(axes, 16.4, 11.6)
        post = [
            (11.0, "x"), (9.4, "attention"), (8.2, "dropout"), (7.1, "+"), (6.0, "norm 1"),
            (4.5, "feed-forward"), (3.4, "+"), (2.3, "norm 2"), (1.1, ""),
        ]  # fmt: skip
        pre = [
            (11.0, "x"), (9.4, "norm 1"), (8.2, "attention"), (7.0, "dropout"), (5.9, "+"),
            (4.4, "norm 2"), (3.2, "feed-forward"), (2.1, "+"), (1.1, ""),
        ]  # fmt: skip
        for x, title, steps, roads in (
            (3.4, "post-norm: the paper", post, ((10.3, 7.1), (5.25, 3.4))),
            (11.4, "pre-norm: lesson 3", pre, ((10.3, 5.9), (5.2, 2.1))),
        ):
            axes.text(x, 0.4, title, ha="center", va="center", weight="bold")
            _column(axes, x, steps)
            for start, end in roads:
                _aside(axes, x, start, end)
    return figure


def masks_in_three_places() -> Figure:
    """The source mask is used twice, by the encoder and by the cross-attention; the target mask once."""
    with drawing(8.2, 3.4) as (figure, (axes,)):
        blank(axes, 17.0, 7.0)
        box(axes, 4.2, 1.9, "source mask: no padding\n(batch, 1, 1, source length)", 7.4, 1.5)
        box(axes, 4.2, 5.6, "target mask: no padding, no future\n(batch, 1, target length, target length)", 7.8, 1.5)
        for y, name in (
            (0.9, "encoder: self-attention"),
            (3.1, "decoder: cross-attention"),
            (5.6, "decoder: self-attention"),
        ):
            box(axes, 13.7, y, name, 5.6, 1.0)
        arrow(axes, (8.0, 1.7), (10.8, 0.95))
        arrow(axes, (8.0, 2.1), (10.8, 3.0))
        arrow(axes, (8.2, 5.6), (10.8, 5.6))
    return figure


def whole_model() -> Figure:
    """The paper's figure 1 in this lesson's words: every sub-layer, where the masks go, and the shift by one."""
    with drawing(8.8, 7.0) as (figure, (axes,)):
        blank(axes, 19.4, 15.4)
        foot = [(13.6, "embedding · √d_model"), (12.4, "+ sinusoids"), (11.2, "dropout")]
        reader = [*foot, (9.2, "self-attention"), (8.0, "feed-forward"), (4.9, "final norm (pre-norm)"), (3.7, "")]
        writer = [
            *foot, (9.2, "self-attention"), (8.0, "cross-attention"), (6.8, "feed-forward"),
            (4.9, "final norm (pre-norm)"), (3.7, "Linear"), (2.4, ""),
        ]  # fmt: skip
        for x, name, steps in ((4.2, "source ids", reader), (13.4, "target, without its last id", writer)):
            for (y, _), (above, text) in pairwise(steps):
                arrow(axes, (x, y - 0.42), (x, above + (0.42 if text else 0.1)))
            for y, text in steps:
                if text:
                    box(axes, x, y, text, 5.0, 0.75)
            axes.text(x, 15.0, name, ha="center", va="center", weight="bold")
            arrow(axes, (x, 14.7), (x, 14.0))
        for x, bottom, top in ((4.2, 7.3, 9.9), (13.4, 6.1, 9.9)):
            axes.add_patch(Rectangle((x - 2.75, bottom), 5.5, top - bottom, fill=False, edgecolor=FRAME, linewidth=2.2))
        note(axes, 1.25, 6.8, "N encoder layers", ha="left")
        note(axes, 16.4, 6.3, "N decoder\nlayers", ha="left")
        axes.text(4.2, 3.2, "states", ha="center", va="center", weight="bold")
        axes.plot([5.4, 8.8, 8.8], [3.2, 3.2, 8.0], color=COLOURS[0], linewidth=1.8)
        arrow(axes, (8.8, 8.0), (10.85, 8.0))
        axes.text(13.4, 1.9, "logits", ha="center", va="center", weight="bold")
        note(axes, 13.4, 1.1, "compared with the target without its first id")
        note(axes, 8.75, 10.9, "source mask", ha="center")
        arrow(axes, (8.0, 10.5), (6.75, 9.4), dashed=True)
        arrow(axes, (9.4, 10.5), (10.85, 8.25), dashed=True)
        note(axes, 16.5, 10.0, "target mask", ha="left")
        arrow(axes, (17.0, 9.65), (15.95, 9.25), dashed=True)
    return figure


def four_rungs() -> Figure:
    """The ladder: what is learnt on each rung, and what a failure there would tell."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 17.0, 5.9)
        rungs = [
            ("1", "ten pairs, by heart", "does anything learn at all?"),
            ("2", "letters backwards, unseen rows", "do attention and positions work?"),
            ("3", "spelling to sounds, real words", "does it generalise?"),
            ("4", "English to German, real sentences", "is it any good?"),
        ]
        for place, (number, task, question) in enumerate(rungs):
            y = 5.1 - 1.35 * place
            axes.add_patch(Rectangle((1.6, y - 0.4), 7.6, 0.85, facecolor=PALE, edgecolor=INK, linewidth=1.2))
            axes.text(1.0, y, number, ha="center", va="center", weight="bold")
            axes.text(1.9, y, task, ha="left", va="center")
            note(axes, 9.7, y, question, ha="left", size=11)
    return figure


def softened_target() -> Figure:
    """The target a among six symbols: all for a; or 0.8 for a, 0.05 for each other symbol, and nothing for padding."""
    with drawing(7.6, 2.6, columns=2, sharey=True) as (figure, panels):
        names = ("padding", "start", "end", "a", "b", "c")
        for panel, title, shares in (
            (panels[0], "without smoothing", (0, 0, 0, 1, 0, 0)),
            (panels[1], "smoothing 0.2", (0, 0.05, 0.05, 0.8, 0.05, 0.05)),
        ):
            for place, share in enumerate(shares):
                panel.bar(place, share, 0.7, color=LIT, edgecolor=FRAME if place == 3 else FAINT, linewidth=1.6)
                panel.text(place, share + 0.03, f"{share:g}", ha="center", va="bottom", size=9)
            panel.set_title(title, size=11)
            panel.set_xticks(range(6), names, size=9)
            panel.tick_params(length=0)
            panel.set_yticks([])
            panel.set_ylim(0, 1.2)
            panel.spines["left"].set_visible(False)
    return figure


def two_ways_to_batch() -> Figure:
    """Four sentences of lengths 2, 7, 3 and 5 waste 11 of 28 places; four of lengths 5, 5, 6 and 6 waste 2 of 24."""
    with drawing(8.0, 2.9) as (figure, (axes,)):
        blank(axes, 17.6, 6.2)
        for left, title, lengths, waste in (
            (1.0, "all lengths mixed", (2, 7, 3, 5), "11 of 28 cells are padding"),
            (10.0, "similar lengths together", (5, 5, 6, 6), "2 of 24 cells are padding"),
        ):
            width = max(lengths)
            cells(
                axes,
                left,
                1.1,
                [["" if place < length else "_" for place in range(width)] for length in lengths],
                lit=[(row, place) for row, length in enumerate(lengths) for place in range(length)],
                title=title,
                below=waste,
            )
    return figure

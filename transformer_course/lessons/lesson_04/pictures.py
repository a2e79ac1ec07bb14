"""Lesson 4's pictures: a row shifted by one, surprise, what is counted, and how encoder states reach the decoder."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import QUIET, note
from transformer_course.plots.cells import LIT, arrow, blank, box, cells, sign
from transformer_course.plots.style import FRAME, drawing

__all__ = [
    "changed_source",
    "cross_attention_table",
    "decoder_block",
    "exact_rows",
    "hesitating",
    "padding_is_not_counted",
    "problem_to_answer",
    "shifted_by_one",
    "surprise_of_tokens",
    "teacher_forcing",
    "two_stacks",
]


def _lit_box(axes: Axes, x: float, y: float, text: str, width: float = 2.4, height: float = 0.9) -> None:
    """A box that the text talks about: tinted, with a thick frame."""
    box(axes, x, y, text, width, height)
    axes.patches[-1].set(facecolor=LIT, edgecolor=FRAME, linewidth=2.2)


def problem_to_answer() -> Figure:
    """The lesson's goal: 27+15 goes into an encoder, a decoder looks at it and writes 2, 4 and an end mark."""
    with drawing(8.2, 2.5) as (figure, (axes,)):
        blank(axes, 17.0, 5.0)
        cells(axes, 0.4, 1.5, [list("27+15")], title="source")
        arrow(axes, (5.7, 2.0), (6.5, 2.0))
        box(axes, 7.9, 2.0, "encoder\nreads", width=2.5, height=1.5)
        arrow(axes, (9.3, 2.0), (10.5, 2.0))
        box(axes, 11.9, 2.0, "decoder\nwrites", width=2.5, height=1.5)
        arrow(axes, (13.3, 2.0), (14.0, 2.0))
        cells(axes, 14.2, 1.5, [list("24")], title="target")
        note(axes, 15.2, 3.0, "42, last\ndigit first")
        cells(axes, 10.4, 3.9, [["^", "2", "4"]])
        arrow(axes, (11.9, 3.8), (11.9, 2.9))
        note(axes, 10.2, 4.4, "what it has written", ha="right")
    return figure


def shifted_by_one() -> Figure:
    """The targets 2, 4, end above what the decoder is shown: start, 2, 4. Every target moves one place right."""
    with drawing(6.4, 2.9) as (figure, (axes,)):
        blank(axes, 12.0, 5.4)
        cells(axes, 4.4, 0.7, [["2", "4", ".", "_"]])
        cells(axes, 4.4, 3.3, [["^", "2", "4", "."]], lit=[(0, 0)])
        for place in range(3):
            arrow(axes, (4.9 + place, 1.8), (5.9 + place, 3.2))
        note(axes, 4.1, 1.2, "targets", ha="right")
        note(axes, 4.1, 3.8, "what the decoder reads", ha="right")
        note(axes, 8.8, 1.2, "the last one is dropped", ha="left")
        note(axes, 4.9, 4.85, "start")
    return figure


def surprise_of_tokens() -> Figure:
    """Three positions with the probabilities of four symbols; the two real targets have 1/2 and 1/4."""
    with drawing(7.8, 3.1) as (figure, (axes,)):
        blank(axes, 15.6, 6.0)
        chances = [["1/4", "1/2", "1/8", "1/8"], ["1/4", "1/4", "1/4", "1/4"], ["1/8", "1/8", "1/4", "1/2"]]
        cells(axes, 3.2, 1.4, chances, lit=[(0, 1), (1, 2)])
        for column, symbol in enumerate(["_", "2", "4", "."]):
            axes.text(3.7 + column, 1.1, symbol, ha="center", va="bottom", weight="bold")
        note(axes, 5.2, 0.35, "the model's probabilities")
        for row, (target, words) in enumerate(
            [("2", "-log 1/2 = 0.69"), ("4", "-log 1/4 = 1.39"), ("_", "padding: not counted")]
        ):
            note(axes, 2.9, 1.9 + row, f"target  {target}", ha="right", size=11)
            axes.text(8.0, 1.9 + row, words, va="center")
        axes.text(8.0, 5.0, "mean of two: 1.04", va="center", weight="bold")
    return figure


def hesitating() -> Figure:
    """Perplexity as a number of choices: one sure choice, two even ones, four even ones."""
    with drawing(7.8, 2.6, columns=3, sharey=True) as (figure, axes):
        rows = [("sure", [1.0, 0, 0, 0], 1), ("between two", [0.5, 0.5, 0, 0], 2), ("between four", [0.25] * 4, 4)]
        for panel, (name, chances, count) in zip(axes, rows, strict=True):
            panel.bar(["2", "4", "7", "."], chances, color=LIT, edgecolor=FRAME, linewidth=1.4, width=0.6)
            panel.set(title=f"{name}: perplexity {count}", ylim=(0, 1.05), yticks=[0, 0.5, 1])
            panel.title.set_fontsize(11)
            panel.tick_params(axis="x", length=0)
        axes[0].set_ylabel("probability")
    return figure


def padding_is_not_counted() -> Figure:
    """Two rows of predictions over their targets: five tokens count, four of them are right, padding is left out."""
    with drawing(7.4, 2.9) as (figure, (axes,)):
        blank(axes, 14.0, 5.4)
        cells(axes, 2.6, 1.0, [["2", "4", ".", "_"], ["7", ".", "_", "_"]], title="targets")
        cells(
            axes,
            8.2,
            1.0,
            [["2", "5", ".", "8"], ["7", ".", "_", "3"]],
            lit=[(0, 0), (0, 2), (1, 0), (1, 1)],
            title="predictions",
        )
        note(axes, 7.4, 4.0, "framed: right, and counted")
        note(axes, 7.4, 4.8, "5 is wrong; 8, _ and 3 are at padded positions")
    return figure


def exact_rows() -> Figure:
    """The same two rows judged as wholes: the first has one wrong token, so it is wrong; the second is right."""
    with drawing(7.4, 2.3) as (figure, (axes,)):
        blank(axes, 14.0, 4.2)
        cells(axes, 0.6, 1.0, [["2", "4", ".", "_"], ["7", ".", "_", "_"]], title="targets")
        cells(axes, 5.6, 1.0, [["2", "5", ".", "8"], ["7", ".", "_", "3"]], title="predictions")
        axes.text(10.2, 1.5, "one token wrong: no", va="center")
        axes.text(10.2, 2.5, "all real tokens right: yes", va="center", weight="bold")
        note(axes, 7.0, 3.7, "exact match: 1 of 2 rows")
    return figure


def teacher_forcing() -> Figure:
    """Three steps of writing 24: with a teacher the decoder reads the right tokens, on its own it reads its own."""
    with drawing(8.2, 3.6) as (figure, (axes,)):
        blank(axes, 17.2, 7.4)
        panels = [
            (0.6, "with a teacher", [("^", "2"), ("^2", "5"), ("^24", ".")], "the 5 is corrected"),
            (9.4, "on its own", [("^", "2"), ("^2", "5"), ("^25", "?")], "the 5 stays"),
        ]
        for left, title, steps, words in panels:
            axes.text(left, 0.4, title, va="center", weight="bold")
            note(axes, left, 1.3, "reads", ha="left")
            note(axes, left + 5.6, 1.3, "says", ha="left")
            for row, (reads, says) in enumerate(steps):
                y = 1.8 + 1.5 * row
                corrected = [(0, 2)] if row == 2 else []
                cells(axes, left, y, [list(reads)], lit=corrected)
                arrow(axes, (left + 3.3, y + 0.5), (left + 5.2, y + 0.5))
                cells(axes, left + 5.5, y, [[says]])
            note(axes, left + 1.5, 6.7, words)
    return figure


def cross_attention_table() -> Figure:
    """Four decoder rows ask five encoder columns: a table of weights, 4 by 5, in which each row sums to 1."""
    with drawing(8.2, 3.7) as (figure, (axes,)):
        blank(axes, 17.0, 7.6)
        weights = [
            ["", ".1", "", "", ".9"],
            [".4", "", "", ".6", ""],
            ["", "", ".5", ".5", ""],
            ["", "", "", ".2", ".8"],
        ]
        cells(axes, 5.4, 2.4, weights, lit=[(0, 1), (0, 4)])
        for column, symbol in enumerate("27+15"):
            axes.text(5.9 + column, 2.1, symbol, ha="center", va="bottom", weight="bold")
        for row, symbol in enumerate("^24."):
            axes.text(5.0, 2.9 + row, symbol, ha="center", va="center", weight="bold")
        note(axes, 8.4, 0.9, "keys and values: encoder states, source_length rows", size=11)
        note(axes, 4.5, 4.4, "queries:\ndecoder states,\ntarget_length rows", ha="right", size=11)
        note(axes, 10.8, 2.9, "each row sums to 1", ha="left")
        note(axes, 8.4, 7.0, "weights of one head: (target_length, source_length)", size=11)
    return figure


def decoder_block() -> Figure:
    """The decoder block: self-attention, cross-attention, feed-forward; a norm before each, a residual around it."""
    with drawing(8.2, 3.4) as (figure, (axes,)):
        blank(axes, 17.0, 7.0)
        parts: Sequence[tuple[float, str, str]] = [
            (3.6, "norm1\nself-attention", "looks at\nits own row"),
            (8.4, "norm2\ncross-attention", "looks at\nthe encoder"),
            (13.2, "norm3\nfeed-forward", "works on\neach token"),
        ]
        axes.text(0.3, 3.4, "x", va="center", weight="bold", size=13)
        start = 0.7
        for x, name, words in parts:
            draw = _lit_box if "cross" in name else box
            draw(axes, x, 3.4, name, 3.0, 1.4)
            note(axes, x, 4.9 if "cross" not in name else 1.6, words)
            arrow(axes, (start, 3.4), (x - 1.55, 3.4))
            arrow(axes, (x + 1.55, 3.4), (x + 2.05, 3.4))
            axes.annotate(
                "",
                xy=(x + 2.3, 3.1),
                xytext=(x - 1.95, 3.4),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": QUIET,
                    "linewidth": 1.3,
                    "connectionstyle": "arc3,rad=-0.42",
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            sign(axes, x + 2.3, 3.4, "+", size=15)
            start = x + 2.55
        arrow(axes, (15.75, 3.4), (16.6, 3.4))
        arrow(axes, (8.4, 5.6), (8.4, 4.2), dashed=True)
        axes.text(8.4, 6.1, "encoder states, unchanged", ha="center", va="center")
    return figure


def two_stacks() -> Figure:
    """The whole model: the source goes up through the encoder, the target input through the decoder, to logits."""
    with drawing(8.2, 4.9) as (figure, (axes,)):
        blank(axes, 17.0, 10.2)
        for x, name, tokens in [
            (4.2, "source", "(batch, source_length)"),
            (12.6, "target input", "(batch, target_length)"),
        ]:
            axes.text(x, 9.85, f"{name} {tokens}", ha="center", va="center", size=10)
            arrow(axes, (x, 9.5), (x, 8.95))
            box(axes, x, 8.45, "embedding + positions", 4.8)
            arrow(axes, (x, 7.95), (x, 7.25))
        box(axes, 4.2, 6.5, "encoder blocks", 4.8, 1.4)
        box(axes, 4.2, 4.3, "encoder_norm", 4.8)
        arrow(axes, (4.2, 5.75), (4.2, 4.85))
        box(axes, 12.6, 6.5, "decoder blocks", 4.8, 1.4)
        box(axes, 12.6, 4.3, "decoder_norm", 4.8)
        arrow(axes, (12.6, 5.75), (12.6, 4.85))
        box(axes, 12.6, 2.5, "Linear", 4.8)
        arrow(axes, (12.6, 3.8), (12.6, 3.05))
        arrow(axes, (12.6, 2.0), (12.6, 1.3))
        axes.text(12.6, 0.8, "logits (batch, target_length, vocab_size)", ha="center", va="center", size=10)
        axes.plot([6.65, 8.2, 8.2], [4.3, 4.3, 6.3], color=FRAME, linewidth=1.8, linestyle=(0, (3, 2)))
        arrow(axes, (8.2, 6.3), (10.1, 6.3), dashed=True)
        note(axes, 7.3, 3.0, "encoder states\n(batch, source_length, d_model)", size=9.5)
        note(axes, 8.35, 7.0, "into every block", size=9.5)
    return figure


def changed_source() -> Figure:
    """One source token changes from 7 to 8 and nothing else: do the logits move, or stay as they were?"""
    with drawing(8.2, 3.3) as (figure, (axes,)):
        blank(axes, 17.0, 6.6)
        for top, digit in [(0.8, "7"), (4.2, "8")]:
            cells(axes, 0.4, top, [["2", digit, "+", "1", "5"]], lit=[(0, 1)])
            arrow(axes, (5.7, top + 0.5), (6.7, top + 0.5))
            box(axes, 8.3, top + 0.5, "the model", 3.0, 1.2)
            arrow(axes, (9.9, top + 0.5), (10.9, top + 0.5))
            axes.text(11.1, top + 0.5, "logits", va="center")
        arrow(axes, (8.3, 3.2), (8.3, 2.1))
        arrow(axes, (8.3, 3.2), (8.3, 4.0))
        note(axes, 6.4, 3.0, "the same target input: ^24", ha="right")
        axes.text(13.0, 3.0, "the largest\ndifference?", va="center", weight="bold")
        arrow(axes, (12.6, 1.5), (13.3, 2.3))
        arrow(axes, (12.6, 4.5), (13.3, 3.8))
    return figure

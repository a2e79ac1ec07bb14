"""Lesson 5's pictures: a token that moves what comes before it, masks as matrices, and a carry that travels."""

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import QUIET, note
from transformer_course.plots.cells import LIT, arrow, blank, box, cells
from transformer_course.plots.style import FRAME, drawing

__all__ = [
    "all_on_the_table",
    "carry_from_afar",
    "cells_of_a_leak",
    "mask_as_a_matrix",
    "mask_inside_decode",
    "nudged_token",
    "two_masks_joined",
    "two_orders_of_digits",
]


def _labels(axes: Axes, left: float, top: float, rows: Sequence[str], columns: Sequence[str]) -> None:
    for place, word in enumerate(columns):
        axes.text(left + place + 0.5, top - 0.15, word, ha="center", va="bottom", weight="bold")
    for place, word in enumerate(rows):
        axes.text(left - 0.25, top + place + 0.5, word, ha="right", va="center", weight="bold")


def _lower(length: int) -> Collection[tuple[int, int]]:
    return [(row, column) for row in range(length) for column in range(row + 1)]


def _yes(lit: Collection[tuple[int, int]], rows: int, columns: int) -> list[list[str]]:
    return [["yes" if (row, column) in lit else "no" for column in range(columns)] for row in range(rows)]


def nudged_token() -> Figure:
    """Seven outputs and seven target tokens; token 4 is nudged, and the outputs of all seven places move."""
    with drawing(7.8, 4.6) as (figure, (axes,)):
        blank(axes, 15.4, 9.4)
        lit = [(row, 3) for row in range(7)]
        cells(axes, 4.4, 1.7, [["•" if column == 3 else "" for column in range(7)] for _ in range(7)], lit=lit)
        _labels(axes, 4.4, 1.7, [f"output {i}" for i in range(1, 8)], [str(i) for i in range(1, 8)])
        note(axes, 7.9, 0.6, "the target token that is nudged  (• = the output moves)", size=11)
        note(axes, 11.7, 3.2, "these come before\nthe nudged token", ha="left", size=11)
        axes.plot([11.5, 11.5], [1.8, 4.6], color=FRAME, linewidth=2)
        note(axes, 11.7, 6.7, "these may know about it", ha="left", size=11)
        axes.plot([11.5, 11.5], [4.8, 8.6], color=QUIET, linewidth=1.4, linestyle=(0, (3, 2)))
    return figure


def all_on_the_table() -> Figure:
    """What is to be said is one position to the right in what is read: start 2 4 below, 2 4 end above."""
    with drawing(6.8, 3.2) as (figure, (axes,)):
        blank(axes, 12.8, 6.0)
        cells(axes, 4.6, 0.9, [["2", "4", "."]])
        cells(axes, 4.6, 3.9, [["^", "2", "4"]])
        for place in range(3):
            arrow(axes, (5.1 + place, 3.8), (5.1 + place, 2.0))
        for place in range(2):
            arrow(axes, (6.1 + place, 3.8), (5.25 + place, 2.0), dashed=True)
        note(axes, 4.3, 1.4, "to be said", ha="right", size=11)
        note(axes, 4.3, 4.4, "to be read", ha="right", size=11)
        note(axes, 8.2, 2.9, "dashed: a look at the\nanswer, one position on", ha="left", size=11)
        note(axes, 6.1, 5.5, "in training the whole row is on the table at once", size=11)
    return figure


def cells_of_a_leak() -> Figure:
    """A 4 by 4 table, outputs against nudged tokens; the cells right of the diagonal are framed: those are the leak."""
    with drawing(7.4, 3.5) as (figure, (axes,)):
        blank(axes, 14.0, 6.8)
        values = [[2, 9, 0, 0], [1, 3, 8, 0], [0, 2, 2, 7], [1, 0, 1, 4]]
        leak = [(row, column) for row in range(4) for column in range(row + 1, 4)]
        cells(axes, 4.0, 1.8, values, lit=leak)
        _labels(axes, 4.0, 1.8, [f"output {i}" for i in range(4)], [str(i) for i in range(4)])
        note(axes, 6.0, 0.7, "nudged token", size=11)
        note(axes, 8.6, 2.8, "framed: a later token\nmoves an earlier output", ha="left", size=11)
        note(axes, 8.6, 4.6, "the leak is the largest\nof them: 9", ha="left", size=11)
    return figure


def mask_as_a_matrix() -> Figure:
    """A 4 by 4 causal mask: row i says yes to the columns 0 to i, and no to those after it."""
    with drawing(7.4, 3.5) as (figure, (axes,)):
        blank(axes, 14.0, 6.8)
        lower = _lower(4)
        cells(axes, 4.0, 1.8, _yes(lower, 4, 4), lit=lower)
        _labels(axes, 4.0, 1.8, ["^", "2", "4", "."], ["^", "2", "4", "."])
        note(axes, 6.0, 0.7, "who is looked at", size=11)
        note(axes, 3.2, 3.8, "who\nlooks", ha="right", size=11)
        note(axes, 8.6, 3.2, "each position sees itself\nand what came before", ha="left", size=11)
    return figure


def two_masks_joined() -> Figure:
    """The padding mask of the row start, 7, padding and the causal mask; the result says yes where both do."""
    with drawing(8.4, 2.9) as (figure, (axes,)):
        blank(axes, 17.6, 6.0)
        lower = _lower(3)
        real = [(row, column) for row in range(3) for column in range(2)]
        both = [cell for cell in lower if cell in real]
        for left, title, lit, word in [
            (1.2, "no padding", real, "and"),
            (7.2, "no future", lower, "gives"),
            (13.2, "both", both, ""),
        ]:
            cells(axes, left, 1.9, _yes(lit, 3, 3), lit=lit)
            _labels(axes, left, 1.9, ["^", "7", "_"], ["^", "7", "_"])
            axes.text(left + 1.5, 0.6, title, ha="center", va="center", weight="bold")
            axes.text(left + 4.4, 3.4, word, ha="center", va="center", size=12)
        note(axes, 8.7, 5.5, "(batch, 1, 1, length)  and  (length, length)  give  (batch, 1, length, length)", size=11)
    return figure


def mask_inside_decode() -> Figure:
    """decode makes its mask from the target input, combines it with one passed in, and calls lesson 4's decode."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 17.0, 6.0)
        box(axes, 2.6, 1.6, "target input", 3.6)
        arrow(axes, (4.5, 1.6), (5.9, 1.6))
        box(axes, 8.0, 1.6, "decoder_mask", 4.0)
        axes.patches[-1].set(facecolor=LIT, edgecolor=FRAME, linewidth=2.2)
        box(axes, 2.9, 4.4, "target_mask,\nif one is passed in", 4.4, 1.4)
        arrow(axes, (10.1, 1.6), (11.5, 2.5))
        arrow(axes, (5.2, 4.4), (11.2, 3.3), dashed=True)
        axes.text(11.9, 2.9, "and", ha="center", va="center", size=13)
        arrow(axes, (12.4, 2.9), (13.4, 2.9))
        box(axes, 15.1, 2.9, "lesson 4's\ndecode", 3.2, 1.5)
    return figure


def carry_from_afar() -> Figure:
    """23456 + 16547 = 40003: the carry of 6 + 7 travels through three columns that sum to 9, and changes 2 + 1."""
    with drawing(7.4, 3.4) as (figure, (axes,)):
        blank(axes, 14.0, 6.6)
        cells(axes, 3.6, 1.6, [list("23456"), list("16547")], lit=[(row, 4) for row in range(2)])
        cells(axes, 3.6, 4.1, [list("40003")], lit=[(0, 0)])
        axes.text(3.2, 3.1, "+", ha="center", va="center", size=15)
        axes.plot([3.4, 8.8], [3.85, 3.85], color=QUIET, linewidth=1.4)
        for place in range(4):
            arrow(axes, (8.0 - place, 1.45), (7.2 - place, 1.45), bend=0.7)
        note(axes, 6.1, 0.4, "the carry travels")
        note(axes, 9.2, 2.2, "made here: 6 + 7 = 13", ha="left", size=11)
        note(axes, 9.2, 4.6, "it arrives four positions on:\n2 + 1 and the carry make 4", ha="left", size=11)
        note(axes, 6.1, 5.9, "the columns in between sum to 9, so each passes the carry on")
    return figure


def two_orders_of_digits() -> Figure:
    """The answer 40003 from either end: its last digit needs one column, its first digit needs them all."""
    with drawing(8.2, 3.2) as (figure, (axes,)):
        blank(axes, 17.0, 6.4)
        rows = [
            (1.0, "last digit first", "30004", "its first token needs only the last column"),
            (3.9, "first digit first", "40003", "its first token needs all columns, and every carry"),
        ]
        for top, name, digits, words in rows:
            axes.text(4.2, top + 0.5, name, ha="right", va="center", weight="bold")
            cells(axes, 4.8, top, [[*digits, "."]], lit=[(0, 0)])
            arrow(axes, (4.8, top + 1.4), (10.8, top + 1.4))
            note(axes, 11.1, top + 1.4, "writing", ha="left")
            note(axes, 4.8, top + 2.0, words, ha="left", size=11)
    return figure

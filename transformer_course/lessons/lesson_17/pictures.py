"""Lesson 17's pictures: a pass that checks five tokens, what two distributions share, slots, and blocks."""

import numpy as np
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import arrow, blank, box, cells
from transformer_course.plots.style import drawing

__all__ = ["one_pass", "slots_in_turn", "table_of_blocks", "what_both_share"]

LOW, HIGH, GREY = "#2a6fbb", "#d98323", "#c9c9c9"


def one_pass() -> Figure:
    """Four proposed tokens; the target checks all of them at once. The third is rejected and replaced."""
    with drawing(8.4, 3.4) as (figure, (axes,)):
        blank(axes, 16.8, 6.8)
        note(axes, 0.2, 1.0, "the draft proposes", ha="left", size=11)
        note(axes, 0.2, 3.4, "the target checks", ha="left", size=11)
        note(axes, 0.2, 5.8, "what is kept", ha="left", size=11)
        proposed, checked = ["met", "a", "bear", "that"], ["yes", "yes", "no", "-"]
        for place, (word, verdict) in enumerate(zip(proposed, checked, strict=True)):
            x = 6.6 + 2.5 * place
            box(axes, x, 1.0, word, 2.0, 0.9)
            arrow(axes, (x, 1.5), (x, 2.9))
            box(axes, x, 3.4, verdict, 2.0, 0.9)
        for place, word in enumerate(["met", "a", "mole"]):
            x = 6.6 + 2.5 * place
            arrow(axes, (x, 3.9), (x, 5.3))
            box(axes, x, 5.8, word, 2.0, 0.9)
        note(axes, 14.1, 5.8, "dropped", size=11)
    return figure


def what_both_share() -> Figure:
    """Target and draft as bars; what they share is accepted, and what the target has beyond is left over."""
    target, draft, names = (
        np.array([0.5, 0.25, 0.15, 0.1]),
        np.array([0.2, 0.5, 0.2, 0.1]),
        ["mole", "bear", "fox", "ant"],
    )
    with drawing(7.6, 3.4) as (figure, (axes,)):
        places = np.arange(4)
        shared = np.minimum(target, draft)
        axes.bar(places, shared, 0.62, color=GREY, label="both: accepted")
        axes.bar(places, target - shared, 0.62, shared, color=LOW, label="target alone: left over")
        axes.bar(
            places,
            draft - shared,
            0.62,
            shared,
            color="none",
            edgecolor=HIGH,
            hatch="//",
            label="draft alone: rejected",
        )
        axes.set_xticks(places, names)
        axes.set_ylabel("probability")
        axes.set_ylim(0, 0.62)
        axes.legend(frameon=False, loc="upper right")
    return figure


def slots_in_turn() -> Figure:
    """Six texts in two slots: batch by batch, and with texts that join as soon as a slot is free."""
    lengths = {"A": 6, "B": 2, "C": 1, "D": 4, "E": 3, "F": 3}
    batches = [[("A", 0), ("C", 6), ("E", 10)], [("B", 0), ("D", 6), ("F", 10)]]
    joining = [[("A", 0), ("E", 6)], [("B", 0), ("C", 2), ("D", 3), ("F", 7)]]
    with drawing(8.2, 3.4) as (figure, (axes,)):
        blank(axes, 17.4, 7.0)
        for top, name, rows, total in ((0.8, "batch by batch", batches, 13), (4.2, "join and leave", joining, 10)):
            note(axes, 0.2, top + 1.0, name, ha="left", size=11)
            for row, slot in enumerate(rows):
                line = [""] * total
                for text, start in slot:
                    line[start : start + lengths[text]] = [text] * lengths[text]
                cells(axes, 4.0, top + row, [line], lit=[(0, place) for place, text in enumerate(line) if text])
        note(axes, 10.4, 3.2, "13 passes", size=10)
        note(axes, 9.0, 6.6, "10 passes", size=10)
    return figure


def table_of_blocks() -> Figure:
    """Two texts, and a pool of six blocks of three tokens. A text's blocks needn't be neighbours."""
    with drawing(8.2, 3.6) as (figure, (axes,)):
        blank(axes, 17.0, 7.2)
        note(axes, 0.2, 1.3, "text a: 5 tokens", ha="left", size=11)
        note(axes, 0.2, 5.9, "text b: 4 tokens", ha="left", size=11)
        pool = [["a1", "a2", "a3"], ["b1", "b2", "b3"], ["", "", ""], ["a4", "a5", ""], ["b4", "", ""]]
        for number, block in enumerate(pool):
            left = 0.4 + 3.3 * number
            lit = [(0, place) for place, token in enumerate(block) if token]
            cells(axes, left, 3.1, [block], lit=lit)
            note(axes, left + 1.5, 4.5, f"block {number}", size=9)
        for place in (0, 3):
            arrow(axes, (3.6, 1.6), (1.9 + 3.3 * place, 3.0))
        for place in (1, 4):
            arrow(axes, (3.6, 5.6), (1.9 + 3.3 * place, 4.9))
    return figure

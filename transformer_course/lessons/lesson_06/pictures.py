"""Lesson 6's pictures: a bag and a row, clocks with many hands, rotating pairs, and digits known by their place."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, DASHES, FAINT, FRAME, INK, drawing
from transformer_course.positions import sinusoidal_positional_encoding

__all__ = [
    "added_to_tokens",
    "bag_of_digits",
    "clock_hands",
    "digits_by_place",
    "naive_ways",
    "one_row_of_waves",
    "pair_that_turns",
    "same_distance_same_angle",
    "shift_as_turn",
    "swapped_tokens",
    "two_layouts",
]


def bag_of_digits() -> Figure:
    """The rows 4 7 9 and 9 4 7 lead into one and the same bag; out of it come max 9 and min 4, but no first."""
    with drawing(8.2, 2.7) as (figure, (axes,)):
        blank(axes, 17.0, 5.4)
        cells(axes, 0.5, 0.7, [["4", "7", "9"]], lit=[(0, 0)])
        cells(axes, 0.5, 3.5, [["9", "4", "7"]], lit=[(0, 0)])
        note(axes, 2.0, 2.0, "the first digit is 4")
        note(axes, 2.0, 4.85, "the first digit is 9")
        arrow(axes, (3.8, 1.3), (6.0, 2.3))
        arrow(axes, (3.8, 3.9), (6.0, 2.9))
        box(axes, 8.0, 2.6, "4   7   9\nin any order", width=3.6, height=1.9)
        for y, text in ((1.1, "max: 9"), (2.6, "min: 4"), (4.1, "first: ?")):
            arrow(axes, (10.0, 2.6), (11.8, y), dashed=text.endswith("?"))
            axes.text(12.1, y, text, va="center", weight="bold", size=12)
        note(axes, 8.0, 4.3, "what is left without positions")
    return figure


def naive_ways() -> Figure:
    """Positions 0 to 8 as an index, as an index divided by the last one (in two rows), and in binary digits."""
    with drawing(8.4, 4.0) as (figure, (axes,)):
        blank(axes, 17.4, 8.2)
        for place in range(9):
            note(axes, 5.5 + place, 0.45, str(place))
        note(axes, 4.7, 0.45, "position", ha="right")
        cells(axes, 5.0, 0.9, [[str(i) for i in range(9)]], lit=[(0, 8)])
        note(axes, 14.4, 1.4, "grows without limit", ha="left")
        cells(axes, 5.0, 2.4, [["0", ".25", ".5", ".75", "1"]], lit=[(0, 1)])
        cells(axes, 5.0, 3.4, [["0", ".12", ".25", ".38", ".5", ".62", ".75", ".88", "1"]], lit=[(0, 2)])
        note(axes, 14.4, 3.4, "the same number,\na different position", ha="left")
        binary = [[f"{i:04b}"[3 - row] for i in range(9)] for row in (3, 2, 1, 0)]
        cells(axes, 5.0, 4.9, np.array(binary)[1:], lit=[(row, column) for row in range(3) for column in (3, 4)])
        note(axes, 14.4, 6.4, "from 3 to 4 every\ndigit flips", ha="left")
        for y, name in ((1.4, "index"), (2.9, "normalised, 5 tokens"), (3.9, "normalised, 9 tokens")):
            axes.text(4.7, y, name, ha="right", va="center", weight="bold")
        axes.text(4.7, 6.4, "binary digits,\nthe last three", ha="right", va="center", weight="bold")
    return figure


def _clock(axes: Axes, x: float, y: float, angle: float, radius: float = 0.8, colour: str = COLOURS[0]) -> None:
    """A clock with one hand: 0 is at the top, and the hand turns as on a wall."""
    axes.add_patch(Circle((x, y), radius, facecolor="#eef1f4", edgecolor=FAINT, linewidth=1.2))
    axes.plot([x, x], [y - radius, y - 0.85 * radius], color=FAINT, linewidth=1.2)
    tip = (x + 0.86 * radius * math.sin(angle), y - 0.86 * radius * math.cos(angle))
    axes.plot([x, tip[0]], [y, tip[1]], color=colour, linewidth=2.6, solid_capstyle="round")
    axes.add_patch(Circle((x, y), 0.09 * radius, facecolor=INK, zorder=4))


def clock_hands() -> Figure:
    """Positions 0, 1, 2, 3 and 10 on four clocks: the first hand runs, the last hardly moves."""
    positions, frequencies = (0, 1, 2, 3, 10), [10000 ** (-2 * i / 8) for i in range(4)]
    with drawing(7.4, 6.4) as (figure, (axes,)):
        blank(axes, 12.6, 10.9)
        for column, frequency in enumerate(frequencies):
            x = 3.6 + 2.3 * column
            axes.text(x, 0.3, f"pair {column}", ha="center", va="center", weight="bold")
            speed = f"{frequency:g}" + (" radian" if frequency == 1 else "")
            note(axes, x, 0.85, speed + " a step" if column == 0 else f"{frequency:g} a step")
            for row, position in enumerate(positions):
                _clock(axes, x, 2.2 + 1.95 * row, position * frequency)
        for row, position in enumerate(positions):
            axes.text(2.0, 2.2 + 1.95 * row, f"position {position}", ha="right", va="center", weight="bold")
    return figure


def one_row_of_waves() -> Figure:
    """The row of position 1 with d_model = 4: two hands, each read off as a sine and a cosine."""
    with drawing(7.8, 3.0) as (figure, (axes,)):
        blank(axes, 15.4, 5.8)
        _clock(axes, 2.3, 2.1, 1.0, radius=1.3)
        _clock(axes, 6.1, 2.1, 0.01, radius=1.3)
        note(axes, 2.3, 4.0, "pair 0 has turned by 1")
        note(axes, 6.1, 4.0, "pair 1, by 0.01")
        note(axes, 4.2, 5.2, "sine: how far right the tip is. Cosine: how far up.")
        arrow(axes, (7.9, 2.1), (9.4, 2.1))
        cells(axes, 9.9, 1.6, [["0.84", "0.54", "0.01", "1.00"]], title="row of position 1")
        for place, name in enumerate(("sin 1", "cos 1", "sin .01", "cos .01")):
            note(axes, 10.4 + place, 2.95, name, size=8)
        note(axes, 11.9, 3.8, "columns 0, 1, 2, 3")
    return figure


def shift_as_turn() -> Figure:
    """One hand at position p and at p + 3: the same turn by 3 w, wherever p is; and the four numbers that do it."""
    with drawing(8.2, 3.1) as (figure, (axes,)):
        blank(axes, 17.0, 6.2)
        for left, start, names in ((1.8, 0.5, ("p = 1", "p + 3 = 4")), (6.4, 2.5, ("p = 5", "p + 3 = 8"))):
            turn = 1.5  # 3w, with w = 0.5
            _clock(axes, left, 2.5, start, radius=1.5, colour=FAINT)
            tip = (left + 1.29 * math.sin(start + turn), 2.5 - 1.29 * math.cos(start + turn))
            axes.plot([left, tip[0]], [2.5, tip[1]], color=COLOURS[0], linewidth=2.6, linestyle=DASHES[1])
            first = math.degrees(start) - 90  # matplotlib counts from the right, and y points down here
            axes.add_patch(
                Arc((left, 2.5), 1.5, 1.5, theta1=first, theta2=first + math.degrees(turn), color=FRAME, linewidth=2)
            )
            note(axes, left, 4.6, f"solid: {names[0]}")
            note(axes, left, 5.2, f"dashed: {names[1]}")
        axes.text(10.4, 2.5, "the turn by 3w\nas a matrix", ha="center", va="center")
        cells(axes, 12.4, 1.5, [["cos", "sin"], ["-sin", "cos"]], title="one pair")
        note(axes, 13.4, 4.1, "all of the angle 3w")
        note(axes, 13.4, 4.8, "p doesn't appear in it")
    return figure


def added_to_tokens() -> Figure:
    """A table of max_length = 5 rows; its first three are added to the three tokens of each row of the batch."""
    with drawing(7.8, 3.3) as (figure, (axes,)):
        blank(axes, 15.2, 6.6)
        table = sinusoidal_positional_encoding(5, 4).numpy()
        cells(axes, 0.4, 1.0, [["7", "8"], ["1", "0"], ["2", "2"]], title="x: 3 tokens")
        sign(axes, 3.3, 2.5, "+")
        shown = [[f"{value:.1f}" for value in row[:2]] for row in table]
        lit = [(row, column) for row in range(3) for column in range(2)]
        cells(axes, 4.2, 1.0, shown, lit=lit, title="encoding")
        note(axes, 6.5, 2.5, "the first 3 rows", ha="left")
        note(axes, 6.5, 5.0, "kept for longer inputs", ha="left")
        sign(axes, 10.3, 2.5, "=")
        total = [["7.0", "9.0"], ["1.8", "0.5"], ["2.9", "1.6"]]
        cells(axes, 11.4, 1.0, total, title="x + encoding")
        note(axes, 12.4, 4.5, "two of the columns")
    return figure


def pair_that_turns() -> Figure:
    """The pair (1, 0) at the positions 0, 1, 2 and 3: turned by 0, 1, 2 and 3 radians, never longer or shorter."""
    with drawing(6.4, 2.3) as (figure, (axes,)):
        circle = np.linspace(0, 2 * math.pi, 200)
        axes.plot(np.cos(circle), np.sin(circle), color=FAINT, linewidth=1.2, zorder=1)
        for position in range(4):
            x, y = math.cos(position), math.sin(position)
            line = {"arrowstyle": "-|>", "color": COLOURS[0], "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (x, y), (0, 0), arrowprops=line)
            words = f"position {position}: ({x:.2f}, {y:.2f})"
            axes.annotate(
                words,
                (x, y),
                xytext=(10 if x > 0 else -10, 2),
                textcoords="offset points",
                ha="left" if x > 0 else "right",
                va="center",
            )
        axes.set(aspect="equal", xlim=(-3.4, 3.4), ylim=(-0.35, 1.2), xticks=[], yticks=[])
        axes.set_title("The pair (1, 0), with w = 1")
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure


def same_distance_same_angle() -> Figure:
    """A query and a key three positions apart, at 0 and 3 and at 2 and 5: both turn on, the angle between stays."""
    with drawing(7.6, 3.3, columns=2) as (figure, panels):
        for panel, start in zip(panels, (0, 2), strict=True):
            circle = np.linspace(0, 2 * math.pi, 200)
            panel.plot(np.cos(circle), np.sin(circle), color=FAINT, linewidth=1.2, zorder=1)
            arms = [(start, "query", COLOURS[0], "-"), (start + 3, "key", COLOURS[1], DASHES[1])]
            for position, name, colour, dashes in arms:
                angle = 0.35 * position + 0.2
                x, y = math.cos(angle), math.sin(angle)
                panel.plot([0, x], [0, y], color=colour, linestyle=dashes, linewidth=2.6)
                panel.annotate(
                    f"{name} at {position}",
                    (x, y),
                    xytext=(8 if x >= 0 else -8, 8),
                    textcoords="offset points",
                    ha="left" if x >= 0 else "right",
                    color=colour,
                )
            first = math.degrees(0.35 * start + 0.2)
            panel.add_patch(Arc((0, 0), 0.8, 0.8, theta1=first, theta2=first + math.degrees(1.05), lw=2, ec=INK))
            middle = math.radians(first) + 0.52
            panel.text(0.62 * math.cos(middle), 0.62 * math.sin(middle), "3w", ha="center", va="center")
            panel.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-1.15, 1.35), xticks=[], yticks=[])
            panel.set_title(f"positions {start} and {start + 3}")
            for spine in panel.spines.values():
                spine.set_visible(False)
    return figure


def swapped_tokens() -> Figure:
    """A row and the same row with two tokens swapped go through the model: are the logits the same?"""
    with drawing(7.8, 2.8) as (figure, (axes,)):
        blank(axes, 15.6, 5.4)
        cells(axes, 0.4, 0.6, [["F", "4", "7", "9"]], lit=[(0, 1), (0, 3)])
        cells(axes, 0.4, 3.2, [["F", "9", "7", "4"]], lit=[(0, 1), (0, 3)])
        note(axes, 2.4, 2.4, "two tokens change places")
        for y in (1.1, 3.7):
            arrow(axes, (4.6, y), (5.8, y))
            box(axes, 7.1, y, "model", width=2.4)
            arrow(axes, (8.4, y), (9.6, y))
            box(axes, 11.0, y, "logits", width=2.6)
        sign(axes, 11.0, 2.4, "=  ?", size=15)
        note(axes, 12.6, 2.4, "always equal:\nit can't see\norder", ha="left")
    return figure


def two_layouts() -> Figure:
    """Which columns form a pair: neighbours in the interleaved layout, i and i + 4 in the half-split one."""
    with drawing(7.8, 2.6) as (figure, (axes,)):
        blank(axes, 15.4, 5.0)
        for column in range(8):
            note(axes, 5.0 + column, 0.5, str(column))
        note(axes, 4.2, 0.5, "column", ha="right")
        rows = [(1.0, "interleaved", "aabbccdd", (0, 1)), (3.0, "half-split", "abcdabcd", (0, 4))]
        for top, name, pairs, lit in rows:
            axes.text(4.2, top + 0.5, name, ha="right", va="center", weight="bold")
            cells(axes, 4.5, top, [list(pairs)], lit=[(0, column) for column in lit])
        note(axes, 12.9, 1.5, "pair a: 0 and 1", ha="left")
        note(axes, 12.9, 3.5, "pair a: 0 and 4", ha="left")
        note(axes, 8.5, 4.6, "four pairs, from the fastest (a) to the slowest (d)")
    return figure


def digits_by_place() -> Figure:
    """345 + 678 = 1023, everything written with the ones first: digits of one place stand in one column."""
    with drawing(7.8, 3.0) as (figure, (axes,)):
        blank(axes, 15.4, 5.9)
        for place, name in enumerate(("0", "1", "2", "3")):
            note(axes, 6.0 + 1.2 * place, 0.5, name, size=11)
        note(axes, 5.0, 0.5, "place", ha="right", size=11)
        rows = [(1.1, "first number", "543", [1, 2]), (2.6, "second number", "876", [1, 2])]
        rows += [(4.6, "answer", "3201", [2])]
        for top, name, digits, lit in rows:
            axes.text(5.0, top + 0.5, name, ha="right", va="center", weight="bold")
            for place, digit in enumerate(digits):
                cells(axes, 5.5 + 1.2 * place, top, [[digit]], lit=[(0, 0)] if place in lit else [])
        note(axes, 10.6, 2.6, "to write place 2, look at place 2\nand the places next to it", ha="left")
        note(axes, 10.6, 5.1, "345 + 678 = 1023,\nthe ones first", ha="left")
        arrow(axes, (8.4, 4.5), (8.4, 3.7))
        arrow(axes, (8.2, 4.5), (7.4, 3.7))
    return figure

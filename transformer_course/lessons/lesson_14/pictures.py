"""Lesson 14's pictures: which way a carry runs, letters for places, rows of a table that training meets, a window."""

from matplotlib.figure import Figure

from transformer_course.length_generalization.places import index_hints
from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import arrow, blank, cells
from transformer_course.plots.style import drawing

__all__ = [
    "letters_for_places",
    "one_digit_changed",
    "rows_of_a_table",
    "table_entered_at_five",
    "which_way_a_carry_runs",
    "window_of_places",
]


def which_way_a_carry_runs() -> Figure:
    """345 + 678 = 1023, with the largest place first and with the ones first; the carries run left and right."""
    with drawing(8.2, 4.4) as (figure, (axes,)):
        blank(axes, 16.4, 8.8)
        for left, title, rows, ahead in (
            (2.4, "largest place first", [["", 3, 4, 5], ["", 6, 7, 8], [1, 0, 2, 3]], -1),
            (10.4, "ones first", [[5, 4, 3, ""], [8, 7, 6, ""], [3, 2, 0, 1]], 1),
        ):
            cells(axes, left, 1.6, rows, lit=[(2, i) for i in range(4)], title=title)
            for i in range(3):
                start = left + (3.4 - i if ahead < 0 else 0.6 + i)
                arrow(axes, (start, 5.0), (start + 0.8 * ahead, 5.0), bend=0.5 if ahead > 0 else -0.5)
            note(axes, left + 2, 6.1, "the carries run this way", size=11)
            arrow(axes, (left, 7.2), (left + 4, 7.2))
            note(axes, left + 2, 7.7, "the answer is written this way", size=11)
    return figure


def letters_for_places() -> Figure:
    """The sum 345 + 78 without and with index hints; digits with one letter are added."""
    with drawing(8.2, 3.5) as (figure, (axes,)):
        blank(axes, 16.4, 7.0)
        plain, hinted = list("345+78"), list(index_hints("345+78"))
        cells(axes, 2.2, 1.0, [plain])
        note(axes, 8.8, 1.5, "which digits belong together?", size=11, ha="left")
        arrow(axes, (5.2, 2.3), (5.2, 3.4))
        lit = [(0, place) for place, one in enumerate(hinted) if one == "b" or (place and hinted[place - 1] == "b")]
        cells(axes, 2.2, 3.8, [hinted], lit=lit)
        note(axes, 7.7, 5.5, "those with the same letter: b4 and b7 are the tens", size=11)
    return figure


def rows_of_a_table() -> Figure:
    """A table of twelve vectors: without an offset, only the first four are used; with offsets, all get their turn."""
    with drawing(8.2, 4.0) as (figure, (axes,)):
        blank(axes, 16.4, 8.0)
        numbers = [str(number) for number in range(12)]
        cells(axes, 2.2, 1.2, [numbers], lit=[(0, i) for i in range(4)], title="no offset: always rows 0 to 3")
        for line, offset in enumerate((6, 1, 8)):
            title = "random offsets: 6, then 1, then 8" if line == 0 else ""
            cells(axes, 2.2, 3.8 + 1.2 * line, [numbers], lit=[(0, offset + i) for i in range(4)], title=title)
    return figure


def window_of_places() -> Figure:
    """345 + 678 = 1023 by places, ones first: to write the hundreds, a window of two sees places 2, 3 and 4."""
    with drawing(8.2, 4.1) as (figure, (axes,)):
        blank(axes, 16.4, 8.2)
        cells(axes, 6.0, 0.6, [["1", "2", "3", "4"]])
        note(axes, 5.6, 1.1, "place", size=11, ha="right")
        rows = (("first number", [5, 4, 3, ""]), ("second number", [8, 7, 6, ""]), ("answer so far", [3, 2, "?", ""]))
        for line, (name, values) in enumerate(rows):
            top = 2.4 + 1.6 * line
            lit = [(0, 2)] if line == 2 else [(0, 1), (0, 2), (0, 3)]
            cells(axes, 6.0, top, [values], lit=[*lit, (0, 1)] if line == 2 else lit)
            note(axes, 5.6, top + 0.5, name, size=11, ha="right")
        note(axes, 10.6, 6.1, "to be written: place 3", size=11, ha="left")
        note(axes, 10.6, 2.9, "framed: in sight, as their", size=11, ha="left")
        note(axes, 10.6, 3.6, "places differ by less than 2", size=11, ha="left")
    return figure


def table_entered_at_five() -> Figure:
    """345 + 78 by places, and the rows of a table of twelve that its digits get with a start of 5."""
    with drawing(8.2, 4.2) as (figure, (axes,)):
        blank(axes, 16.4, 8.4)
        rows = (("sum", list("345+78")), ("place", list("321021")), ("row", ["8", "7", "6", "zeros", "7", "6"]))
        for line, (name, values) in enumerate(rows):
            top = 0.6 + 1.5 * line
            for column, value in enumerate(values):
                cells(axes, 4.6 + 1.6 * column, top, [[value if value != "zeros" else "-"]])
            note(axes, 4.2, top + 0.5, name, size=11, ha="right")
        note(axes, 9.9, 4.95, "the plus gets zeros", size=10)
        numbers = [str(number) for number in range(12)]
        cells(axes, 2.2, 6.4, [numbers], lit=[(0, 6), (0, 7), (0, 8)], title="the table, with a start of 5")
    return figure


def one_digit_changed() -> Figure:
    """345+678 with a 4 that becomes a 7, and two outputs of four that move."""
    with drawing(8.2, 3.6) as (figure, (axes,)):
        blank(axes, 16.4, 7.2)
        cells(axes, 1.0, 0.8, [list("345+678")])
        cells(axes, 1.0, 2.6, [list("375+678")], lit=[(0, 1)])
        arrow(axes, (8.4, 1.3), (10.2, 1.3))
        arrow(axes, (8.4, 3.1), (10.2, 3.1))
        cells(axes, 10.6, 0.8, [["", "", "", ""]], title="outputs")
        cells(axes, 10.6, 2.6, [["", "", "", ""]], lit=[(0, 0), (0, 1)])
        note(axes, 8.2, 5.2, "framed: changed in the sum, and moved in the answer", size=11)
    return figure

"""Lesson 15's pictures: a row that comes twice, followers, a head taken out, two runs, and the circuit."""

from matplotlib.figure import Figure

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import arrow, blank, box, cells
from transformer_course.plots.style import drawing

__all__ = ["a_head_taken_out", "a_row_twice", "blocks_of_columns", "followers", "the_circuit", "two_runs"]


def a_row_twice() -> Figure:
    """The row k m t f a, twice; the second time, each next symbol can be known, but for the first."""
    with drawing(8.2, 2.6) as (figure, (axes,)):
        blank(axes, 16.4, 5.2)
        row = list("kmtfa")
        cells(axes, 3.2, 1.4, [row], title="a random row")
        cells(axes, 8.2, 1.4, [row], lit=[(0, place) for place in range(1, 5)], title="the same row")
        note(axes, 5.7, 2.9, "nobody can know these")
        note(axes, 10.8, 2.9, "framed: these can be known")
        note(axes, 8.2, 4.1, "after t came f. Here is a t again, so an f will follow.", size=11)
    return figure


def followers() -> Figure:
    """The row t f a m t: the last t has one follower, the f; a row b a b b has two followers for its last b."""
    with drawing(8.2, 3.2) as (figure, (axes,)):
        blank(axes, 16.4, 6.4)
        cells(axes, 1.4, 2.2, [list("tfamt")], lit=[(0, 1)])
        arrow(axes, (5.9, 2.1), (2.9, 2.1), bend=0.35)
        note(axes, 3.9, 3.9, "position 4 is read")
        note(axes, 3.9, 4.7, "its follower: position 1", size=11)
        cells(axes, 9.8, 2.2, [list("babb")], lit=[(0, 1), (0, 3)])
        arrow(axes, (13.3, 2.1), (11.3, 2.1), bend=0.35)
        note(axes, 11.8, 3.9, "position 3 is read")
        note(axes, 11.8, 4.7, "its followers: 1, and 3 itself", size=11)
    return figure


def a_head_taken_out() -> Figure:
    """Two heads write into the stream; one of them is set to zero, the other stays."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 16.4, 5.8)
        cells(axes, 1.4, 1.2, [[0.4, -1.2], [0.9, 0.3]], title="head 0")
        cells(axes, 4.6, 1.2, [[1.1, 0.2], [-0.5, 0.7]], title="head 1")
        arrow(axes, (7.2, 2.2), (8.8, 2.2))
        note(axes, 8.0, 1.7, "edit")
        cells(axes, 9.4, 1.2, [[0.4, -1.2], [0.9, 0.3]], title="head 0")
        cells(axes, 12.6, 1.2, [[0, 0], [0, 0]], lit=[(0, 0), (0, 1), (1, 0), (1, 1)], title="head 1")
        note(axes, 8.2, 4.5, "without_heads([(0, 1)]): two tokens, two heads of width two", size=11)
    return figure


def blocks_of_columns() -> Figure:
    """The output weight of two heads of width two: the first two columns belong to head 0, the others to head 1."""
    with drawing(8.2, 3.6) as (figure, (axes,)):
        blank(axes, 16.4, 7.2)
        weight = [[1, 0, 2, 1], [0, 1, 0, 3], [2, 1, 1, 0], [0, 4, 1, 2]]
        lit = [(row, column) for row in range(4) for column in (2, 3)]
        cells(axes, 6.2, 1.6, weight, lit=lit, title="the output layer's weight")
        note(axes, 7.2, 6.1, "head 0")
        note(axes, 9.2, 6.1, "head 1")
        note(axes, 5.8, 3.6, "a row for each number\nof the stream", ha="right")
    return figure


def two_runs() -> Figure:
    """A clean row and a corrupted one; what one head did at one position of the clean run is put into the other."""
    with drawing(8.2, 4.0) as (figure, (axes,)):
        blank(axes, 16.4, 8.0)
        cells(axes, 4.4, 1.2, [list("xtfmsagt")], lit=[(0, 2)])
        cells(axes, 4.4, 4.8, [list("xsfmtagt")], lit=[(0, 2)])
        note(axes, 4.0, 1.7, "clean", size=11, ha="right")
        note(axes, 4.0, 5.3, "corrupted", size=11, ha="right")
        note(axes, 12.8, 1.7, "next: f", size=11, ha="left")
        note(axes, 12.8, 5.3, "next: a", size=11, ha="left")
        arrow(axes, (6.9, 2.4), (6.9, 4.6))
        note(axes, 7.2, 3.5, "what a head did here is put in there", ha="left")
        note(axes, 8.2, 6.9, "t and s have changed places. Does the f come back?", size=11)
    return figure


def the_circuit() -> Figure:
    """Layer 0 writes into f that a t came before it; at the second t, layer 1 looks for that, and copies the f."""
    with drawing(8.2, 4.4) as (figure, (axes,)):
        blank(axes, 16.4, 8.8)
        cells(axes, 4.2, 6.0, [list("ktfamkt")])
        arrow(axes, (5.7, 5.8), (6.7, 4.6), bend=0.0)
        box(axes, 6.7, 4.1, "t came before me", width=3.6)
        note(axes, 3.0, 4.1, "layer 0, the\nprevious-token head", ha="center")
        arrow(axes, (10.7, 5.8), (8.0, 3.6), bend=0.35)
        note(axes, 12.7, 4.4, 'layer 1, an induction head:\n"who came after a t?"', ha="center")
        arrow(axes, (6.7, 3.5), (10.7, 2.2), bend=-0.2)
        box(axes, 11.6, 1.8, "next: f", width=2.2)
        note(axes, 8.2, 7.8, "t is read, for the second time", size=11)
    return figure

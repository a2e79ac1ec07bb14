"""Lesson 2's pictures: text cut into pieces, pieces numbered, rows padded, pairs counted and merged."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import QUIET
from transformer_course.plots.cells import LIT, arrow, blank, box, cells, sign
from transformer_course.plots.style import FRAME, drawing

__all__ = [
    "bytes_to_text",
    "counted_pairs",
    "example_layout",
    "id_ranges",
    "ids_to_text",
    "merges_in_turn",
    "padded_rows",
    "ranked_characters",
    "round_trip",
    "text_to_bytes",
    "text_to_ids",
    "three_ways_to_cut",
]


def _row(
    axes: Axes, left: float, y: float, tokens: Sequence[str], lit: Sequence[int] = (), letter: float = 0.62
) -> float:
    """Tokens as boxes side by side, each as wide as its letters; returns where the row ends."""
    for place, token in enumerate(tokens):
        width = 0.5 + letter * len(token)
        box(axes, left + width / 2, y, token.replace(" ", "·"), width=width)
        if place in lit:
            axes.patches[-1].set(facecolor=LIT, edgecolor=FRAME, linewidth=2.2)
        left += width + 0.18
    return left


def three_ways_to_cut() -> Figure:
    """The same two words as characters, as pieces and as words: many short tokens, or few long ones."""
    ways = [
        ("characters", list("the whalemen"), "12 tokens, from a vocabulary of a few dozen"),
        ("pieces", ["the", " ", "whale", "men"], "4 tokens, from a vocabulary of any size you like"),
        ("words", ["the", "whalemen"], "2 tokens, from a vocabulary of thousands"),
    ]
    with drawing(8.2, 3.4) as (figure, (axes,)):
        blank(axes, 17.6, 7.2)
        for place, (name, tokens, words) in enumerate(ways):
            y = 1.0 + 2.35 * place
            axes.text(0.1, y, name, va="center", weight="bold")
            _row(axes, 3.3, y, tokens, letter=0.5)
            axes.text(3.35, y + 1.0, words, va="center", size=10, color=QUIET)
    return figure


def ranked_characters() -> Figure:
    """The characters of "hello" and "hole", how often each occurs, and the ids that follow."""
    counts, ids = [["l", 3], ["h", 2], ["e", 2], ["o", 2]], [["l", 1], ["h", 2], ["e", 3], ["o", 4]]
    with drawing(7.4, 3.0) as (figure, (axes,)):
        blank(axes, 13.8, 5.6)
        cells(axes, 0.4, 1.4, [list("hello")], title="corpus")
        cells(axes, 0.4, 2.8, [list("hole")])
        arrow(axes, (5.8, 2.6), (6.8, 2.6))
        cells(axes, 7.3, 0.9, counts, title="how often")
        arrow(axes, (9.8, 2.6), (10.9, 2.6))
        cells(axes, 11.4, 0.9, ids, lit=[(place, 1) for place in range(4)], title="id")
    return figure


def text_to_ids() -> Figure:
    """The text "hole" above its ids 2, 4, 1, 3."""
    with drawing(6.4, 2.8) as (figure, (axes,)):
        blank(axes, 11.6, 5.2)
        cells(axes, 0.6, 1.0, [["l", 1], ["h", 2], ["e", 3], ["o", 4]], title="vocabulary")
        cells(axes, 6.0, 1.0, [list("hole")], title="text")
        for place in range(4):
            arrow(axes, (6.5 + place, 2.1), (6.5 + place, 3.1))
        cells(axes, 6.0, 3.2, [[2, 4, 1, 3]], lit=[(0, place) for place in range(4)])
        sign(axes, 4.4, 2.6, "→")
    return figure


def ids_to_text() -> Figure:
    """The ids 2, 4, 1, 3, 0, 0 above the text "hole": the two zeros become nothing."""
    with drawing(6.4, 2.1) as (figure, (axes,)):
        blank(axes, 11.6, 4.0)
        cells(axes, 2.6, 0.6, [[2, 4, 1, 3, 0, 0]], lit=[(0, place) for place in range(4)], title="ids")
        for place in range(4):
            arrow(axes, (3.1 + place, 1.7), (3.1 + place, 2.6))
        axes.text(7.6, 2.2, "padding:\nbecomes nothing", ha="center", va="center", size=10)
        cells(axes, 2.6, 2.7, [list("hole")])
    return figure


def padded_rows() -> Figure:
    """The sequences 5 6 7 and 8 as a (2, 4) tensor, padded with 0 on the right."""
    with drawing(6.4, 1.9) as (figure, (axes,)):
        blank(axes, 11.6, 3.4)
        cells(axes, 0.6, 0.8, [[5, 6, 7]], title="sequences")
        cells(axes, 0.6, 2.1, [[8]])
        arrow(axes, (4.3, 1.9), (5.9, 1.9))
        padding = [(0, 3), (1, 1), (1, 2), (1, 3)]
        cells(axes, 6.6, 0.9, [[5, 6, 7, 0], [8, 0, 0, 0]], lit=padding, title="(n, max_length) = (2, 4)")
    return figure


def example_layout() -> Figure:
    """The text "hole" in a row of seven: its four ids, two of padding, and the CLS token at the end."""
    with drawing(6.4, 1.9) as (figure, (axes,)):
        blank(axes, 12.6, 3.4)
        cells(axes, 2.8, 1.0, [[2, 4, 1, 3, 0, 0, 5]], lit=[(0, 6)], title="max_length = 7")
        for x, word in [(4.8, "the text"), (7.8, "padding"), (9.9, "CLS: index -1")]:
            axes.text(x, 2.5, word, ha="center" if x < 9 else "left", va="center", size=10)
        axes.annotate("", (9.4, 2.05), (9.8, 2.45), arrowprops={"arrowstyle": "-|>", "color": FRAME})
    return figure


def counted_pairs() -> Figure:
    """Words with how often each occurs, and their pairs of neighbours, counted."""
    with drawing(8.2, 2.8) as (figure, (axes,)):
        blank(axes, 17.0, 5.6)
        for y, word, count in [(1.2, "whale", 3), (2.6, "ale", 2), (4.0, "who", 2)]:
            axes.text(0.3, y, f"{count} times", va="center")
            _row(axes, 2.6, y, list(word), letter=0.4)
        arrow(axes, (8.8, 2.6), (10.2, 2.6))
        table = [
            ["a l", "3 + 2", "5"],
            ["l e", "3 + 2", "5"],
            ["w h", "3 + 2", "5"],
            ["h a", "3", "3"],
            ["h o", "2", "2"],
        ]
        axes.text(10.8, 0.5, "pair", weight="bold", va="center")
        axes.text(12.8, 0.5, "how often", weight="bold", va="center")
        for place, (pair, added, total) in enumerate(table):
            chosen = pair == "w h"
            weight = "bold" if chosen else "normal"
            axes.text(10.8, 1.4 + 0.85 * place, pair, va="center", weight=weight)
            words = total if added == total else f"{added} = {total}"
            axes.text(
                12.8,
                1.4 + 0.85 * place,
                words + ("   the largest of three" if chosen else ""),
                va="center",
                weight=weight,
            )
    return figure


def merges_in_turn() -> Figure:
    """The word "whales" cut with three merges, one after the other."""
    steps = [
        ("at first", ["w", "h", "a", "l", "e", "s"], []),
        ("a + l", ["w", "h", "al", "e", "s"], [2]),
        ("w + h", ["wh", "al", "e", "s"], [0]),
        ("wh + al", ["whal", "e", "s"], [0]),
    ]
    with drawing(6.4, 2.9) as (figure, (axes,)):
        blank(axes, 12.4, 5.6)
        for place, (name, tokens, lit) in enumerate(steps):
            axes.text(0.2, 0.8 + 1.35 * place, name, va="center")
            _row(axes, 3.2, 0.8 + 1.35 * place, tokens, lit)
    return figure


def id_ranges() -> Figure:
    """Who has which id: 0 is padding, then the 256 bytes, then the merged tokens in the order they were learnt."""
    groups = [(1.5, "0", "padding"), (6.0, "1 to 256", "bytes 0 to 255:\nbyte b has id b + 1")]
    with drawing(8.2, 2.2) as (figure, (axes,)):
        blank(axes, 17.0, 4.4)
        for x, ids, meaning in groups:
            box(axes, x, 1.2, ids, width=2.2 if x < 2 else 4.6)
            axes.text(x, 2.6, meaning, ha="center", va="center", size=10)
        for x, token, place in [(10.4, "th", "257"), (12.9, "in", "258"), (15.4, "the", "259")]:
            box(axes, x, 1.2, place, width=2.1)
            axes.patches[-1].set(facecolor=LIT, edgecolor=FRAME, linewidth=2.2)
            axes.text(x, 2.4, token, ha="center", va="center", weight="bold")
        axes.text(12.9, 3.4, "merged tokens, in the order they were learnt ...", ha="center", va="center", size=10)
    return figure


def _in_columns(axes: Axes, rows: Sequence[tuple[float, str, Sequence[str]]]) -> None:
    """Rows of boxes one above the other: "the", the space, and the two halves of the letter with two dots."""
    places = {4: [(4.6, 3.0), (8.0, 1.8), (10.9, 1.8), (13.4, 1.8)], 3: [(4.6, 3.0), (8.0, 1.8), (12.15, 4.3)]}
    for y, name, words in rows:
        axes.text(0.2, y, name, va="center", weight="bold")
        for (x, width), word in zip(places[len(words)], words, strict=True):
            box(axes, x, y, word, width=width)


def text_to_bytes() -> Figure:
    """The text "the ï" cut into tokens, and the ids that they become: one, one, and two."""
    with drawing(7.4, 2.9) as (figure, (axes,)):
        blank(axes, 14.8, 5.8)
        rows = [
            (0.8, "tokens", ["the", "·", "ï"]),
            (2.8, "bytes", ["merged", "32", "195", "175"]),
            (4.8, "ids", ["258", "33", "196", "176"]),
        ]
        _in_columns(axes, rows)
        for x in (4.6, 8.0, 10.9, 13.4):
            arrow(axes, (x, 1.4), (x, 2.2))
            arrow(axes, (x, 3.4), (x, 4.2))
    return figure


def bytes_to_text() -> Figure:
    """The ids 258, 33, 196, 176 and their bytes, which are decoded together; padding adds nothing."""
    with drawing(7.8, 2.9) as (figure, (axes,)):
        blank(axes, 18.4, 5.8)
        rows = [
            (0.8, "ids", ["258", "33", "196", "176"]),
            (2.8, "bytes", ["116 104 101", "32", "195", "175"]),
            (4.8, "text", ["the", "·", "ï"]),
        ]
        _in_columns(axes, rows)
        for x in (4.6, 8.0, 10.9, 13.4):
            arrow(axes, (x, 1.4), (x, 2.2))
            arrow(axes, (x, 3.4), (x, 4.2))
        box(axes, 16.5, 0.8, "0   0", width=2.6)
        axes.text(16.5, 2.4, "padding:\nadds nothing", ha="center", va="center", size=10)
    return figure


def round_trip() -> Figure:
    """A text goes through encode to ids and through decode back: is it the same text?"""
    with drawing(8.2, 1.9) as (figure, (axes,)):
        blank(axes, 16.8, 3.4)
        for x, text in [(2.0, "text\n'A  b'"), (8.3, "ids"), (14.6, "text\n'A  b' ?")]:
            box(axes, x, 1.5, text, width=3.2, height=1.5)
        for x, word in [(3.8, "encode"), (10.1, "decode")]:
            arrow(axes, (x, 1.5), (x + 2.7, 1.5))
            axes.text(x + 1.3, 1.15, word, ha="center", va="bottom")
        axes.text(8.3, 3.0, "the same text, character by character?", ha="center", va="center")
    return figure

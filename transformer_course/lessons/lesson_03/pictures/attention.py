"""Lesson 3's pictures, first sitting: a soft dictionary, attention as a matrix, a bag of tokens, positions."""

import numpy as np
from matplotlib.figure import Figure

from transformer_course.lessons.remarks import note
from transformer_course.lessons.tables import measured
from transformer_course.plots.cells import arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, FAINT, INK, drawing

__all__ = [
    "bag_of_tokens",
    "one_attention_layer",
    "one_hot_times_table",
    "positions_added",
    "soft_dictionary",
    "softmax_with_a_mask",
    "three_words_ask",
    "token_by_token",
    "what_cls_looks_at",
]

WORDS = ["cat", "sees", "ball"]
WEIGHTS = [0.665, 0.245, 0.09]  # the softmax of 2, 1, 0
KEYS = np.array([[2, 0, 1, 0], [1, 0, 0, 1], [0, 0, 2, 1]])
VALUES = np.array([[10, 0], [0, 10], [10, 10]])


def what_cls_looks_at() -> Figure:
    """Where the CLS token of a trained classifier looks, in two of its heads: thicker lines are larger weights."""
    table = measured("03_attention")
    tokens = list(table["token"].replace({"pad": "·"}))
    minus = tokens.index("-")
    on_minus, *others = sorted(table.columns[1:], key=lambda head: -table[head][minus])
    heads = [on_minus, max(others, key=lambda head: table[head][0] + table[head][minus + 1])]
    with drawing(8.2, 3.3) as (figure, (axes,)):
        blank(axes, 16.4, 6.4)
        for nth, head in enumerate(heads):
            top = 0.55 + 2.95 * nth
            axes.text(0.2, top + 1.95, head, va="center", weight="bold")
            for place, (token, weight) in enumerate(zip(tokens, table[head], strict=True)):
                x = 3.3 + 1.7 * place
                box(axes, x, top + 1.95, token, width=1.3, height=0.8)
                if weight >= 0.02:
                    end = 3.3 + 1.7 * (len(tokens) - 1)
                    bend = -0.25 if x < end else 0.0
                    start = (end - 0.1, top + 1.5) if x < end else (end + 0.3, top + 1.5)
                    stroke = {"arrowstyle": "-", "color": COLOURS[nth], "linewidth": 0.5 + 9 * weight, "alpha": 0.75}
                    stroke |= {"connectionstyle": f"arc3,rad={-bend}", "linestyle": "-"}
                    axes.annotate("", xy=(x, top + 1.5), xytext=start, arrowprops=stroke)
                note(axes, x, top + 2.62, f"{weight:.2f}", size=9.5)
    return figure


def soft_dictionary() -> Figure:
    """A dictionary gives one value for the key that matches; attention takes a share of each value."""
    taken = [0.7, 0.2, 0.1]  # not the shares of the text's example: those are guessed
    with drawing(8.2, 3.3) as (figure, (axes,)):
        blank(axes, 18.6, 7.4)
        axes.text(4.2, 0.4, "a dictionary", ha="center", weight="bold")
        axes.text(13.6, 0.4, "attention: a soft dictionary", ha="center", weight="bold")
        for left, shares in [(0.3, ["yes", "no", "no"]), (9.6, [str(share) for share in taken])]:
            note(axes, left + 1.2, 1.3, "query")
            note(axes, left + 3.9, 1.3, "key")
            note(axes, left + 5.6, 1.3, "match?" if left < 5 else "share")
            note(axes, left + 7.5, 1.3, "value")
            box(axes, left + 1.0, 3.3, "cat" if left < 5 else "who?", width=1.7, height=0.8)
            for row, (word, share) in enumerate(zip(WORDS, shares, strict=True)):
                y = 2.2 + 1.1 * row
                box(axes, left + 3.9, y, word, width=1.8, height=0.8)
                axes.text(left + 5.6, y, share, ha="center", va="center", weight="bold" if row == 0 else "normal")
                box(axes, left + 7.5, y, f"({[10, 0, 10][row]}, {[0, 10, 10][row]})", width=1.9, height=0.8)
                if left > 5 or row == 0:
                    width = 1 + 6 * taken[row] if left > 5 else 3
                    axes.plot([left + 1.9, left + 2.95], [3.3, y], color=COLOURS[0], linewidth=width)
        note(axes, 4.2, 5.9, "one key matches, or none", size=11)
        note(axes, 4.2, 6.7, "result: (10, 0)", size=11)
        note(axes, 13.6, 5.9, "every key matches a little", size=11)
        note(axes, 13.6, 6.7, "result: 0.7·(10, 0) + 0.2·(0, 10) + 0.1·(10, 10) = (8, 3)", size=11)
    return figure


def softmax_with_a_mask() -> Figure:
    """Three scores, the last one hidden: it counts as nothing, and the others share the whole."""
    with drawing(8.2, 2.5) as (figure, (axes,)):
        blank(axes, 18.4, 5.2)
        cells(axes, 0.4, 0.9, [["2", "1", "0"]], title="scores")
        cells(axes, 0.4, 3.2, [["yes", "yes", "no"]], title="mask: may look?", lit=[(0, 2)])
        arrow(axes, (3.8, 2.4), (5.4, 2.4))
        note(axes, 4.6, 1.9, "exp")
        cells(axes, 5.9, 1.9, [["7.39", "2.72", "0"]], title="hidden: 0", lit=[(0, 2)], below="sum: 10.11")
        arrow(axes, (9.3, 2.4), (11.3, 2.4))
        note(axes, 10.3, 1.9, "by the sum")
        cells(axes, 11.8, 1.9, [["0.73", "0.27", "0"]], title="weights", lit=[(0, 2)], below="sum: 1")
        note(axes, 16.7, 2.4, "not 0.665,\n0.245, 0.090")
    return figure


def three_words_ask() -> Figure:
    """All three words ask at once: Q times the transposed keys gives scores, softmax weights, and these mix values."""
    queries = np.array([[0, 0, 2, 0], [2, 1, 0, 0], [0, 0, 0, 2]])
    scores = queries @ KEYS.T
    exponentials = np.exp(scores / 2)
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    asking = [(1, column) for column in range(4)]  # what sees asks, as in the text
    with drawing(8.2, 5.2) as (figure, (axes,)):
        blank(axes, 18.0, 11.4)
        cells(axes, 1.6, 1.5, queries, lit=asking, title="queries Q (3, 4)")
        sign(axes, 6.3, 3.0, "·")
        cells(axes, 7.2, 1.0, KEYS.T, title="Kᵀ (4, 3)")
        arrow(axes, (10.7, 3.0), (12.5, 3.0))
        cells(
            axes, 13.4, 1.5, scores, lit=asking[:3], title="scores (3, 3)", below="halved, since √4 = 2, then softmax"
        )
        axes.plot([14.9, 14.9, 3.1], [5.5, 6.3, 6.3], color=INK, linewidth=1.6)
        arrow(axes, (3.1, 6.3), (3.1, 7.1))
        shares = [[f"{weight:.2f}"[1:] for weight in row] for row in weights]
        cells(axes, 1.6, 8.0, shares, lit=asking[:3], title="weights (3, 3)")
        sign(axes, 6.0, 9.5, "·")
        cells(axes, 7.2, 8.0, VALUES, title="values V (3, 2)")
        sign(axes, 11.5, 9.5, "=")
        output = [[f"{number:.1f}" for number in row] for row in weights @ VALUES]
        cells(axes, 13.4, 8.0, output, lit=asking[:2], title="output (3, 2)")
        for row, word in enumerate(WORDS):
            note(axes, 1.4, 2.0 + row, word, ha="right")
            note(axes, 7.7 + row, 5.3, word)
            note(axes, 16.6, 2.0 + row, word, ha="left")
            note(axes, 1.4, 8.5 + row, word, ha="right")
            note(axes, 9.4, 8.5 + row, word, ha="left")
            note(axes, 15.6, 8.5 + row, word, ha="left")
    return figure


def one_hot_times_table() -> Figure:
    """A one-hot row times a table is one row of the table: an embedding looks it up, without multiplying."""
    table = [["0.3", "-1", "0.5"], ["2", "0.1", "1"], ["-0.4", "0.7", "1.2"], ["1", "0", "-2"]]
    one_hot = [[0, 0, 1, 0]]
    row = [(2, column) for column in range(3)]
    with drawing(8.2, 2.8) as (figure, (axes,)):
        blank(axes, 18.0, 6.0)
        note(axes, 0.6, 2.9, "id 2", size=11, ha="left")
        cells(axes, 2.0, 2.4, one_hot, lit=[(0, 2)], title="one-hot (1, 4)")
        for place in range(4):
            note(axes, 2.5 + place, 3.75, f"{place}")
            note(axes, 7.2, 1.4 + place, f"{place}", ha="right")
        sign(axes, 6.4, 2.9, "·")
        cells(axes, 7.5, 0.9, table, lit=row, title="embedding.weight (4, 3)", below="one row for each id, learnt")
        sign(axes, 11.6, 2.9, "=")
        cells(axes, 12.6, 2.4, [table[2]], lit=[(0, column) for column in range(3)], title="token (1, 3)")
        note(axes, 14.1, 4.1, "row 2 of the table")
    return figure


def one_attention_layer() -> Figure:
    """The same x goes through three Linear layers and becomes queries, keys and values of one attention."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 17.4, 6.2)
        box(axes, 1.6, 3.0, "x\n(batch, length,\nd_model)", width=3.1, height=1.9)
        for y, name, role in [(1.0, "query", "queries"), (3.0, "key", "keys"), (5.0, "value", "values")]:
            arrow(axes, (3.25, 3.0), (4.6, y))
            box(axes, 6.0, y, f"self.{name}\nLinear", width=2.6, height=1.2)
            end = {"query": 2.5, "key": 3.0, "value": 3.5}[name]
            arrow(axes, (7.4, y), (10.2, end))
            note(axes, 8.6, y + (0.35 if name == "value" else -0.35 if name == "query" else -0.3), role)
        box(axes, 11.8, 3.0, "scaled\ndot-product\nattention", width=3.0, height=2.0)
        arrow(axes, (13.4, 2.6), (14.6, 2.0))
        arrow(axes, (13.4, 3.4), (14.6, 4.2))
        axes.text(14.8, 2.0, "output\n(batch, length,\nd_model)", va="center", size=10)
        axes.text(14.8, 4.4, "weights\n(batch, length,\nlength)", va="center", size=10)
    return figure


def bag_of_tokens() -> Figure:
    """Two texts with opposite answers hold the same tokens, so an attention layer mixes the same vector for both."""
    with drawing(8.2, 2.6) as (figure, (axes,)):
        blank(axes, 17.4, 5.4)
        for y, text, label in [(1.0, "32-4", "yes: 32 is larger"), (3.4, "4-32", "no: 4 is not")]:
            cells(axes, 0.4, y, [list(text)])
            note(axes, 2.4, y + 1.4, label)
            arrow(axes, (4.8, y + 0.5), (7.2, 2.5))
        box(axes, 8.9, 2.5, "one bag:\n2  3  4  -", width=3.0, height=1.7)
        arrow(axes, (10.6, 2.5), (12.6, 2.5))
        note(axes, 11.6, 1.9, "mix by\nweight")
        box(axes, 14.8, 2.5, "one vector,\none answer", width=4.0, height=1.5)
    return figure


def token_by_token() -> Figure:
    """Attention draws lines between the tokens; a feed-forward network treats each token by itself."""
    with drawing(8.2, 3.0) as (figure, (axes,)):
        blank(axes, 17.6, 6.4)
        for left, title in [(0.6, "attention: between tokens"), (9.6, "feed-forward: each token alone")]:
            axes.text(left + 3.4, 0.5, title, ha="center", weight="bold")
            for place, symbol in enumerate("32-4"):
                x = left + 0.8 + 1.75 * place
                box(axes, x, 1.7, symbol, width=1.2, height=0.8)
                box(axes, x, 5.2, f"new {symbol}", width=1.5, height=0.8)
                if left < 5:
                    for other in range(4):
                        axes.plot([left + 0.8 + 1.75 * other, x], [2.15, 4.75], color=FAINT, linewidth=1.1)
                else:
                    arrow(axes, (x, 2.15), (x, 2.95))
                    box(axes, x, 3.4, "MLP", width=1.3, height=0.8)
                    arrow(axes, (x, 3.85), (x, 4.75))
        note(axes, 13.0, 6.1, "the same MLP, four times")
    return figure


def positions_added() -> Figure:
    """The token 4 has one vector; with its position's vector added, 4 in front and 4 at the end become different."""
    with drawing(8.2, 2.7) as (figure, (axes,)):
        blank(axes, 17.6, 5.7)
        for top, title, place, row, total in [
            (0.9, "4 in front", "position 0", ["0.5", "0"], ["1.5", "2"]),
            (3.7, "4 at the end", "position 3", ["-1", "0.2"], ["0", "2.2"]),
        ]:
            axes.text(0.2, top + 0.5, title, va="center", weight="bold")
            cells(axes, 4.0, top, [["1", "2"]], title="token 4" if top < 2 else "")
            sign(axes, 6.7, top + 0.5, "+")
            cells(axes, 7.4, top, [row], title="its position" if top < 2 else "", below=place)
            sign(axes, 10.1, top + 0.5, "=")
            cells(axes, 10.8, top, [total], lit=[(0, 0), (0, 1)], title="what attention sees" if top < 2 else "")
        note(axes, 15.4, 2.6, "one token,\ntwo positions:\ntwo vectors", size=11)
    return figure

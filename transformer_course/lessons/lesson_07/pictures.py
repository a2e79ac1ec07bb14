"""Lesson 7's pictures: a row that is written token by token, ways to cut a distribution, a tree of answers, a cache."""

from collections.abc import Collection

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_course.lessons.remarks import note
from transformer_course.plots.cells import LIT, PALE, arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, DASHES, FAINT, FRAME, INK, drawing

__all__ = [
    "alone_and_together",
    "best_of_many",
    "cache_grid",
    "one_step_of_a_decoder",
    "rows_that_end",
    "temperatures",
    "top_k_cut",
    "top_p_cut",
    "tree_of_answers",
    "writes_and_reads",
]

DONE = "#e4e2da"


def writes_and_reads() -> Figure:
    """Three steps of writing abc backwards: what the model reads, what it says, and where it reads that again."""
    with drawing(8.2, 3.2) as (figure, (axes,)):
        blank(axes, 17.0, 6.4)
        note(axes, 0.6, 0.4, "reads", ha="left")
        note(axes, 8.0, 0.4, "model", ha="center")
        note(axes, 11.1, 0.4, "says", ha="center")
        for step, (reads, says) in enumerate([("^", "c"), ("^c", "b"), ("^cb", "a")]):
            y = 1.0 + 1.7 * step
            cells(axes, 0.6, y, [list(reads)], lit=[(0, step)] if step else [])
            arrow(axes, (4.8, y + 0.5), (6.5, y + 0.5))
            box(axes, 8.0, y + 0.5, "source abc", width=2.8)
            arrow(axes, (9.5, y + 0.5), (10.5, y + 0.5))
            cells(axes, 10.7, y, [[says]])
            if step < 2:
                axes.plot(
                    [11.2, 11.2, step + 2.1, step + 2.1], [y + 1.0, y + 1.35, y + 1.35, y + 1.65], color=COLOURS[1]
                )
        note(axes, 12.4, 2.4, "what it says now,\nit reads next", ha="left")
    return figure


def rows_that_end() -> Figure:
    """Three answers of a batch that end at steps 2, 4 and 3: after its end each row holds padding."""
    with drawing(7.0, 3.0) as (figure, (axes,)):
        blank(axes, 13.6, 5.7)
        table = ["a.__", "cba.", "ba._"]
        for column in range(4):
            note(axes, 5.0 + column, 0.35, f"{column + 1}")
        note(axes, 4.2, 0.35, "step", ha="right")
        ends = [(0, 1), (1, 3), (2, 2)]
        cells(axes, 4.5, 0.8, [list(row) for row in table], lit=ends)
        for row, source in enumerate(("a", "abc", "ab")):
            axes.text(4.2, 1.3 + row, source, ha="right", va="center", weight="bold")
            for column, token in enumerate(table[row]):
                if token == "_":
                    corner = (4.5 + column, 0.8 + row)
                    axes.add_patch(Rectangle(corner, 1, 1, facecolor=DONE, edgecolor=FAINT, linewidth=1, zorder=1.2))
        note(axes, 8.9, 1.3, "has ended: padding from now on", ha="left")
        note(axes, 8.9, 2.3, "the last to end", ha="left")
        note(axes, 6.5, 4.6, "after step 4 every row has ended, and the loop stops")
    return figure


def _bars(axes: Axes, probabilities: Collection[float], chosen: Collection[int], names: str = "abcdef") -> None:
    values = list(probabilities)
    for place, value in enumerate(values):
        inside = place in chosen
        axes.bar(
            place,
            value,
            0.7,
            color=LIT if inside else PALE,
            edgecolor=FRAME if inside else FAINT,
            linewidth=1.8 if inside else 1,
            hatch=None if inside else "//",
        )
        axes.text(place, value + 0.015, f"{value:.2f}", ha="center", va="bottom", size=9)
    axes.set_xticks(range(len(values)), list(names[: len(values)]))
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def temperatures() -> Figure:
    """The logits 2, 1, 0 at temperatures 0.5, 1 and 2: sharper, unchanged, flatter."""
    with drawing(7.6, 2.5, columns=3, sharey=True) as (figure, panels):
        logits = np.array([2.0, 1.0, 0.0])
        for panel, (temperature, name) in zip(
            panels, ((0.5, "cautious"), (1.0, "unchanged"), (2.0, "bold")), strict=True
        ):
            weights = np.exp(logits / temperature)
            _bars(panel, weights / weights.sum(), chosen=range(3))
            panel.set_title(f"temperature {temperature:g}: {name}", size=11)
            panel.set_ylim(0, 1.0)
    return figure


PROBABILITIES = (0.5, 0.25, 0.15, 0.07, 0.03)


def top_k_cut() -> Figure:
    """Five probabilities, .5, .25, .15, .07 and .03: with k = 2 the first two stay, scaled up to .67 and .33."""
    with drawing(7.0, 2.5, columns=2, sharey=True) as (figure, panels):
        _bars(panels[0], PROBABILITIES, chosen=(0, 1))
        panels[0].set_title("k = 2: the two most likely stay", size=11)
        _bars(panels[1], [0.5 / 0.75, 0.25 / 0.75, 0, 0, 0], chosen=(0, 1))
        panels[1].set_title("the probabilities after that", size=11)
        panels[0].set_ylim(0, 0.8)
    return figure


def top_p_cut() -> Figure:
    """The same probabilities, added up from the most likely on: .5, .75, .90 crosses p = 0.8, so three tokens stay."""
    with drawing(7.4, 2.8, columns=2) as (figure, panels):
        _bars(panels[0], PROBABILITIES, chosen=(0, 1, 2))
        panels[0].set_ylim(0, 0.7)
        panels[0].set_title("p = 0.8: three stay", size=11)
        running = np.cumsum(PROBABILITIES)
        panels[1].plot(range(5), running, color=COLOURS[0], marker="o")
        for place, total in enumerate(running):
            panels[1].annotate(
                f"{total:.2f}", (place, total), xytext=(6, -11), textcoords="offset points", size=9, va="center"
            )
        panels[1].axhline(0.8, color=COLOURS[1], linestyle=DASHES[1])
        panels[1].text(-0.35, 0.82, "p = 0.8", color=COLOURS[1], size=9, va="bottom")
        panels[1].set(ylim=(0.4, 1.12), xlim=(-0.4, 4.6), yticks=[])
        panels[1].set_xticks(range(5), list("abcde"))
        panels[1].set_title("running sum, most likely first", size=11)
    return figure


def tree_of_answers() -> Figure:
    """All answers of a small model: greedy takes a (0.6) and ends at 0.24; the most likely answer has 0.36."""
    with drawing(8.2, 4.0) as (figure, (axes,)):
        blank(axes, 17.2, 8.4)
        nodes = {
            "": (1.2, 4.0, "^"),
            "a": (5.2, 2.4, "a"),
            "b": (5.2, 6.4, "b"),
            "aa": (9.2, 0.8, "aa"),
            "ab": (9.2, 2.4, "ab"),
            "a.": (9.2, 4.0, "a."),
            "b.": (9.2, 5.8, "b."),
            "ba": (9.2, 7.4, "ba"),
            "aa.": (13.2, 0.8, "aa."),
            "ab.": (13.2, 2.4, "ab."),
            "ba.": (13.2, 7.4, "ba."),
        }
        probabilities = {"a": "0.6", "b": "0.4", "aa": "0.4", "ab": "0.3", "a.": "0.3", "b.": "0.9", "ba": "0.1"}
        probabilities |= {"aa.": "1", "ab.": "1", "ba.": "1"}
        greedy, best = ("a", "aa", "aa."), ("b", "b.")
        for name, probability in probabilities.items():
            x, y, _ = nodes[name]
            from_x, from_y, _ = nodes[name[:-1]]
            arrow(axes, (from_x + 0.75, from_y), (x - 0.75, y), dashed=name in greedy)
            if name in best:
                axes.texts[-1].arrow_patch.set_linewidth(3.2)  # type: ignore[attr-defined]
            right = 0.4 if y > from_y else 0.0  # beside a line that falls, above one that rises
            axes.text(
                (from_x + x) / 2 + right, (from_y + y) / 2 - 0.32, probability, ha="center", va="center", weight="bold"
            )
        for x, y, text in nodes.values():
            box(axes, x, y, text, width=1.4, height=0.9)
        totals = {"aa.": "0.24  greedy", "ab.": "0.18", "a.": "0.18", "b.": "0.36  most likely", "ba.": "0.04"}
        for name, total in totals.items():
            x, y, _ = nodes[name]
            axes.text(x + 0.95, y, total, va="center", weight="bold" if " " in total else "normal")
    return figure


def best_of_many() -> Figure:
    """Four sampled answers to abc with their log-likelihoods: -1.2 is kept, although the right one had -2.0."""
    with drawing(7.8, 3.2) as (figure, (axes,)):
        blank(axes, 16.0, 6.4)
        answers = [
            ("cba.", "-2.0", "right"),
            ("cbb.", "-1.2", "wrong"),
            ("cab.", "-3.4", "wrong"),
            ("ccb.", "-4.1", "wrong"),
        ]
        for row, (answer, score, verdict) in enumerate(answers):
            y = 1.0 + 1.15 * row
            cells(axes, 0.6, y, [list(answer)])
            axes.text(6.2, y + 0.5, score, ha="center", va="center", weight="bold" if score == "-1.2" else "normal")
            axes.text(
                8.6, y + 0.5, verdict, ha="center", va="center", weight="bold" if verdict == "right" else "normal"
            )
        note(axes, 2.6, 0.4, "four sampled answers")
        note(axes, 6.2, 0.4, "log-likelihood")
        note(axes, 8.6, 0.4, "right?")
        axes.add_patch(Rectangle((0.35, 2.02), 6.9, 1.27, fill=False, edgecolor=FRAME, linewidth=2.2))
        note(axes, 10.4, 2.65, "best of 4 keeps this one", ha="left")
        note(axes, 10.4, 1.5, "pass@4 counts this one", ha="left")
        note(axes, 10.4, 5.1, "pass@4 needs somebody who can tell,\nbest of 4 needs only the model", ha="left")
    return figure


def cache_grid() -> Figure:
    """Five steps of writing: without a cache, step t reads t tokens, 15 in all; with one, one per step, 5 in all."""
    with drawing(7.4, 3.5) as (figure, (axes,)):
        blank(axes, 15.0, 7.0)
        for left, name, cached in ((1.6, "without a cache", False), (9.0, "with a cache", True)):
            axes.text(left + 2.5, 0.4, name, ha="center", va="center", weight="bold")
            for step in range(5):
                note(axes, left - 0.3, 1.3 + step, f"{step + 1}", ha="right")
                for token in range(step + 1):
                    new = not cached or token == step
                    axes.add_patch(
                        Rectangle(
                            (left + token + 0.05, 0.85 + step),
                            0.9,
                            0.9,
                            facecolor=LIT if new else DONE,
                            edgecolor=FRAME if new else FAINT,
                            linewidth=1.8 if new else 0.8,
                        )
                    )
                    axes.text(
                        left + token + 0.5, 1.3 + step, "read" if new else "kept", ha="center", va="center", size=8
                    )
        note(axes, 4.1, 6.4, "1 + 2 + 3 + 4 + 5 = 15 tokens read")
        note(axes, 11.5, 6.4, "5 tokens read")
        note(axes, 0.7, 3.3, "step")
    return figure


def one_step_of_a_decoder() -> Figure:
    """One token goes in, its key and value join those in the cache, and logits for the next token come out."""
    with drawing(8.2, 4.9) as (figure, (axes,)):
        blank(axes, 18.0, 10.7)
        for x, y, word in (
            (2.9, 0.6, "goes in"),
            (9.0, 2.6, "each block"),
            (14.7, 0.6, "is kept"),
            (15.6, 8.8, "comes out"),
        ):
            axes.text(x, y, word, ha="center", va="center", weight="bold")
        cells(axes, 0.4, 1.4, [["^", "c", "b"]], lit=[(0, 2)])
        note(axes, 3.7, 2.0, "the newest token,\nat position 2", ha="left")
        arrow(axes, (2.9, 2.5), (2.9, 3.35))
        box(axes, 2.9, 4.0, "embedding, and\nrow 2 of positions", width=4.6, height=1.2)
        arrow(axes, (5.3, 4.0), (6.7, 4.0))
        note(axes, 6.0, 3.5, "x")
        box(axes, 9.0, 4.0, "self-attention", width=4.4, height=1.0)
        arrow(axes, (11.3, 3.7), (12.9, 2.9))
        note(axes, 11.6, 2.5, "its key\nand value")
        arrow(axes, (12.9, 4.0), (11.3, 4.2))
        note(axes, 11.4, 5.1, "all keys and\nvalues so far", ha="left")
        cells(axes, 13.2, 2.4, [["k₀", "k₁", "k₂"], ["v₀", "v₁", "v₂"]], lit=[(0, 2), (1, 2)])
        note(axes, 14.7, 1.9, "the cache of this block")
        note(axes, 14.2, 4.75, "earlier")
        note(axes, 15.7, 4.75, "new")
        arrow(axes, (9.0, 4.6), (9.0, 5.5))
        box(axes, 9.0, 6.0, "cross-attention", width=4.4, height=1.0)
        box(axes, 2.9, 6.0, "encoder states", width=4.6, height=1.0)
        arrow(axes, (5.3, 6.0), (6.7, 6.0))
        arrow(axes, (9.0, 6.6), (9.0, 7.5))
        box(axes, 9.0, 8.0, "feed-forward", width=4.4, height=1.0)
        arrow(axes, (9.0, 8.6), (9.0, 9.5))
        note(axes, 9.2, 10.1, "after the last block: norm, head")
        arrow(axes, (12.6, 10.0), (13.7, 10.0))
        axes.text(13.9, 10.0, "logits for the next token\n(batch, 1, vocab_size)", va="center", size=10)
    return figure


def alone_and_together() -> Figure:
    """A source in a batch and the same source alone: apart from padding, its answer must be the same."""
    with drawing(7.6, 3.0) as (figure, (axes,)):
        blank(axes, 15.4, 5.9)
        cells(axes, 0.6, 0.9, [["a", "_", "_"], ["a", "b", "c"]], lit=[(0, 0)], title="in a batch")
        arrow(axes, (3.9, 1.9), (5.6, 1.9))
        cells(axes, 6.0, 0.9, [["a", ".", "_", "_"], ["c", "b", "a", "."]], lit=[(0, 0), (0, 1)])
        cells(axes, 0.6, 4.1, [["a", "_", "_"]], lit=[(0, 0)], title="alone")
        arrow(axes, (3.9, 4.6), (5.6, 4.6))
        cells(axes, 6.0, 4.1, [["a", "."]], lit=[(0, 0), (0, 1)])
        sign(axes, 11.5, 2.9, "=  ?", size=15)
        note(axes, 12.3, 2.9, "padding does\nnot count", ha="left")
        axes.plot([10.3, 10.6, 10.6, 10.3], [1.4, 1.4, 4.6, 4.6], color=INK, linewidth=1.2)
    return figure

"""Progress as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from grader.learning.standing import Standing

BAR = 12


def progress_table(standings: Sequence[Standing]) -> Table:
    """A line for each lesson: exercises done, points, a bar, and what comes next."""
    table = Table(box=None, pad_edge=False)
    table.add_column("lesson", no_wrap=True)
    table.add_column("exercises", justify="right", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("next", overflow="fold")
    for standing in standings:
        offer = standing.offer
        table.add_row(
            offer.name,
            f"{standing.done} of {len(offer.exercises)}",
            f"{standing.points:g} / {offer.points:g}",
            bar(standing.points, offer.points),
            _next(standing),
        )
    return table


def in_a_line(standings: Sequence[Standing], folder: Path) -> str:
    """All lessons together."""
    done, exercises = sum(s.done for s in standings), sum(len(s.offer.exercises) for s in standings)
    points, full = sum(s.points for s in standings), sum(s.offer.points for s in standings)
    return f"{done} of {exercises} exercises, {points:g} of {full:g} points, in {folder}"


def bar(part: float, whole: float) -> str:
    """A bar of text: full only when all is there, begun as soon as anything is.

    >>> bar(0, 3), bar(0.1, 3), bar(2.9, 3), bar(3, 3)
    ('............', '#...........', '###########.', '############')
    """
    if whole <= 0 or part <= 0:
        return "." * BAR
    filled = BAR if part >= whole else min(max(round(BAR * part / whole), 1), BAR - 1)
    return "#" * filled + "." * (BAR - filled)


def _next(standing: Standing) -> str:
    if standing.notebook is None:
        return "not in this folder"
    return standing.next.symbol if standing.next is not None else "all done"

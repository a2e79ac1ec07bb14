"""Progress as a table for the terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cellcheck.learning.standing import LessonStanding

BAR = 12


def progress_table(standings: Sequence[LessonStanding], console: Console) -> Table:
    """A line for each lesson: what is solved, its points, a bar, and what comes next; and what was tried again, if any.

    No name is broken: where they'd be, there is no bar.
    """
    table = _table(standings, bars=True)
    needed = console.measure(table, options=console.options.update(width=1000)).minimum
    return table if needed <= console.width else _table(standings, bars=False)


def _table(standings: Sequence[LessonStanding], *, bars: bool) -> Table:
    tried = any(standing.tried_again for standing in standings)
    table = Table(box=None, pad_edge=False)
    table.add_column("lesson", no_wrap=True)
    table.add_column("solved", justify="right", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    if bars:
        table.add_column("", no_wrap=True)
    table.add_column("next", overflow="fold")
    if tried:
        table.add_column("again, without help", justify="right")
    for standing in standings:
        offer = standing.offer
        table.add_row(
            offer.name,
            f"{standing.done}/{len(offer.exercises)}",
            f"{standing.points:g}/{offer.points:g}",
            *([bar(standing.points, offer.points)] if bars else []),
            _next(standing),
            *([f"{standing.still_known} of {standing.tried_again}" if standing.tried_again else ""] if tried else []),
        )
    return table


def in_a_line(standings: Sequence[LessonStanding], folder: Path) -> str:
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


def _next(standing: LessonStanding) -> str:
    if standing.notebook is None:
        return "not in this folder"
    if standing.next is not None:
        return standing.next.symbol
    return "all done" if standing.done == len(standing.offer.exercises) else "the rest is ours"

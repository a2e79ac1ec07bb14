"""Who is who, in a table for the terminal."""

from __future__ import annotations

from collections import Counter

from rich.markup import escape
from rich.table import Table

from grader.collecting.collect import Collected
from grader.collecting.sorting import Submission
from grader.plain import named, visible


def who_table(collected: Collected) -> Table:
    """A line for each submission: what the platform calls its learner, nbgrader's name, and what was done."""
    table = Table(box=None, pad_edge=False)
    for column in ("handed in by", "learner", "lesson", "", "to know"):
        table.add_column(column, overflow="fold")
    for made, done in collected.placed:
        told = made.owner.shown if made.owner.platform == "folder" else f"{made.owner.shown}, {made.owner.platform}"
        table.add_row(*(escape(visible(text)) for text in (told, made.student, made.lesson, done, to_know(made))))
    return table


def doubt_lines(collected: Collected) -> list[str]:
    """A line for each thing that was not collected, and why."""
    return [f"{visible(doubt.where)}: {visible(doubt.why, limit=1000)}" for doubt in collected.doubts]


def missing_lines(collected: Collected) -> list[str]:
    """A line for each lesson: who on the roster handed in nothing."""
    return [
        f"{lesson}{': ' * bool(lesson)}{len(students)} on the roster handed in nothing: {named(students, limit=1000)}"
        for lesson, students in collected.missing.items()
        if students
    ]


def to_know(made: Submission) -> str:
    """What the platform said about a submission, and what was decided about it."""
    handed_in = f"{made.time:%Y-%m-%d %H:%M} UTC" if made.time is not None else ""
    more = f"{len(made.others)} other file{'s' * (len(made.others) != 1)}" if made.others else ""
    return "; ".join(text for text in (handed_in, "late" if made.late else "", more, *made.notes) if text)


def in_a_line(collected: Collected) -> str:
    """How many of each: "12 collected, 2 already there, 1 in doubt"."""
    counts = Counter(done for _, done in collected.placed)
    parts = [f"{count} {done}" for done, count in counts.items()]
    return ", ".join([*parts, *([f"{len(collected.doubts)} in doubt"] if collected.doubts else [])])

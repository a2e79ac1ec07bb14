"""Who is who, in a table for the terminal."""

from collections import Counter

from rich.markup import escape
from rich.table import Table

from cellcheck.collecting.collect import Collected
from cellcheck.collecting.sorting import Submission
from cellcheck.plain import named, visible


def who_table(collected: Collected) -> Table:
    """A line for each submission: what the platform calls its learner, nbgrader's name, and what was done."""
    table = Table(box=None, pad_edge=False)
    for column in ("handed in by", "learner", "lesson", "", "to know"):
        table.add_column(column, overflow="fold")
    for submission, done in collected.placed:
        caller = (
            submission.owner.shown
            if submission.owner.platform == "folder"
            else f"{submission.owner.shown}, {submission.owner.platform}"
        )
        table.add_row(
            *(
                escape(visible(text))
                for text in (caller, submission.student, submission.lesson, done, to_know(submission))
            )
        )
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


def stranger_lines(collected: Collected) -> list[str]:
    """A line about those who were collected without the roster, and now look like other people than those on it."""
    if not collected.strangers:
        return []
    names = named(collected.strangers, limit=1000)
    return [
        f"Collected earlier and not on the roster ({len(collected.strangers)}): {names}. If one of them is on the "
        "roster under another name, that learner is now listed twice. Run cellcheck forget with the old name, then "
        "collect and grade that work again with the roster."
    ]


def to_know(submission: Submission) -> str:
    """What the platform said about a submission, and what was decided about it."""
    handed_in = f"{submission.time:%Y-%m-%d %H:%M} UTC" if submission.time is not None else ""
    if not handed_in and submission.clock is not None:
        handed_in = f"{submission.clock:%Y-%m-%d %H:%M} UTC by their own clock"
    notebooks = sum(name.endswith(".ipynb") for name in submission.others)
    counts = (("notebook", notebooks), ("file", len(submission.others) - notebooks))
    more = ", ".join(f"{count} other {what}{'s' * (count != 1)}" for what, count in counts if count)
    return "; ".join(text for text in (handed_in, "late" if submission.late else "", more, *submission.notes) if text)


def in_a_line(collected: Collected) -> str:
    """How many of each: "12 collected, 2 already there, 1 in doubt". A learner's doubtful files count once."""
    counts = Counter(done for _, done in collected.placed)
    parts = [f"{count} {done}" for done, count in counts.items()]
    doubted = {doubt.students or (doubt.where,) for doubt in collected.doubts}
    return ", ".join([*parts, *([f"{len(doubted)} in doubt"] if doubted else [])])

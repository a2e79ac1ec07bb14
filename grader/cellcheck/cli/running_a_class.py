"""Commands about a class that are seldom needed: when something is due, and what is deleted."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import ASSIGNMENT, app, known_assignment, out
from cellcheck.errors import GraderError
from cellcheck.plain import visible


@app.command(rich_help_panel="For a class")
def due(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    when: Annotated[
        str | None,
        typer.Argument(help="Such as '2026-03-01 23:59', in this machine's time zone unless it names another."),
    ] = None,
    student: Annotated[str | None, typer.Option("--for", help="Only for this learner: an extension.")] = None,
) -> None:
    """Set when an assignment is due, for everybody or for one learner. Without a time, say when it is."""
    from cellcheck.collecting.roster import time_of
    from cellcheck.gradebook.course import Course
    from cellcheck.lateness import due_lines, set_due

    name, its_lesson = known_assignment(lesson)
    course = Course.open(Path.cwd())
    if when is not None:
        try:
            time = time_of(when)
        except ValueError:
            raise GraderError(f"{when!r} is not a time: write it as '2026-03-01 23:59'.") from None
        course.ensure_assignment(name, plain=its_lesson is None)
        set_due(course, name, time, student)
    elif student is not None:
        raise GraderError(f"Say until when {student} has time.")
    for line in due_lines(course, name):
        out.print(escape(line), highlight=False, soft_wrap=True)
    if when is not None:
        out.print("If it has been graded already: cellcheck autograde --resume works the penalties out again.")


@app.command(rich_help_panel="For a class")
def forget(student: Annotated[str, typer.Argument(help="The learner, as their folder is called.")]) -> None:
    """Delete all that the course's folder and its gradebook hold about one learner."""
    from cellcheck.forgetting import forget as forget_all
    from cellcheck.forgetting import kept_about
    from cellcheck.gradebook.course import Course

    course = Course.open(Path.cwd())
    kept_about(course, student)
    if sys.stdin.isatty():
        typer.confirm(
            f"Delete all work and marks of {visible(student)}? Nothing brings them back.", abort=True, err=True
        )
    done = forget_all(course, student)
    if not done:
        raise GraderError(f"Nothing is kept here about {student!r}. Folders are called as in submitted/.")
    for what in done:
        out.print(escape(f"deleted: {what}"), highlight=False, soft_wrap=True)
    out.print(
        "Not deleted, since these are yours: class lists, exported marks, pages about the class, downloads.",
        highlight=False,
        soft_wrap=True,
    )

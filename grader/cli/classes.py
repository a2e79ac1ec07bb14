"""Commands for both ends of a class: what learners handed in, and the marks that go back."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from grader.cli.shared import ASSIGNMENT, app, err, known_assignment, out, write_text
from grader.errors import GraderError
from grader.plain import named, visible


class Format(StrEnum):
    """The systems that `grader export` writes for."""

    csv = "csv"
    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"


@app.command(rich_help_panel="For a class")
def collect(
    paths: Annotated[
        list[Path], typer.Argument(help="Folders, zip files or notebooks, as downloaded from a platform.")
    ],
    lesson: Annotated[
        str | None,
        typer.Option(
            help="Collect only this lesson, including notebooks that don't say which one they are; or an assignment of "
            "your own."
        ),
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="Where to put them; by default the course's submitted/.", file_okay=False)
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="A CSV file that says who is who: student, and what platforms call them.")
    ] = None,
) -> None:
    """Put what learners handed in (Moodle, Canvas, Gradescope, submit()) into nbgrader's submitted/."""
    from grader.collecting.collect import collect as collect_all
    from grader.collecting.roster import Roster
    from grader.collecting.tables import doubt_lines, in_a_line, missing_lines, who_table

    name, plain = None, None
    if lesson is not None:
        name, is_lesson = known_assignment(lesson)
        if is_lesson is None:
            from grader.gradebook.course import Course
            from grader.gradebook.writer import released_aside

            plain = released_aside(Course.open(Path.cwd()), name)
    if into is None:
        from grader.gradebook.course import Course

        course = Course.open(Path.cwd())
        into = course.root / str(course.directory.submitted_directory)
    known = Roster.read(roster) if roster is not None else None
    collected = collect_all(paths, into, name, known, ask if sys.stdin.isatty() and err.is_terminal else None, plain)
    if not collected.placed and not collected.doubts:
        raise GraderError(f"There is no notebook in {named([str(path) for path in paths])}.")
    if collected.placed:
        out.print(who_table(collected))
    for line in doubt_lines(collected):
        err.print(escape(line), highlight=False, soft_wrap=True)
    for line in missing_lines(collected):
        out.print(escape(line), highlight=False, soft_wrap=True)
    out.print(escape(in_a_line(collected)), highlight=False, soft_wrap=True)
    if collected.doubts:
        raise typer.Exit(1)


def ask(question: str) -> bool:
    """Asks whoever sits at the terminal."""
    return typer.confirm(visible(question, limit=1000), err=True)


@app.command(rich_help_panel="For a class")
def export(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    to: Annotated[Format, typer.Option(help="For which system.")] = Format.csv,
    file: Annotated[
        Path | None, typer.Option("--out", help="Write to this file; else it is printed.", dir_okay=False)
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="What the marks' column is called there; by default the lesson's name.")
    ] = None,
) -> None:
    """Give the marks back, as Canvas, Moodle or a spreadsheet read them."""
    from grader.exporting import marks, text
    from grader.gradebook.course import Course

    name, _ = known_assignment(lesson)
    found = marks(Course.open(Path.cwd()), name)
    made = text(found, to.value, column or name)
    if file is None:
        typer.echo(made, nl=False)
    else:
        write_text(file, made)
    missing = sum(mark.score is None for mark in found)
    unfinished = sum(mark.open for mark in found)
    summary = f"{len(found)} learners, {missing} without a submission"
    if unfinished:
        summary += f"; {unfinished} to be graded by hand (in Formgrader)"
    err.print(escape(summary), highlight=False, soft_wrap=True)

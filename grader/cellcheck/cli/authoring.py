"""Commands for those who write lessons, and those who try the grader out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import app, err, known_lesson, out, write_json

if TYPE_CHECKING:
    from cellcheck.starting import NewLesson


@app.command(rich_help_panel="For authors")
def build(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons to build; by default all.")] = None,
    check: Annotated[bool, typer.Option(help="Change nothing; fail if anything is out of date.")] = False,
) -> None:
    """Make notebooks/ and solutions/ from the lessons."""
    from cellcheck.building.build import build as build_one
    from cellcheck.building.build import out_of_step
    from cellcheck.repository import Repository
    from cellcheck.syllabus import find_lesson

    logging.getLogger("traitlets").setLevel(logging.ERROR)
    repository = Repository.find()
    names = [find_lesson(name)[1] for name in lessons] if lessons else list(repository.names())
    if not check:
        for name in names:
            build_one(repository, name, lambda line: out.print(line, highlight=False))
        return
    old = False
    for name in names:
        for sentence in (sentences := out_of_step(repository, name)):
            err.print(escape(sentence), highlight=False, soft_wrap=True)
        old = old or bool(sentences)
        if not sentences:
            out.print(f"{name}: in step", highlight=False, soft_wrap=True)
    if old:
        err.print("Run: cellcheck build", highlight=False)
        raise typer.Exit(1)


@app.command(rich_help_panel="For authors")
def audit(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons to audit; by default all.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the counts to this file.", dir_okay=False)
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Write these lessons' rows into the table in this file.", exists=True, dir_okay=False),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(
            help="Audit nothing; show what each mistake of this exercise earns, and its card.", metavar="SYMBOL"
        ),
    ] = None,
) -> None:
    """Test the tests: mistakes caught and diagnosed, right answers accepted, mutants caught."""
    from cellcheck.audit.audit import audit_lesson, below_the_floors, report
    from cellcheck.audit.audit_table import audit_table, write_into
    from cellcheck.audit.showing import cards
    from cellcheck.batch import progress
    from cellcheck.syllabus import lesson_names

    chosen = [known_lesson(name) for name in lessons or lesson_names()]
    if show is not None:
        for card in cards(chosen, show):
            out.print(escape(card), highlight=False, soft_wrap=True)
        return
    audits = {}
    with progress(err, "auditing", sum(len(lesson.exercises) for lesson in chosen)) as advance:
        for lesson in chosen:
            audits[lesson.name] = audit_lesson(lesson, advance)
    for name, rows in audits.items():
        out.print(audit_table(name, rows))
    if json_file is not None:
        write_json(json_file, report(audits))
    if into is not None:
        write_into(into, audits)
    below = [line for rows in audits.values() for line in below_the_floors(rows)]
    for line in below:
        err.print(escape(line), highlight=False, soft_wrap=True)
    if below:
        raise typer.Exit(1)


new = typer.Typer(no_args_is_help=True, help="Make a course or a lesson to start from; nothing is overwritten.")
app.add_typer(new, name="new", rich_help_panel="For authors")


@new.command("course")
def new_course(
    folder: Annotated[Path, typer.Argument(help="Where to make it; the folder's name becomes the course's.")],
) -> None:
    """Make a course of your own with one small lesson."""
    from cellcheck.starting import new_course as make

    _say_made(make(folder), folder)


@new.command("lesson")
def new_lesson(name: Annotated[str, typer.Argument(help="A number and a topic, such as 02_my_topic.")]) -> None:
    """Make a small lesson in the course around here."""
    from cellcheck.starting import new_lesson as make

    _say_made(make(name), None)


def _say_made(new: NewLesson, folder: Path | None) -> None:
    """What was made, what to edit first, and how to go on."""
    text, answers, tried, mistakes = new.edit_first
    lines = [
        f"Made {folder}, a course with one small lesson." if folder else f"Made lesson {new.lesson} in {new.root}.",
        "Edit first:",
        f"  {text}  what learners read",
        f"  {answers}  what they write, with the answers",
        f"  {tried}  the cases on which that is tried",
        f"  {mistakes}  the mistakes people make, and right answers written differently",
        f"Then: {f'cd {folder} && ' if folder else ''}cellcheck build {new.lesson}",
    ]
    for line in lines:
        out.print(escape(line), highlight=False, soft_wrap=True)


@app.command(rich_help_panel="To try it out")
def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where to make the demo's course; by default a temporary folder.")
    ] = None,
) -> None:
    """Release lessons, take in what a small class submits, grade it, write feedback: all in a fresh course."""
    from cellcheck.demo.run import run_demo
    from cellcheck.repository import Repository

    run_demo(Repository.find(), folder, out)


@app.command(rich_help_panel="To try it out")
def doctor() -> None:
    """Say what this machine offers for grading, and what it lacks."""
    from cellcheck.doctor import examine

    table, missing = examine()
    out.print(table)
    if missing:
        raise typer.Exit(1)

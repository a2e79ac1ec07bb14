"""Commands for both ends of a class: what learners handed in, and the marks that go back."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from grader.cli.shared import ASSIGNMENT, app, err, known_assignment, known_lesson, out, write_text
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


@app.command(rich_help_panel="For a class")
def similar(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    html: Annotated[
        Path | None, typer.Option(help="Write a page to this file that shows each pair side by side.", dir_okay=False)
    ] = None,
) -> None:
    """Say whose answers are alike, for you to look at. What was given out and the published solution don't count."""
    from grader.gradebook.course import Course
    from grader.similarity.alike import alike
    from grader.similarity.page import CAUTION, page, table
    from grader.similarity.texts import of_class

    name, known = known_assignment(lesson)
    written, given, unread = of_class(Course.open(Path.cwd()), name, plain=known is None)
    pairs = [pair for pair in alike(written, given) if pair.listed]
    for line in unread:
        err.print(escape(line), highlight=False, soft_wrap=True)
    if pairs:
        out.print(table(pairs))
        out.print(escape(CAUTION), highlight=False, soft_wrap=True)
    else:
        said = f"{len(written)} learners, and no two of them are alike enough to be worth a look."
        out.print(said, highlight=False, soft_wrap=True)
    if html is not None:
        write_text(html, page(name, pairs, len(written)))


class System(StrEnum):
    """The systems that `grader package` makes a file for."""

    gradescope = "gradescope"


@app.command(rich_help_panel="For a class")
def package(
    lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_my_topic.")],
    system: Annotated[System, typer.Option("--for", help="Who is to run it. Codio takes Gradescope's.")],
    file: Annotated[
        Path | None, typer.Option("--out", help="Write to this file; by default LESSON.autograder.zip.", dir_okay=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; random by default.", min=0)] = None,
    torch_index: Annotated[
        str | None, typer.Option(help="The address of PyTorch's CPU wheels, as pytorch.org shows it for pip and CPU.")
    ] = None,
) -> None:
    """Make the autograder that another system runs on what learners hand in there."""
    from grader.api import hidden_seed
    from grader.packing.package import for_gradescope

    name = known_lesson(lesson).name
    seed = hidden_seed() if seed is None else seed
    target = file or Path(f"{name}.autograder.zip")
    pinned = for_gradescope(name, target, seed, torch_index)
    out.print(f"{target}: upload it as it is. {len(pinned)} packages, pinned.", highlight=False, soft_wrap=True)
    out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if torch_index is None and any(line.startswith("torch==") for line in pinned):
        err.print(
            "pip will bring PyTorch's large CUDA packages: --torch-index names the small CPU build.",
            highlight=False,
            soft_wrap=True,
        )


class Back(StrEnum):
    """Where `grader handback` hands back to."""

    moodle = "moodle"
    canvas = "canvas"
    folders = "folders"


@app.command(rich_help_panel="For a class")
def handback(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    to: Annotated[Back, typer.Option(help="Where learners are to find their pages.")] = Back.folders,
    file: Annotated[
        Path | None, typer.Option("--out", help="Write to this file; by default LESSON.feedback.zip.", dir_okay=False)
    ] = None,
) -> None:
    """Put everybody's feedback page into one zip file, as Moodle or Canvas takes it back."""
    from grader.gradebook.course import Course
    from grader.handing_back import hand_back

    name, _ = known_assignment(lesson)
    target = file or Path(f"{name}.feedback.zip")
    done = hand_back(Course.open(Path.cwd()), name, to.value, target)
    out.print(escape(f"{target}: {len(done.students)} pages."), highlight=False, soft_wrap=True)
    if done.left:
        why = f"Not in it: {named(done.left)}. Nothing says where in a download from {to.value} theirs would go."
        err.print(escape(why), highlight=False, soft_wrap=True)
        raise typer.Exit(1)

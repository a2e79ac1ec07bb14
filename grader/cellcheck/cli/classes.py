"""Commands for both ends of a class: what learners handed in, and the marks that go back."""

import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import ASSIGNMENT, app, err, known_assignment, known_lesson, out, say_about_time, write_text
from cellcheck.errors import GraderError
from cellcheck.plain import counted, named, visible


class Format(StrEnum):
    """The systems that `cellcheck export` writes for."""

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
        Path | None, typer.Option(help="The class list, a CSV file: each learner's id, and what platforms call them.")
    ] = None,
) -> None:
    """Put what learners handed in (Moodle, Canvas, Gradescope, submit()) into nbgrader's submitted/."""
    from cellcheck.collecting.collect import collect as collect_all
    from cellcheck.collecting.roster import Roster
    from cellcheck.collecting.who_is_who import doubt_lines, in_a_line, missing_lines, stranger_lines, who_table

    name, plain = None, None
    if lesson is not None:
        name, its_lesson = known_assignment(lesson)
        if its_lesson is None:
            from cellcheck.gradebook.course import Course
            from cellcheck.gradebook.writer import released_aside

            plain = released_aside(Course.open(Path.cwd()), name)
    course = None
    if into is None:
        from cellcheck.gradebook.course import Course

        course = Course.open(Path.cwd())
        into = course.submitted_folder()
    class_list = Roster.read(roster) if roster is not None else None
    asking = ask if sys.stdin.isatty() and err.is_terminal else None
    collected = collect_all(paths, into, name, class_list, asking, plain)
    if not collected.placed and not collected.doubts:
        raise GraderError(f"There is no notebook in {named([str(path) for path in paths])}.")
    if collected.placed:
        out.print(who_table(collected))
    for line in doubt_lines(collected):
        err.print(escape(line), highlight=False, soft_wrap=True)
    for line in missing_lines(collected) + stranger_lines(collected):
        out.print(escape(line), highlight=False, soft_wrap=True)
    out.print(escape(in_a_line(collected)), highlight=False, soft_wrap=True)
    if course is not None:
        if class_list is not None:
            course.enrol({student: asdict(person) for student, person in class_list.people.items()})
        for collected_lesson in sorted({submission.lesson for submission, _ in collected.placed}):
            say_about_time(course, collected_lesson)
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
        Path | None, typer.Option("--out", help="Write to this file; without it, print the table.", dir_okay=False)
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="What the marks' column is called there; by default the lesson's name.")
    ] = None,
) -> None:
    """Write the marks as a table that Canvas, Moodle or a spreadsheet can read."""
    from cellcheck.exporting import COLUMNS, marks, text, unmatched
    from cellcheck.gradebook.course import Course

    name, _ = known_assignment(lesson)
    course = Course.open(Path.cwd())
    marks_table = marks(course, name)
    if not marks_table:
        raise GraderError(
            f"There is nobody to export: nobody has handed in {name}, and the gradebook has no class list. Run "
            "cellcheck collect first."
        )
    content = text(marks_table, to.value, column or COLUMNS.get(to.value, name))
    if file is None:
        typer.echo(content, nl=False)
    else:
        write_text(file, content)
    refused = [mark for mark in marks_table if mark.refused]
    missing = sum(mark.score is None for mark in marks_table) - len(refused)
    unfinished = sum(mark.open for mark in marks_table)
    summary = f"{counted(len(marks_table), 'learner')}, {missing} without a submission"
    if refused:
        summary += f"; {len(refused)} not graded, whose mark is empty"
    if unfinished:
        summary += f"; {unfinished} to be graded by hand (in Formgrader)"
    lines = [summary, *(f"{visible(mark.student)}: {visible(mark.refused, limit=1000)}" for mark in refused)]
    if nameless := unmatched(marks_table, to.value):
        system, by = ("Moodle", "email address or ID number") if to is Format.moodle else ("Canvas", "number (ID)")
        lines.append(
            f"{system} can't tell who these are, since it knows learners by their {by}: {named(nameless, 20)}. Collect "
            "again with --roster, a class list that has them."
        )
    for line in lines:
        err.print(escape(line), highlight=False, soft_wrap=True)
    say_about_time(course, name)
    if refused or nameless:
        raise typer.Exit(1)


@app.command(rich_help_panel="For a class")
def similar(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    html: Annotated[
        Path | None, typer.Option(help="Write a page to this file that shows each pair side by side.", dir_okay=False)
    ] = None,
) -> None:
    """Say whose answers are alike, for you to look at. What was given out and the published solution don't count."""
    from cellcheck.gradebook.course import Course
    from cellcheck.similarity.alike import alike
    from cellcheck.similarity.pairs_page import CAUTION, page, table
    from cellcheck.similarity.texts import of_class

    name, its_lesson = known_assignment(lesson)
    written, given, unread = of_class(Course.open(Path.cwd()), name, plain=its_lesson is None)
    pairs = [pair for pair in alike(written, given) if pair.listed]
    for line in unread:
        err.print(escape(line), highlight=False, soft_wrap=True)
    if pairs:
        out.print(table(pairs))
        out.print(escape(CAUTION), highlight=False, soft_wrap=True)
    else:
        sentence = f"{len(written)} learners, and no two of them are alike enough to be worth a look."
        out.print(sentence, highlight=False, soft_wrap=True)
    if html is not None:
        write_text(html, page(name, pairs, len(written)))


class System(StrEnum):
    """The systems that `cellcheck package` makes a file for."""

    gradescope = "gradescope"


@app.command(rich_help_panel="For a class")
def package(
    lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_my_topic.")],
    system: Annotated[System, typer.Option("--for", help="The system that will run it. Codio takes Gradescope's.")],
    file: Annotated[
        Path | None, typer.Option("--out", help="Write to this file; by default LESSON.autograder.zip.", dir_okay=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; random by default.", min=0)] = None,
    torch_index: Annotated[
        str | None, typer.Option(help="The address of PyTorch's CPU wheels, as pytorch.org shows it for pip and CPU.")
    ] = None,
) -> None:
    """Make the autograder that another system runs on what learners hand in there."""
    from cellcheck.api import hidden_seed
    from cellcheck.packing.package import for_gradescope

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
    """Where `cellcheck handback` hands back to."""

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
    from cellcheck.gradebook.course import Course
    from cellcheck.handing_back import hand_back

    name, _ = known_assignment(lesson)
    target = file or Path(f"{name}.feedback.zip")
    done = hand_back(Course.open(Path.cwd()), name, to.value, target)
    out.print(escape(f"{target}: {counted(len(done.students), 'page')}."), highlight=False, soft_wrap=True)
    if done.left:
        why = f"Not in it: {named(done.left)}. Nothing says where in a download from {to.value} theirs would go."
        err.print(escape(why), highlight=False, soft_wrap=True)
        raise typer.Exit(1)

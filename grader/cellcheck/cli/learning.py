"""Commands for a learner: how far am I, start over, try again without help, and a tutor."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import app, out
from cellcheck.errors import GraderError


@app.command(rich_help_panel="For learners")
def progress(
    folder: Annotated[
        Path | None, typer.Argument(help="Where your lessons are; by default around here.", file_okay=False)
    ] = None,
) -> None:
    """Say how far you are: what is solved, what it earned, and what comes next."""
    from cellcheck.learning.standing import standings
    from cellcheck.learning.table import in_a_line, progress_table

    course = _course(folder, "progress work")
    standing = standings(course)
    out.print(progress_table(standing, out))
    out.print(escape(in_a_line(standing, course)), highlight=False, soft_wrap=True)


@app.command(rich_help_panel="For learners")
def reset(
    notebook: Annotated[Path, typer.Argument(help="Your notebook.", dir_okay=False)],
    exercise: Annotated[str | None, typer.Option(help="Only this exercise: the name of its function or class.")] = None,
) -> None:
    """Make a notebook blank again, or one exercise of it; what was there is kept."""
    from cellcheck.learning.reset import reset as put_back

    done = put_back(notebook, exercise)
    what = f"{exercise} is blank again in" if exercise else "Blank again:"
    out.print(escape(f"{what} {done.notebook}"), highlight=False, soft_wrap=True)
    out.print(escape(f"What was there is in {done.copy}"), highlight=False, soft_wrap=True)
    out.print("Is it open in JupyterLab? Choose File > Reload Notebook from Disk there.", highlight=False)


@app.command(rich_help_panel="For learners")
def again(
    lesson: Annotated[
        str | None, typer.Argument(help="The lesson; without it, list what is worth trying again by now.")
    ] = None,
    exercise: Annotated[str | None, typer.Argument(help="The exercise: the name of its function or class.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where your lessons are; by default around here.")] = None,
) -> None:
    """Try an exercise again that you solved a week ago: other cases, no hints, and your old answer stays."""
    from cellcheck.learning.again import begin, due

    course = _course(folder, "again --folder work")
    if lesson is not None and exercise is not None:
        out.print(escape(f"A fresh copy: {begin(course, lesson, exercise)}"), highlight=False, soft_wrap=True)
        return
    waiting = due(course)
    if not waiting:
        out.print("Nothing yet: an exercise comes back a week after you have solved it.", highlight=False)
    for each in waiting:
        line = f"cellcheck again {each.number:02} {each.exercise.symbol}  (solved on {each.solved})"
        out.print(escape(line), highlight=False, soft_wrap=True)


@app.command(rich_help_panel="For learners")
def assistants(
    folder: Annotated[Path, typer.Argument(help="Where your lessons are.", file_okay=False)] = Path(),
) -> None:
    """Put an AGENTS.md into your folder: it asks your assistant to be a tutor. An existing one stays as it is."""
    from cellcheck.learning.assistants import greet

    if greet(folder.resolve()) is None:
        raise GraderError(f"No AGENTS.md could be written in {folder}: choose a folder that is yours.")


@app.command(rich_help_panel="For learners")
def tutor(
    folder: Annotated[
        Path | None, typer.Argument(help="Where your lessons are; by default around here.", file_okay=False)
    ] = None,
) -> None:
    """Serve your assistant with true verdicts and one hint at a time, over MCP. Your assistant starts this."""
    try:
        import mcp  # noqa: F401
    except ModuleNotFoundError:
        raise GraderError("The tutor needs the package mcp: install the course with its extra `tutor`.") from None
    from cellcheck.tutoring.server import serve

    serve(_course(folder, "tutor work"))


@app.command(rich_help_panel="For learners")
def ours(
    exercise: Annotated[str, typer.Argument(help="The exercise: the name of its function or class.")],
    lesson: Annotated[str, typer.Option(help="Its lesson, if two lessons have an exercise of that name.")] = "",
    folder: Annotated[Path | None, typer.Option(help="Where your lessons are; by default around here.")] = None,
) -> None:
    """Show the course's own answer to one exercise, and record that you have seen it."""
    from cellcheck.learning.answers import ours as shown

    text = shown(_course(folder, "ours NAME --folder work"), exercise, lesson)
    out.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True, end="")


@app.command(rich_help_panel="For learners")
def seal() -> None:
    """Take the answers of the installed course out of sight. Lessons and checks work as before."""
    from cellcheck.sealing import seal as put_away
    from cellcheck.syllabus import installed

    courses = installed()
    if not courses:
        raise GraderError("No course is installed here: pip install it first.")
    for course in courses:
        count = put_away(course.folder.parent, course.folder)
        line = f"{count} files of {course.folder.parent} have blanks now." if count else "It was sealed already."
        out.print(escape(line), highlight=False, soft_wrap=True)


def _course(folder: Path | None, example: str) -> Path:
    from cellcheck.learning.standing import course_folder

    start = (folder or Path.cwd()).resolve()
    course = course_folder(start)
    if course is None:
        raise GraderError(f"There is no lesson in {start}: name the folder with yours, as in cellcheck {example}.")
    return course

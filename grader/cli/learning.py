"""Commands for a learner: how far am I, and begin anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from grader.cli.shared import app, out
from grader.errors import GraderError


@app.command(rich_help_panel="For learners")
def progress(
    folder: Annotated[
        Path | None, typer.Argument(help="Where your lessons are; by default around here.", file_okay=False)
    ] = None,
) -> None:
    """Say how far you are: what is solved, what it earned, and what comes next."""
    from grader.learning.standing import course_folder, standings
    from grader.learning.table import in_a_line, progress_table

    start = (folder or Path.cwd()).resolve()
    found = course_folder(start)
    if found is None:
        raise GraderError(f"There is no lesson in {start}: name the folder with yours, as in grader progress work.")
    standing = standings(found)
    out.print(progress_table(standing))
    out.print(escape(in_a_line(standing, found)), highlight=False, soft_wrap=True)


@app.command(rich_help_panel="For learners")
def reset(
    notebook: Annotated[Path, typer.Argument(help="Your notebook.", dir_okay=False)],
    exercise: Annotated[str | None, typer.Option(help="Only this exercise, by the name of its symbol.")] = None,
) -> None:
    """Make a notebook blank again, or one exercise of it; what was there is kept."""
    from grader.learning.reset import reset as put_back

    done = put_back(notebook, exercise)
    what = f"{exercise} is blank again in" if exercise else "Blank again:"
    out.print(escape(f"{what} {done.notebook}"), highlight=False, soft_wrap=True)
    out.print(escape(f"What was there is in {done.kept}"), highlight=False, soft_wrap=True)
    out.print("Is it open in JupyterLab? Choose File > Reload Notebook from Disk there.", highlight=False)

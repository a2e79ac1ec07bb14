"""Commands that make assignments of other graders into nbgrader's."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import app, err, out
from cellcheck.plain import named

STUB = {"python": "..."}
"""What nbgrader puts where a solution was, if it is to be as with Otter."""

importing = typer.Typer(no_args_is_help=True, help="Make an assignment of another grader into one of nbgrader's.")
app.add_typer(importing, name="import", rich_help_panel="For a class")


@importing.callback()
def everything() -> None:
    """Make an assignment of another grader into one of nbgrader's; nothing is overwritten."""


@importing.command()
def otter(
    source: Annotated[
        Path,
        typer.Argument(
            help="A master notebook of Otter-Grader's, or a learner's with its folder tests/ or tests inside.",
            exists=True,
            dir_okay=False,
        ),
    ],
    into: Annotated[
        Path | None,
        typer.Option(help="The folder to make; by default one of the notebook's name in source/.", file_okay=False),
    ] = None,
) -> None:
    """From Otter-Grader, with equal marks; or say what isn't known, and write nothing."""
    from cellcheck.gradebook.course import Course
    from cellcheck.importing.otter import insist_on_usual_delimiters, read
    from cellcheck.importing.unknown import Unknown

    here = Path.cwd()
    course = Course.open(here) if into is None or Course.is_one(here) else None
    if course is not None:
        insist_on_usual_delimiters(course.config)
    try:
        imported = read(source)
    except Unknown as unknown:
        err.print(escape(str(unknown)), highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    if into is None:
        assert course is not None
        into = course.source(imported.name)
    imported.write(into)
    points = f"{imported.tested:g} points by tests, {imported.by_hand:g} by hand"
    lines = [f"Made {into / imported.name}.ipynb: {points}.", *imported.notes]
    if imported.files:
        lines.append(f"Beside it: {named([str(place) for place in imported.files])}.")
    if imported.left_out:
        lines.append(f"Left out, since no mark depends on it: {named(imported.left_out)}.")
    if course is None or course.config.ClearSolutions.get("code_stub") != STUB:
        lines.append(
            "A blank raises NotImplementedError, where Otter's goes on with `...`. To have that here, too, put this "
            f"into nbgrader_config.py: c.ClearSolutions.code_stub = {STUB}"
        )
    lines += [
        f"Release it: nbgrader generate_assignment {into.name}",
        f"Try it, before learners do: cellcheck grade NOTEBOOK --lesson {into.name}",
    ]
    for line in lines:
        out.print(escape(line), highlight=False, soft_wrap=True)

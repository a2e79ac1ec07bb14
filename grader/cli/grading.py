"""Commands that grade, and say what came of it."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from grader.cli.shared import app, err, known_lesson, out, warnings_told, write_json
from grader.errors import GraderError

if TYPE_CHECKING:
    from grader.running.result import Failure, Result

REQUIRE = "Refuse to grade if a protection is missing; grader doctor lists them."


@app.command(rich_help_panel="For a class")
def grade(
    notebooks: Annotated[list[Path], typer.Argument(help="Notebooks to grade.")],
    lesson: Annotated[
        str | None, typer.Option(help="The lesson, for notebooks that don't say which one they are.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; random by default.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to grade at a time.", min=1)] = 1,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Grade notebooks; no gradebook needed."""
    from grader.api import grade_notebooks, hidden_seed

    seed = hidden_seed() if seed is None else seed
    with warnings_told():
        grading = grade_notebooks(notebooks, lesson=lesson, seed=seed, jobs=jobs, require_sandbox=require_sandbox)
    from grader.batch import progress
    from grader.running.result import Failure, to_json
    from grader.tables import results_table

    finished: dict[Path, Result | Failure] = {path: Failure(str(path), "The run was stopped.") for path in notebooks}
    with progress(err, "grading", len(notebooks)) as advance, suppress(KeyboardInterrupt), closing(grading):
        for outcome in grading:
            path = Path(outcome.notebook)
            finished[path] = outcome
            advance(path.name)
    outcomes = [finished[path] for path in notebooks]
    distinct = len({path.name for path in notebooks}) == len(notebooks)
    names = [path.name if distinct else str(path) for path in notebooks]
    out.print(results_table(zip(names, outcomes, strict=True), "notebook"))
    out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_json(json_file, to_json(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


@app.command(rich_help_panel="For a class")
def autograde(
    lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_my_topic.")],
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; random by default.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to grade at a time.", min=1)] = 1,
    resume: Annotated[bool, typer.Option(help="Continue where an earlier run stopped.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Grade nbgrader's submitted/ into its gradebook, autograded/ and feedback/."""
    from grader.running.zygotes import hide, warm_up

    warm_up(jobs)
    from grader.api import hidden_seed
    from grader.batch import Job
    from grader.gradebook.autograde import autograde_lesson
    from grader.gradebook.course import Course
    from grader.gradebook.files import Halt
    from grader.gradebook.journal import Journal
    from grader.running.protection import check_walls
    from grader.running.result import Failure, to_json
    from grader.tables import results_table, summary_table

    name = known_lesson(lesson).name
    course = Course.open(Path.cwd())
    hide(*course.folders())
    journal = Journal(course.root, name)
    if resume and seed is not None and journal.go_on() and journal.seed != seed:
        raise GraderError(f"--resume goes on with the seed that the run began with, {journal.seed}: leave --seed out.")
    with warnings_told():
        check_walls(name, require_sandbox)
    try:
        outcomes, seed = autograde_lesson(
            course, name, Job(hidden_seed() if seed is None else seed, name, jobs), err, resume=resume
        )
    except KeyboardInterrupt:
        err.print("Stopped. What has been graded is kept; --resume goes on from here.", highlight=False)
        raise typer.Exit(1) from None
    except Halt as halt:
        err.print(escape(str(halt)), highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    out.print(results_table(sorted(outcomes.items()), "learner"))
    out.print()
    out.print(summary_table(outcomes.values()))
    out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_json(json_file, to_json(outcomes.values()))
    if any(isinstance(outcome, Failure) for outcome in outcomes.values()):
        raise typer.Exit(1)


@app.command(rich_help_panel="For a class")
def report(lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_my_topic.")]) -> None:
    """Say which mistakes the class made, and who made them, from what grader autograde wrote."""
    from grader.gradebook.course import Course
    from grader.gradebook.journal import Journal
    from grader.tables import mistakes_table, summary_table

    known = known_lesson(lesson)
    journal = Journal(Course.open(Path.cwd()).root, known.name)
    journal.go_on()
    results = journal.results()
    if not results:
        raise GraderError(f"Nothing of {known.name} is graded here yet: run grader autograde {known.name} first.")
    out.print(summary_table(results.values()))
    out.print()
    table = mistakes_table(results, known)
    out.print(table if table.row_count else "Nobody made a mistake in what they handed in.")

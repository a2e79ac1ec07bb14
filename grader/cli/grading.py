"""Commands that grade, and say what came of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from grader.cli.shared import app, err, known_lesson, out, write_json
from grader.errors import GraderError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.batch import Failure
    from grader.running.result import Result

REQUIRE = "Refuse to grade where a protection is missing; grader doctor lists them."


@app.command(rich_help_panel="For a class")
def grade(
    notebooks: Annotated[list[Path], typer.Argument(help="Notebooks to grade.")],
    lesson: Annotated[str | None, typer.Option(help="The lesson, for a notebook that does not tell.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; a random one unless given.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to grade at a time.", min=1)] = 1,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Grade notebooks; no gradebook needed."""
    from grader.running.zygotes import hide, warm_up

    warm_up(min(jobs, len(notebooks)))
    hide(*(path.parent for path in notebooks))
    from grader.batch import Failure, Job, grade_files, hidden_seed, progress
    from grader.tables import results_table

    if lesson is not None:
        known_lesson(lesson)
    seed = hidden_seed() if seed is None else seed
    check_walls(lesson or lesson_of(notebooks), require_sandbox)
    finished: dict[Path, Result | Failure] = {path: Failure(str(path), "The run was stopped.") for path in notebooks}
    with progress(err, "grading", len(notebooks)) as advance, suppress(KeyboardInterrupt):
        for path, outcome in grade_files(notebooks, Job(seed, lesson, jobs)):
            finished[path] = outcome
            advance(path.name)
    outcomes = [finished[path] for path in notebooks]
    distinct = len({path.name for path in notebooks}) == len(notebooks)
    names = [path.name if distinct else str(path) for path in notebooks]
    out.print(results_table(zip(names, outcomes, strict=True), "notebook"))
    out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_json(json_file, as_json(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


@app.command(rich_help_panel="For a class")
def autograde(
    lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_my_topic.")],
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; a random one unless given.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to grade at a time.", min=1)] = 1,
    resume: Annotated[bool, typer.Option(help="Go on where an earlier run was stopped.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Grade nbgrader's submitted/ into its gradebook, autograded/ and feedback/."""
    from grader.running.zygotes import hide, warm_up

    warm_up(jobs)
    from grader.batch import Failure, Job, hidden_seed
    from grader.gradebook.autograde import autograde_lesson
    from grader.gradebook.course import Course
    from grader.gradebook.files import Halt
    from grader.gradebook.journal import Journal
    from grader.tables import results_table, summary_table

    name = known_lesson(lesson).name
    course = Course.open(Path.cwd())
    hide(*course.folders())
    journal = Journal(course.root, name)
    if resume and seed is not None and journal.go_on() and journal.seed != seed:
        raise GraderError(f"--resume goes on with the seed that the run began with, {journal.seed}: leave --seed out.")
    check_walls(name, require_sandbox)
    try:
        outcomes, seed = autograde_lesson(
            course, name, Job(hidden_seed() if seed is None else seed, name, jobs), err, resume=resume
        )
    except KeyboardInterrupt:
        err.print("Stopped. What is graded is kept; --resume goes on from here.", highlight=False)
        raise typer.Exit(1) from None
    except Halt as halt:
        err.print(escape(str(halt)), highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    out.print(results_table(sorted(outcomes.items()), "learner"))
    out.print()
    out.print(summary_table(outcomes.values()))
    out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_json(json_file, as_json(outcomes.values()))
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


def check_walls(lesson: str | None, required: bool) -> None:
    """Says which protections are missing here.

    Raises:
        GraderError: when one is missing that is required.
    """
    from grader.doctor import missing_walls, say_missing
    from grader.syllabus import lesson_names

    missing = missing_walls(lesson or lesson_names()[0])
    if missing and required:
        raise GraderError(f"{say_missing(missing)} Nothing was graded, since --require-sandbox was asked for.")
    if missing:
        err.print(escape(say_missing(missing)), highlight=False, soft_wrap=True)


def lesson_of(notebooks: list[Path]) -> str | None:
    """The lesson of the first notebook that tells."""
    from grader.running.intake import Unreadable, read_file, read_submission

    for path in notebooks:
        try:
            return read_submission(read_file(path)).lesson.name
        except (Unreadable, OSError):
            continue
    return None


def as_json(outcomes: Iterable[Result | Failure]) -> dict[str, Any]:
    """What `--json` writes of results and failures."""
    from grader.batch import Failure

    outcomes = list(outcomes)
    return {
        "version": 1,
        "results": [o.to_json() for o in outcomes if not isinstance(o, Failure)],
        "errors": [{"notebook": o.notebook, "message": o.message} for o in outcomes if isinstance(o, Failure)],
    }

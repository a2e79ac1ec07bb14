"""Commands that grade, and say what came of it."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from grader.cli.shared import (
    ASSIGNMENT,
    app,
    err,
    known_assignment,
    out,
    warnings_told,
    write_json,
    write_results,
    write_text,
)
from grader.errors import GraderError

if TYPE_CHECKING:
    from grader.running.result import Failure, Result

LONG = 1000  # learners: nobody reads a longer table
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
    from grader.running.zygotes import PER_JOB, warm_up

    warm_up(PER_JOB * min(jobs, len(notebooks)))
    from grader.api import grade_notebooks, hidden_seed

    seed = hidden_seed() if seed is None else seed
    plain = lesson is not None and known_assignment(lesson)[1] is None
    course = Path.cwd() if plain else None
    with warnings_told():
        grading = grade_notebooks(
            notebooks, lesson=lesson, course=course, seed=seed, jobs=jobs, require_sandbox=require_sandbox
        )
    from grader.batch import progress
    from grader.running.result import Failure, to_json
    from grader.tables import forgeable_line, results_table

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
    if plain:
        out.print(escape(forgeable_line(outcomes)), highlight=False, soft_wrap=True)
    else:
        out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_json(json_file, to_json(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


@app.command(rich_help_panel="For a class")
def autograde(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; random by default.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to grade at a time.", min=1)] = 1,
    resume: Annotated[bool, typer.Option(help="Continue where an earlier run stopped.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Grade on a Dask cluster: the address of its scheduler, or its scheduler file.",
        ),
    ] = None,
) -> None:
    """Grade nbgrader's submitted/ into its gradebook, autograded/ and feedback/."""
    from grader.running.zygotes import PER_JOB, warm_up

    if cluster is None:
        warm_up(PER_JOB * jobs)
    elif jobs != 1:
        raise GraderError("--jobs is for this machine. On a cluster, its workers' threads decide: leave --jobs out.")
    from grader import whole_class
    from grader.gradebook.files import Halt
    from grader.gradebook.report import watching
    from grader.running.result import Failure
    from grader.tables import Summary, results_table

    try:
        with warnings_told(), watching(err, f"grading {lesson}") as tell:
            report = whole_class.autograde(
                Path.cwd(),
                lesson,
                seed=seed,
                jobs=jobs,
                resume=resume,
                cluster=cluster,
                require_sandbox=require_sandbox,
                progress=tell,
            )
    except KeyboardInterrupt:
        err.print("Stopped. What has been graded is kept; --resume goes on from here.", highlight=False)
        raise typer.Exit(1) from None
    except Halt as halt:
        err.print(escape(str(halt)), highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    summary = Summary()
    stand = summary.counting(report.standing())
    if len(report.outcomes) <= LONG:
        out.print(results_table(stand, "learner"))
    else:
        failed = sum(isinstance(outcome, Failure) for _, outcome in stand)
        where = f"grader export {report.assignment} lists them all."
        out.print(f"{len(report.outcomes)} submissions, {failed} not graded: {where}")
    out.print()
    out.print(summary.table())
    if line := summary.forgeable_line():
        out.print(escape(line), highlight=False, soft_wrap=True)
    if report.seed is not None:
        out.print(f"hidden cases drawn from seed {report.seed}", highlight=False)
    if json_file is not None:
        write_results(json_file, report.outcomes.values())
    if not report.ok:
        raise typer.Exit(1)


@app.command(rich_help_panel="For a class")
def feedback(lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)]) -> None:
    """Write the feedback pages again, with the points and comments given by hand. Nothing is graded."""
    from grader.gradebook.autograde import write_pages_again
    from grader.gradebook.course import Course

    name, known = known_assignment(lesson)
    course = Course.open(Path.cwd())
    count = write_pages_again(course, name, plain=known is None)
    out.print(f"Feedback for {count} learners, written again.", highlight=False, soft_wrap=True)


@app.command(rich_help_panel="For a class")
def report(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page about the class to this file: marks, mistakes, hand-ins.", dir_okay=False),
    ] = None,
) -> None:
    """Say which mistakes the class made, and who made them, from what grader autograde wrote."""
    from grader.gradebook.course import Course
    from grader.gradebook.journal import Journal
    from grader.gradebook.report import as_they_stand
    from grader.running.result import Result
    from grader.tables import forgeable_line, mistakes_table, summary_table

    name, known = known_assignment(lesson)
    course = Course.open(Path.cwd())
    journal = Journal(course.root, name)
    journal.go_on()
    if not (graded := journal.results()):
        raise GraderError(f"{name} hasn't been graded here yet: run grader autograde {name} first.")
    stand = as_they_stand(course, name, graded, plain=known is None)
    results = {student: found for student, found in stand if isinstance(found, Result)}
    out.print(summary_table(results.values()))
    if line := forgeable_line(results.values()):
        out.print(escape(line), highlight=False, soft_wrap=True)
    out.print()
    table = mistakes_table(results, known)
    out.print(table if table.row_count else "Nobody made a mistake in what they handed in.")
    if html is not None:
        from grader.exporting import due_date, marks
        from grader.reporting.page import page

        write_text(html, page(name, marks(course, name), results, known, due_date(course, name)))

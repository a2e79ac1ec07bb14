"""Commands that grade, and say what came of it."""

from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import (
    ASSIGNMENT,
    app,
    err,
    known_assignment,
    out,
    say_about_time,
    warnings_told,
    write_json,
    write_results,
    write_text,
)
from cellcheck.errors import GraderError
from cellcheck.plain import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from cellcheck.running.result import Result
    from cellcheck.tables import Summary

GOES_ON = "What has been graded is kept; --resume goes on from here."
LONG = 1000  # learners: nobody reads a longer table
REQUIRE = "Refuse to grade if a protection is missing; cellcheck doctor lists them."


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
    from cellcheck.running.zygotes import warm_up

    at_once = min(jobs, len(notebooks))
    warm_up(at_once, judging=at_once)
    from cellcheck.api import grade_notebooks, hidden_seed

    seed = hidden_seed() if seed is None else seed
    plain = lesson is not None and known_assignment(lesson)[1] is None
    course = Path.cwd() if plain else None
    with warnings_told():
        grading = grade_notebooks(
            notebooks, lesson=lesson, course=course, seed=seed, jobs=jobs, require_sandbox=require_sandbox
        )
    from cellcheck.batch import progress
    from cellcheck.running.result import Failure, to_json
    from cellcheck.tables import Summary, results_table

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
        out.print(escape(Summary.of(outcomes).forgeable_line()), highlight=False, soft_wrap=True)
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
    learner: Annotated[
        list[str] | None, typer.Option(help="Grade this learner again, and otherwise only what --resume would.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Grade on a Dask cluster: the address of its scheduler, or its scheduler file."
        ),
    ] = None,
) -> None:
    """Grade nbgrader's submitted/ into its gradebook, autograded/ and feedback/."""
    from cellcheck.running.zygotes import warm_up

    if cluster is None:
        warm_up(jobs, judging=jobs)
    elif jobs != 1:
        raise GraderError("--jobs is for this machine. On a cluster, its workers' threads decide: leave --jobs out.")
    from cellcheck import whole_class
    from cellcheck.gradebook.course import Course
    from cellcheck.gradebook.folders import Halt
    from cellcheck.gradebook.report import watching
    from cellcheck.running.result import Failure
    from cellcheck.tables import Summary, results_table

    try:
        with warnings_told(), watching(err, f"grading {lesson}") as tell:
            report = whole_class.autograde(
                Path.cwd(),
                lesson,
                seed=seed,
                jobs=jobs,
                resume=resume or bool(learner),
                again=learner or (),
                cluster=cluster,
                require_sandbox=require_sandbox,
                progress=tell,
            )
    except KeyboardInterrupt:
        err.print(_stopped(lesson), highlight=False)
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
        where = f"cellcheck export {report.assignment} lists them all."
        out.print(f"{len(report.outcomes)} submissions, {failed} not graded: {where}")
    out.print()
    _print_summary(summary)
    if report.seed is not None:
        out.print(f"hidden cases drawn from seed {report.seed}", highlight=False)
    say_about_time(Course.open(Path.cwd()), report.assignment)
    if json_file is not None:
        write_results(json_file, report.outcomes.values())
    if not report.ok:
        raise typer.Exit(1)


def _stopped(lesson: str) -> str:
    """What to say where a run was stopped: only what was begun can go on, with the seed that it has."""
    from cellcheck.gradebook.journal import Journal

    name, _ = known_assignment(lesson)
    begun = Journal(Path.cwd(), name).go_on()
    return f"Stopped. {GOES_ON if begun else 'Nothing had been graded yet.'}"


@app.command(rich_help_panel="For a class")
def feedback(lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)]) -> None:
    """Write the feedback pages again, with the points and comments given by hand. Nothing is graded."""
    from cellcheck.gradebook.autograde import write_pages_again
    from cellcheck.gradebook.course import Course

    name, its_lesson = known_assignment(lesson)
    course = Course.open(Path.cwd())
    count = write_pages_again(course, name, plain=its_lesson is None)
    out.print(f"Feedback for {counted(count, 'learner')}, written again.", highlight=False, soft_wrap=True)


@app.command(rich_help_panel="For a class")
def report(
    lesson: Annotated[str, typer.Argument(help=ASSIGNMENT)],
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page about the class to this file: marks, mistakes, hand-ins.", dir_okay=False),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(
            help="Notebooks of learners who tried again without help, a folder for each learner: show how that went.",
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Say which mistakes the class made, and who made them, from what cellcheck autograde wrote."""
    from cellcheck.gradebook.course import Course
    from cellcheck.gradebook.journal import Journal
    from cellcheck.gradebook.report import as_they_stand
    from cellcheck.running.result import Result
    from cellcheck.tables import Summary, mistakes_table

    name, its_lesson = known_assignment(lesson)
    course = Course.open(Path.cwd())
    journal = Journal(course.root, name)
    journal.go_on()
    if not (graded := journal.results()):
        raise GraderError(f"{name} hasn't been graded here yet: run cellcheck autograde {name} first.")
    stand = as_they_stand(course, name, graded, plain=its_lesson is None)
    results = {student: outcome for student, outcome in stand if isinstance(outcome, Result)}
    _print_summary(Summary.of(results.values()))
    out.print()
    table = mistakes_table(results, its_lesson)
    out.print(table if table.row_count else "Nobody made a mistake in what they handed in.")
    if again is not None:
        out.print()
        out.print(_second_time(again, name, results))
    if html is not None:
        from cellcheck.reporting.class_page import page_of

        write_text(html, page_of(course, name, results, its_lesson))
        out.print(escape(f"\n{html}: a page about the class, for you alone."), highlight=False, soft_wrap=True)


def _second_time(folder: Path, lesson: str, first: "Mapping[str, Result]") -> "Table":
    """What the class did without help a week later, graded on hidden cases as everything else."""
    from cellcheck.api import grade_notebooks, hidden_seed
    from cellcheck.reporting.second_time import second_time_table
    from cellcheck.running.result import Result

    notebooks = sorted(folder.glob("*/**/*.ipynb"))
    outcomes = grade_notebooks(notebooks, seed=hidden_seed()) if notebooks else ()
    second: dict[str, list[Result]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Result) and outcome.lesson == lesson:
            learner = Path(outcome.notebook).relative_to(folder).parts[0]
            second.setdefault(learner, []).append(outcome)
        elif not isinstance(outcome, Result):
            err.print(escape(f"{outcome.notebook}: {outcome.message}"), highlight=False, soft_wrap=True)
    return second_time_table(first, second)


def _print_summary(summary: "Summary") -> None:
    out.print(summary.table())
    if line := summary.forgeable_line():
        out.print(escape(line), highlight=False, soft_wrap=True)

"""The command line: `grader build`, `demo`, `grade`, `collect`, `autograde`, `report`, `export`, `audit`, `doctor`.

Exit code 0: done; 1: something could not be done, all else was; 2: wrong usage.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from grader.errors import GraderError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.batch import Failure
    from grader.exercises.spec import Lesson
    from grader.running.result import Result

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help='The autograder of "Transformers, cell by cell".',
)


class Format(StrEnum):
    """The systems that `grader export` writes for."""

    csv = "csv"
    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"


REQUIRE = "Refuse to grade where a protection is missing; grader doctor lists them."
out = Console()
err = Console(stderr=True)


@app.command()
def build(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons to build; all unless given.")] = None,
    check: Annotated[bool, typer.Option(help="Change nothing; fail when something is out of step.")] = False,
) -> None:
    """Make notebooks/ and solutions/ from lessons/ and course/."""
    from grader.building.build import build as build_one
    from grader.building.build import out_of_step
    from grader.repository import Repository

    logging.getLogger("traitlets").setLevel(logging.ERROR)
    repository = Repository.find()
    names = [repository.lesson(name) for name in lessons] if lessons else repository.lesson_names()
    if not check:
        for name in names:
            build_one(repository, name, lambda line: out.print(line, highlight=False))
        return
    found = [sentence for name in names for sentence in out_of_step(repository, name)]
    for sentence in found:
        err.print(escape(sentence), highlight=False, soft_wrap=True)
    if found:
        err.print("Run: grader build", highlight=False)
        raise typer.Exit(1)
    out.print(f"In step: {', '.join(names)}", highlight=False, soft_wrap=True)


@app.command()
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
    from grader.running.zygotes import warm_up

    warm_up(min(jobs, len(notebooks)))
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


@app.command()
def autograde(
    lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_pytorch_basics.")],
    seed: Annotated[int | None, typer.Option(help="Draws the hidden cases; a random one unless given.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to grade at a time.", min=1)] = 1,
    resume: Annotated[bool, typer.Option(help="Go on where an earlier run was stopped.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the results to this file.", dir_okay=False)
    ] = None,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Grade nbgrader's submitted/ into its gradebook, autograded/ and feedback/."""
    from grader.running.zygotes import warm_up

    warm_up(jobs)
    from grader.batch import Failure, Job, hidden_seed
    from grader.gradebook.autograde import autograde_lesson
    from grader.gradebook.course import Course
    from grader.tables import results_table, summary_table

    name = known_lesson(lesson).name
    course = Course.open(Path.cwd())
    if resume and seed is not None:
        raise GraderError("--resume goes on with the seed that the run began with: leave --seed out.")
    check_walls(name, require_sandbox)
    try:
        outcomes, seed = autograde_lesson(
            course, name, Job(hidden_seed() if seed is None else seed, name, jobs), err, resume=resume
        )
    except KeyboardInterrupt:
        err.print("Stopped. What is graded is kept; --resume goes on from here.", highlight=False)
        raise typer.Exit(1) from None
    out.print(results_table(sorted(outcomes.items()), "learner"))
    out.print()
    out.print(summary_table(outcomes.values()))
    out.print(f"hidden cases drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_json(json_file, as_json(outcomes.values()))
    if any(isinstance(outcome, Failure) for outcome in outcomes.values()):
        raise typer.Exit(1)


@app.command()
def report(lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_pytorch_basics.")]) -> None:
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


@app.command()
def collect(
    paths: Annotated[list[Path], typer.Argument(help="Folders, zip files, notebooks, as a platform gives them out.")],
    lesson: Annotated[
        str | None, typer.Option(help="Take this lesson only, also from notebooks that don't tell.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="Where to put them; the course's submitted/ unless given.", file_okay=False)
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="A CSV file that says who is who: student, and what platforms call them.")
    ] = None,
) -> None:
    """Put what learners handed in (Moodle, Canvas, Gradescope, submit()) into nbgrader's submitted/."""
    from grader.collecting.collect import collect as collect_all
    from grader.collecting.roster import Roster
    from grader.collecting.tables import in_a_line, who_table

    name = known_lesson(lesson).name if lesson is not None else None
    if into is None:
        from grader.gradebook.course import Course

        course = Course.open(Path.cwd())
        into = course.root / str(course.directory.submitted_directory)
    collected = collect_all(paths, into, name, Roster.read(roster) if roster is not None else None)
    if not collected.placed and not collected.doubts:
        raise GraderError(f"There is no notebook in {', '.join(map(str, paths))}.")
    if collected.placed:
        out.print(who_table(collected))
    for doubt in collected.doubts:
        err.print(escape(f"{doubt.where}: {doubt.why}"), highlight=False, soft_wrap=True)
    out.print(escape(in_a_line(collected)), highlight=False, soft_wrap=True)
    if collected.doubts:
        raise typer.Exit(1)


@app.command()
def export(
    lesson: Annotated[str, typer.Argument(help="The lesson, such as 01_pytorch_basics.")],
    to: Annotated[Format, typer.Option(help="For which system.")] = Format.csv,
    file: Annotated[
        Path | None, typer.Option("--out", help="Write to this file; else it is printed.", dir_okay=False)
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="What the marks' column is called there; the lesson's name unless given.")
    ] = None,
) -> None:
    """Give the marks back, as Canvas, Moodle or a spreadsheet read them."""
    from grader.exporting import marks, text
    from grader.gradebook.course import Course

    name = known_lesson(lesson).name
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
        summary += f"; {unfinished} to be looked at by hand (make formgrader)"
    err.print(escape(summary), highlight=False, soft_wrap=True)


@app.command()
def audit(
    lessons: Annotated[list[str] | None, typer.Argument(help="Lessons to audit; all unless given.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the counts to this file.", dir_okay=False)
    ] = None,
    readme: Annotated[bool, typer.Option("--readme", help="Write the summary into README.md.")] = False,
) -> None:
    """Test the tests: mistakes caught and diagnosed, right answers accepted, mutants caught."""
    from grader.audit.audit import audit_lesson, report
    from grader.audit.tables import audit_table, write_into_readme
    from grader.batch import progress
    from grader.exercises import lesson_names
    from grader.repository import Repository

    chosen = [known_lesson(name) for name in lessons or lesson_names()]
    audits = {}
    with progress(err, "auditing", sum(len(lesson.exercises) for lesson in chosen)) as advance:
        for lesson in chosen:
            audits[lesson.name] = audit_lesson(lesson, advance)
    for name, rows in audits.items():
        out.print(audit_table(name, rows))
    if json_file is not None:
        write_json(json_file, report(audits))
    if readme:
        write_into_readme(Repository.find().root / "README.md", audits)
    below = [f"{row.symbol}: {line}" for rows in audits.values() for row in rows for line in row.below()]
    for line in below:
        err.print(escape(line), highlight=False, soft_wrap=True)
    if below:
        raise typer.Exit(1)


@app.command()
def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where to make the demo's course; a temporary folder unless given.")
    ] = None,
) -> None:
    """Release two lessons, take in what ten learners submit, grade it, write feedback: all in a fresh course."""
    from grader.demo import run_demo
    from grader.repository import Repository

    run_demo(Repository.find(), folder, out)


@app.command()
def doctor() -> None:
    """Say what this machine offers for grading, and what it lacks."""
    from grader.doctor import examine

    table, missing = examine()
    out.print(table)
    if missing:
        raise typer.Exit(1)


def check_walls(lesson: str | None, required: bool) -> None:
    """Says which protections are missing here.

    Raises:
        GraderError: when one is missing that is required.
    """
    from grader.doctor import missing_walls, say_missing
    from grader.exercises import lesson_names

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


def known_lesson(name: str) -> Lesson:
    """The lesson of that name.

    Raises:
        GraderError: when there is none.
    """
    from grader.exercises import UnknownLesson, load_lesson

    try:
        return load_lesson(name)
    except UnknownLesson as error:
        raise GraderError(str(error)) from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes a JSON file.

    Raises:
        GraderError: when it can't be written.
    """
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a text file.

    Raises:
        GraderError: when it can't be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GraderError(f"{path} can't be written: {error.strerror}.") from error


def main() -> None:
    """Runs the command line; an error is one sentence and exit code 2."""
    try:
        app(standalone_mode=True)
    except GraderError as error:
        err.print(escape(str(error)), highlight=False, soft_wrap=True)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()

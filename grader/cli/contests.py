"""The command for an open-ended task: a class's models, and which of them comes where."""

from __future__ import annotations

import os
import secrets
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from grader.cli.grading import REQUIRE
from grader.cli.shared import app, err, out, warnings_told, write_json, write_text
from grader.errors import GraderError


@app.command(rich_help_panel="For a class")
def leaderboard(
    lesson: Annotated[str, typer.Argument(help="A lesson with a contest, such as 01_my_topic.")],
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            help="An entry's folder, or one with a folder for each learner; by default the course's submitted/."
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the table to this file as data.", dir_okay=False)
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the table to this file as a page.", dir_okay=False)] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the hidden problems; random by default.", min=0)] = None,
    jobs: Annotated[int, typer.Option(help="How many to score at a time.", min=1)] = 1,
    resume: Annotated[
        bool, typer.Option(help="Continue an earlier run: what has a place in the file of --json is not scored again.")
    ] = False,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Score the models that a class handed in, and say which of them comes where and which have no place."""
    from grader.running.zygotes import in_sight, warm_up

    warm_up(jobs)
    from grader.batch import progress
    from grader.leaderboard.contest import load_contest
    from grader.leaderboard.earlier import earlier
    from grader.leaderboard.entries import find_entries
    from grader.leaderboard.page import page
    from grader.leaderboard.run import Run, score_all
    from grader.leaderboard.scoring import Outcome
    from grader.leaderboard.standings import ranked, refusals, rules, table, to_json
    from grader.running.protection import check_walls

    name, contest, setting = load_contest(lesson)
    places = places or [_submitted()]
    folders = find_entries(places, contest, name)
    if not folders:
        raise GraderError(
            f"There is no {contest.folder}/{contest.code} of {name} in {', '.join(map(str, places))}. "
            "Collect what was handed in, or name a folder with entries."
        )
    setting = replace(setting, hidden=in_sight([*_kept(), *places]))
    with warnings_told():
        check_walls(setting, require_sandbox)
    for path in (json_file, html):
        if path is not None and not os.access(path.parent, os.W_OK):  # rather than when all is done
            raise GraderError(f"{path} can't be written: name a file in a folder that you may write to.")
    before = None
    if resume:
        if json_file is None:
            raise GraderError("--resume goes on with the table in a file: name that file with --json.")
        before = earlier(json_file, name, contest)
        if before is not None and seed not in (None, before.seed):
            raise GraderError(f"The run in {json_file} began with seed {before.seed}: leave --seed out.")
        seed = before.seed if before is not None else seed
    # An entry sees what is drawn for its training, and has two minutes to find out from which seed: so it's a long one.
    seed = secrets.randbits(53) if seed is None else seed
    outcomes: dict[str, Outcome] = {
        one: Outcome(one, refused="The run was stopped before its turn.") for one in folders
    }
    stopped = False
    with progress(err, "scoring", len(folders)) as advance:
        try:
            with closing(score_all(folders, Run(name, contest, setting, seed, jobs, before))) as scored:
                for outcome in scored:
                    outcomes[outcome.name] = outcome
                    advance(outcome.name)
                    known = before is not None and outcome in before.outcomes.values()
                    if json_file is not None and not known:  # a power cut costs no more than what is being scored
                        write_whole(json_file, to_json(ranked(outcomes.values()), name, seed, contest))
        except KeyboardInterrupt:
            stopped = True
    lines = ranked(outcomes.values())
    if any(line.place for line in lines):
        out.print(table(lines, contest))
        out.print()
    for line in refusals(lines):
        out.print(escape(f"No place: {line}"), highlight=False, soft_wrap=True)
    out.print(escape(rules(contest)), highlight=False, soft_wrap=True)
    out.print(f"hidden {contest.answers} drawn from seed {seed}", highlight=False)
    if json_file is not None:
        write_whole(json_file, to_json(lines, name, seed, contest))
    if html is not None:
        write_text(html, page(lines, name, seed, contest))
    if stopped or any(outcome.refused for outcome in outcomes.values()):
        raise typer.Exit(1)


def write_whole(path: Path, content: dict[str, Any]) -> None:
    """Writes a JSON file in one step: what was there stays until all of it is written.

    Raises:
        GraderError: when it can't be written.
    """
    fresh = path.with_name(f".{path.name}.new")
    write_json(fresh, content)
    try:
        os.replace(fresh, path)
    except OSError as error:
        raise GraderError(f"{path} can't be written: {error.strerror}.") from error


def _submitted() -> Path:
    """The folder of what was handed in, of the course in the working folder.

    Raises:
        GraderError: when there is none.
    """
    from grader.gradebook.course import Course

    course = Course.open(Path.cwd())
    found = course.root / str(course.directory.submitted_directory)
    if not found.is_dir():
        raise GraderError(f"Nothing has been handed in yet: there is no {found}. Run grader collect first.")
    return found


def _kept() -> list[Path]:
    """What the course in the working folder keeps to itself, if there is one."""
    from grader.gradebook.course import Course

    return Course.open(Path.cwd()).folders() if (Path.cwd() / "nbgrader_config.py").is_file() else []

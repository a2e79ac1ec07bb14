"""The command for an open-ended task: a class's models, and which of them comes where."""

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cellcheck.cli.grading import REQUIRE
from cellcheck.cli.shared import app, err, out, warnings_told, write_text
from cellcheck.errors import GraderError


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
        bool,
        typer.Option(help="Continue an earlier run: entries that have a place in the --json file aren't scored again."),
    ] = False,
    require_sandbox: Annotated[bool, typer.Option(help=REQUIRE)] = False,
) -> None:
    """Score and rank the models that a class handed in, and say which have no place, and why."""
    from cellcheck.running.zygotes import warm_up

    warm_up(jobs)
    from cellcheck import whole_class
    from cellcheck.batch import progress
    from cellcheck.leaderboard.standings import refusals, rules, table
    from cellcheck.leaderboard.standings_page import page

    if resume and json_file is None:
        raise GraderError("--resume goes on with the table in a file: name that file with --json.")
    if html is not None and not os.access(html.parent, os.W_OK):  # rather than when all is done
        raise GraderError(f"{html} can't be written: name a file in a folder that you may write to.")
    with warnings_told():
        scoring = whole_class.score_entries(
            lesson, places or (), seed=seed, jobs=jobs, table=json_file, resume=resume, require_sandbox=require_sandbox
        )
    standings = next(scoring)
    with progress(err, "scoring", len(standings.outcomes)) as advance, suppress(KeyboardInterrupt), closing(scoring):
        for standings in scoring:
            advance(standings.last)
    contest, lines = standings.contest, standings.lines
    if any(line.place for line in lines):
        out.print(table(lines, contest))
        out.print()
    for line in refusals(lines):
        out.print(escape(f"No place: {line}"), highlight=False, soft_wrap=True)
    out.print(escape(rules(contest)), highlight=False, soft_wrap=True)
    out.print(f"hidden {contest.answers} drawn from seed {standings.seed}", highlight=False)
    if html is not None:
        write_text(html, page(standings))
    if not standings.ok:
        raise typer.Exit(1)

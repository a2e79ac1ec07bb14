"""Commands for whoever builds a tutor: the benchmark."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cellcheck.cli.shared import app, out
from cellcheck.errors import GraderError

tutors = typer.Typer(no_args_is_help=True, help="A benchmark for tutors: each known mistake, and what a tutor says.")
app.add_typer(tutors, name="tutors", rich_help_panel="For authors")

Lessons = Annotated[list[str] | None, typer.Argument(help="Lessons; all of them unless named.")]
Sample = Annotated[int | None, typer.Option(help="Only so many mistakes, drawn at random.", min=1)]
Seed = Annotated[int, typer.Option(help="What they are drawn with.")]


@tutors.command()
def tasks(
    lessons: Lessons = None,
    sample: Sample = None,
    seed: Seed = 0,
    to: Annotated[Path, typer.Option(help="Where to write them.", dir_okay=False)] = Path("tasks.jsonl"),
) -> None:
    """Write the tasks: a line of JSON for each mistake, without its name."""
    from cellcheck.tutoring.scoring import write_tasks
    from cellcheck.tutoring.tasks import all_tasks
    from cellcheck.tutoring.tasks import sample as drawn

    chosen = list(all_tasks(lessons))
    chosen = chosen if sample is None else drawn(chosen, sample, seed)
    write_tasks(chosen, to)
    out.print(escape(f"{len(chosen)} tasks in {to}"), highlight=False, soft_wrap=True)


@tutors.command()
def score(
    replies: Annotated[Path, typer.Argument(help="A tutor's replies, as JSON lines.", dir_okay=False)],
    lessons: Lessons = None,
    sample: Sample = None,
    seed: Seed = 0,
    details: Annotated[Path | None, typer.Option(help="A line of JSON for each reply.", dir_okay=False)] = None,
) -> None:
    """Measure a tutor's replies. Code in them runs behind walls."""
    from cellcheck.tutoring.scoring import Line, read_replies, score_replies, table
    from cellcheck.tutoring.tasks import all_tasks
    from cellcheck.tutoring.tasks import sample as drawn

    chosen = list(all_tasks(lessons))
    chosen = chosen if sample is None else drawn(chosen, sample, seed)
    scored = [each for _, each in score_replies(read_replies(replies), chosen)]
    if details is not None:
        try:
            details.write_text("".join(f"{json.dumps(each.to_json())}\n" for each in scored), "utf-8")
        except OSError as error:
            raise GraderError(f"{details} can't be written: {error.strerror}.") from None
    out.print(escape(table([Line.of(replies.stem, scored)], chosen)), highlight=False, soft_wrap=True, end="")


@tutors.command()
def scripted(lessons: Lessons = None, sample: Sample = None, seed: Seed = 0) -> None:
    """Measure the three tutors that need no model, for comparison."""
    from cellcheck.tutoring.scoring import Line, table
    from cellcheck.tutoring.scoring import scripted as measured
    from cellcheck.tutoring.tasks import all_tasks
    from cellcheck.tutoring.tasks import sample as drawn

    chosen = list(all_tasks(lessons))
    chosen = chosen if sample is None else drawn(chosen, sample, seed)
    lines = [Line.of(name, scored) for name, scored in measured(chosen)]
    out.print(escape(table(lines, chosen)), highlight=False, soft_wrap=True, end="")

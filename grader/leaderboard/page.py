"""The table on a page of its own: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from grader.authoring.contest import Contest
from grader.leaderboard.standings import Line, rules, share
from grader.plain import visible

TRAINED_HERE = "The grader trained these models on problems of its own, so all that they know comes from those."
HANDED_IN = (
    "These came with trained weights. What they were trained on, and for how long, can't be known: they have places of "
    "their own."
)


def page(lines: Sequence[Line], lesson: str, seed: int, contest: Contest) -> str:
    """The page of one run. Jinja escapes whatever learners wrote."""
    there = [line for line in lines if line.place]
    return _template().render(
        title=contest.title,
        name=lesson,
        sizes=list(contest.hidden),
        parts=(
            ("Trained here", TRAINED_HERE, [line for line in there if line.outcome.trained]),
            ("Weights handed in", HANDED_IN, [line for line in there if not line.outcome.trained]),
        ),
        refused=[line for line in lines if not line.place],
        rules=rules(contest),
        answers=contest.answers,
        seed=seed,
        share=share,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("grader.leaderboard", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=lambda value: visible(value, limit=1000) if isinstance(value, str) else value,
    )
    return environment.get_template("page.html")

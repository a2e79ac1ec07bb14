"""The table on a page of its own: one self-contained HTML file."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from grader.leaderboard.standings import HANDED_IN, TRAINED, Standings, percent, rules
from grader.plain import visible

ABOUT_TRAINED = "The grader trained these models itself, on problems that it drew for them."
ABOUT_HANDED_IN = (
    "These came with their weights. Nobody can tell what they were trained on, or for how long, so they have places of "
    "their own."
)


def page(standings: Standings) -> str:
    """The page of one run. Jinja escapes whatever learners wrote."""
    contest, lines = standings.contest, standings.lines
    there = [line for line in lines if line.place]
    return _template().render(
        title=contest.title,
        name=standings.lesson,
        sizes=list(contest.hidden),
        parts=(
            (TRAINED, ABOUT_TRAINED, [line for line in there if line.outcome.trained]),
            (HANDED_IN, ABOUT_HANDED_IN, [line for line in there if not line.outcome.trained]),
        ),
        refused=[line for line in lines if not line.place],
        rules=rules(contest),
        answers=contest.answers,
        seed=standings.seed,
        percent=percent,
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

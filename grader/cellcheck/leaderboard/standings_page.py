"""The table on a page of its own: one self-contained HTML file."""

from cellcheck.leaderboard.standings import HANDED_IN, TRAINED, Standings, percent, rules
from cellcheck.plain import template, visible

ABOUT_TRAINED = "The grader trained these models itself, on problems that it drew for them."
ABOUT_HANDED_IN = (
    "These came with their weights. Nobody can tell what they were trained on, or for how long, so they have places of "
    "their own."
)


def page(standings: Standings) -> str:
    """The page of one run. Jinja escapes whatever learners wrote."""
    contest, lines = standings.contest, standings.lines
    there = [line for line in lines if line.place]
    return template("cellcheck.leaderboard", _shown).render(
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


def _shown(value: object) -> object:
    return visible(value, limit=1000) if isinstance(value, str) else value

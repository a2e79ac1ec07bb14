"""The page that shows pairs side by side: one self-contained HTML file for the instructor."""

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from cellcheck.plain import template, visible
from cellcheck.similarity.alike import SHARE, SHARED, Pair

CAUTION = (
    "Being alike is no proof of anything. Two people may have worked together where that was allowed, used the same "
    "book or the same assistant, or had the same idea. Look at a pair yourself, and ask before you conclude."
)


def page(name: str, pairs: Sequence[Pair], learners: int) -> str:
    """The page of one assignment."""
    return template("cellcheck.similarity").render(
        name=name, pairs=pairs, learners=learners, caution=CAUTION, share=SHARE, shared=SHARED, side=_side
    )


def _side(text: str, lines: frozenset[int]) -> list[tuple[str, bool]]:
    """The lines of an answer, and whether each is alike."""
    return [(line, number in lines) for number, line in enumerate(text.split("\n"))]


def table(pairs: Sequence[Pair]) -> Table:
    """A line for each pair."""
    rich_table = Table(box=None, pad_edge=False)
    rich_table.add_column("look at these together", overflow="fold")
    rich_table.add_column("alike", justify="right")
    rich_table.add_column("in")
    for pair in pairs:
        names = ", ".join(answer.name for answer in sorted(pair.answers, key=lambda a: -a.shared))
        rich_table.add_row(
            *(escape(visible(cell)) for cell in (" and ".join(pair.students), f"{pair.share:.0%}", names))
        )
    return rich_table

"""Who comes where, as a table for the terminal and as data.

The mean of the shares right at each size decides; of those that tie, the model with fewer parameters comes first.
Models that were trained here come before those whose weights were handed in: nobody can tell what these have learnt
from.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Self

from rich.markup import escape
from rich.table import Table

from cellcheck.authoring.contest import Contest
from cellcheck.leaderboard.scoring import Outcome
from cellcheck.plain import visible

TRAINED, HANDED_IN = "Trained here", "Weights handed in"


@dataclass(frozen=True)
class PlacedOutcome:
    """An outcome and its place among those of its kind; 0 for one that has none."""

    place: int
    outcome: Outcome

    @property
    def kind(self) -> str:
        """Where its weights come from."""
        return TRAINED if self.outcome.trained else HANDED_IN


@dataclass(frozen=True)
class Standings:
    """Who comes where in a contest, at some moment of a run."""

    lesson: str
    contest: Contest
    seed: int
    """What the hidden problems are drawn from."""
    outcomes: Mapping[str, Outcome]
    """By name, what came of each entry. One whose turn hasn't come is refused so far."""
    last: str = ""
    """Whose entry was scored last; empty at the beginning."""

    @property
    def lines(self) -> list[PlacedOutcome]:
        """The table: models trained here, then those that came with their weights, then those without a place."""
        return ranked(self.outcomes.values())

    @property
    def ok(self) -> bool:
        """Whether every entry has a place."""
        return not any(outcome.refused for outcome in self.outcomes.values())

    def with_one_more(self, outcome: Outcome) -> Self:
        """The standings once an entry is scored."""
        return replace(self, outcomes={**self.outcomes, outcome.name: outcome}, last=outcome.name)

    def to_json(self) -> dict[str, Any]:
        """The table as data."""
        return {
            "version": 1,
            "lesson": self.lesson,
            "seed": self.seed,
            "terms": terms(self.contest),
            "entries": [_entry(line) for line in self.lines],
        }


def ranked(outcomes: Iterable[Outcome]) -> list[PlacedOutcome]:
    """The table's lines: trained here, then weights handed in, each by merit; then those that have no place.

    Whoever ties in parameters too shares a place.
    """
    everybody = sorted(outcomes, key=lambda one: one.name)
    lines: list[PlacedOutcome] = []
    for trained in (True, False):
        there = [one for one in everybody if one.trained == trained and not one.refused]
        there.sort(key=_merit)
        merits = [_merit(one) for one in there]
        lines += [PlacedOutcome(1 + merits.index(_merit(one)), one) for one in there]
    return lines + [PlacedOutcome(0, one) for one in everybody if one.refused]


def _merit(one: Outcome) -> tuple[Fraction, int]:
    # Exact, so that a tie is one on every machine.
    return -sum((Fraction(right, of) for right, of in one.right.values()), Fraction()), one.parameters


def table(lines: Sequence[PlacedOutcome], contest: Contest) -> Table:
    """A line for each entry that has a place, under a heading for each kind. It fits into 80 columns."""
    rich_table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    rich_table.add_column("", justify="right", no_wrap=True)
    rich_table.add_column("who", overflow="fold", min_width=10)
    for column in ("mean", *map(str, contest.hidden), "params", "training", "answer"):
        rich_table.add_column(column, justify="right", no_wrap=True)
    for kind in (TRAINED, HANDED_IN):
        there = [line for line in lines if line.place and line.kind == kind]
        if there:
            rich_table.add_row("", escape(kind), style="bold")
        for line in there:
            rich_table.add_row(*map(escape, cells(line, contest)))
    return rich_table


def cells(line: PlacedOutcome, contest: Contest) -> list[str]:
    """What stands in a line of the table: place, name, mean, share by size, parameters, seconds."""
    one = line.outcome
    return [
        f"{line.place}.",
        visible(one.name),
        f"{100 * one.score:.1f}",
        *(percent(*one.right[size]) for size in contest.hidden),
        f"{one.parameters:,}",
        f"{one.training_seconds:.0f} s" if one.trained else "-",
        f"{one.answering_seconds:.0f} s",
    ]


def percent(right: int, of: int) -> str:
    """A share in percent; 100 and 0 only where it is all or none."""
    rounded = round(100 * right / of)
    rounded = min(rounded, 99) if right < of else rounded
    return str(max(rounded, 1) if right else rounded)


def refusals(lines: Sequence[PlacedOutcome]) -> list[str]:
    """A sentence about each entry that has no place."""
    return [f"{visible(line.outcome.name)}: {visible(line.outcome.refused)}" for line in lines if not line.place]


def rules(contest: Contest) -> str:
    """What the columns say, and what an entry may use."""
    most = contest.allowance
    return (
        f"The columns {min(contest.hidden)} to {max(contest.hidden)} give, by the number of {contest.size}, how many "
        f"percent of the hidden {contest.answers} are completely right. An entry may have {most.parameters:,} "
        f"parameters, {most.training_seconds:g} seconds of processor time to train and {most.answering_seconds:g} to "
        f"answer, and {most.memory_bytes // 2**20:,} MB of memory. Ties go to the smaller model."
    )


def terms(contest: Contest) -> dict[str, Any]:
    """What all entries of a run have in common, as data."""
    hidden = {str(size): count for size, count in contest.hidden.items()}
    return {"hidden": hidden, "allowance": asdict(contest.allowance)}


def _entry(line: PlacedOutcome) -> dict[str, Any]:
    one = line.outcome
    return {
        "name": one.name,
        "place": line.place or None,
        "trained_here": one.trained,
        "mean": round(one.score, 6),
        "right": {str(size): {"right": right, "of": of} for size, (right, of) in one.right.items()},
        "parameters": one.parameters,
        "training_seconds": round(one.training_seconds, 2),
        "answering_seconds": round(one.answering_seconds, 2),
        "refused": one.refused or None,
        "sha256": one.digest or None,
    }

"""What an earlier run wrote as data, so that a run that was stopped goes on instead of beginning anew."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellcheck.authoring.contest import Contest
from cellcheck.errors import GraderError
from cellcheck.leaderboard.scoring import Outcome
from cellcheck.leaderboard.standings import terms


@dataclass(frozen=True)
class Earlier:
    """The seed of an earlier run, and the entries that had a place in it, by name."""

    seed: int
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)

    def of(self, name: str, digest: str) -> Outcome | None:
        """What came of the very same entry."""
        outcome = self.outcomes.get(name)
        return outcome if outcome is not None and outcome.digest == digest else None


def earlier(path: Path, lesson: str, contest: Contest) -> Earlier | None:
    """What the file `path` says; None where there is none yet.

    Those without a place aren't in it: what they lacked may have been time, on a busy machine.

    Raises:
        GraderError: when it isn't what `to_json` makes, or was made for another lesson or under other terms.
    """
    try:
        written = json.loads(path.read_text("utf-8"))
        same = (written["lesson"], written["terms"]) == (lesson, terms(contest))
        outcomes = [_outcome(entry) for entry in written["entries"] if entry["place"] is not None]
        seed = int(written["seed"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise GraderError(f"{path} isn't a table that cellcheck leaderboard wrote: leave --resume out.") from None
    if not same:
        raise GraderError(f"{path} is the table of another contest, or its terms have changed: leave --resume out.")
    return Earlier(seed, {outcome.name: outcome for outcome in outcomes})


def _outcome(entry: Mapping[str, Any]) -> Outcome:
    return Outcome(
        str(entry["name"]),
        bool(entry["trained_here"]),
        {int(size): (int(counts["right"]), int(counts["of"])) for size, counts in entry["right"].items()},
        int(entry["parameters"]),
        float(entry["training_seconds"]),
        float(entry["answering_seconds"]),
        digest=str(entry["sha256"]),
    )

"""What came of one submission: a plain value, which a file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from grader.checking.judge import AspectResult, Verdict


@dataclass(frozen=True)
class OwnTest:
    """A test cell that an instructor added, and that is no `check`: its text as it was released, and its points."""

    source: str
    points: float


@dataclass(frozen=True)
class OwnResult:
    """What came of an instructor's own test cell. It ran where the learner's code runs: its points can be forged."""

    name: str
    score: float
    max_score: float
    message: str


@dataclass(frozen=True)
class Result:
    """What came of one submission."""

    notebook: str
    lesson: str
    verdicts: tuple[Verdict, ...]
    repairs: tuple[str, ...]
    seconds: float
    own_tests: tuple[OwnResult, ...] = ()
    """Not part of the score, which is the lesson's; an instructor's gradebook has both."""
    cells: tuple[tuple[int, float], ...] = ()
    """Number and seconds of each cell that was run, for the learner's page."""

    @property
    def score(self) -> float:
        """The points earned."""
        return round(sum(verdict.score for verdict in self.verdicts), 2)

    @property
    def max_score(self) -> float:
        """The points there are."""
        return round(sum(verdict.max_score for verdict in self.verdicts), 2)

    def to_json(self) -> dict[str, Any]:
        """The entry in the JSON contract."""
        return {
            "notebook": self.notebook,
            "lesson": self.lesson,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "repairs": list(self.repairs),
            "exercises": [verdict.to_json() for verdict in self.verdicts],
            **({"forgeable": [asdict(test) for test in self.own_tests]} if self.own_tests else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """The result that `to_json` wrote; what it did not write (pictures, details) is gone."""
        verdicts = tuple(
            Verdict(
                symbol=entry["symbol"],
                score=entry["score"],
                max_score=entry["max_score"],
                status=entry["status"],
                message=entry["message"],
                aspects=tuple(AspectResult(aspect["name"], aspect["passed"]) for aspect in entry["aspects"]),
                diagnosis=entry["diagnosis"],
            )
            for entry in data["exercises"]
        )
        own = tuple(OwnResult(**entry) for entry in data.get("forgeable", ()))
        return cls(data["notebook"], data["lesson"], verdicts, tuple(data["repairs"]), data["seconds"], own)

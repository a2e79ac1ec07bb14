"""What came of submissions: plain values, and the JSON that `--json` writes of them.

`grader/cellcheck/results.schema.json` describes that JSON; docs/api.md says what may change in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from cellcheck.checking.judge import FAILED, MISSING, PARTIAL, PASSED, Status, Verdict
from cellcheck.errors import GraderError

VERSION = 1
_UNNAMED = re.compile(r"cell-[0-9a-f]{16}")
"""What nbgrader calls a cell that nobody has given a name."""


@dataclass(frozen=True)
class OwnTest:
    """A test cell of an instructor's own, which isn't a `check`: its text as it was released, and its points."""

    name: str
    source: str
    points: float
    notebook: str = ""
    """The notebook it stands in, where there may be several."""
    number: int = 0
    """Which of its notebook's tests it is, from 1; 0 where that isn't known."""
    hidden: frozenset[str] = frozenset()
    """The lines of its hidden part, which no learner reads."""
    of_blank: bool = False
    """Whether nobody has written anything into the answer that it follows."""

    def result(self, score: float, status: Status, message: str) -> OwnResult:
        """What came of it."""
        return OwnResult(self.name, score, self.points, message, status, self.notebook, self.number)


@dataclass(frozen=True)
class OwnResult:
    """What came of an instructor's own test cell. It ran where the learner's code runs: its points can be forged."""

    name: str
    score: float
    max_score: float
    message: str
    status: Status = PASSED
    """As a verdict's; "missing" where the whole notebook is."""
    notebook: str = ""
    """The notebook it stands in; empty where there is only the lesson's."""
    number: int = 0
    """Which of its notebook's tests it is, from 1; 0 where that isn't known."""

    @property
    def title(self) -> str:
        """What it is called where there may be several notebooks."""
        return _title(self.notebook, _named(self.name, "test", self.number))

    def to_json(self) -> dict[str, Any]:
        """The entry under `forgeable` in the JSON contract."""
        return asdict(self)


@dataclass(frozen=True)
class HandResult:
    """A cell whose points a person gives, as the gradebook has it. Not part of the JSON."""

    name: str
    score: float | None
    """None while nobody has looked at it."""
    max_score: float
    comment: str = ""
    notebook: str = ""
    blank: bool = False
    """Whether nothing was written, for which the machine gives no points."""
    number: int = 0
    """Which of its notebook's answers for a person it is, from 1; 0 where that isn't known."""

    @property
    def title(self) -> str:
        """What it is called where there may be several notebooks."""
        return _title(self.notebook, _named(self.name, "answer", self.number))

    @property
    def status(self) -> Status:
        """As a verdict's."""
        if self.blank:
            return MISSING
        return PASSED if (self.score or 0.0) >= self.max_score else PARTIAL if self.score else FAILED


def _named(name: str, what: str, number: int) -> str:
    return f"{what} {number}" if number and _UNNAMED.fullmatch(name) else name


def _title(notebook: str, name: str) -> str:
    return f"{notebook}/{name}" if notebook else name


Part = Verdict | OwnResult | HandResult


def title_of(part: Part) -> str:
    """What a part is called in a table."""
    return part.symbol if isinstance(part, Verdict) else part.title


@dataclass(frozen=True)
class Result:
    """What came of one submission."""

    notebook: str
    """The path it was read from; empty where only its bytes were given."""
    lesson: str
    """The lesson's full name."""
    verdicts: tuple[Verdict, ...]
    """One for each of the lesson's exercises, in the lesson's order."""
    repairs: tuple[str, ...]
    """What was put right or left out, a sentence each. None of it lowers a mark."""
    seconds: float
    """How long it took, by the clock on the wall."""
    own_tests: tuple[OwnResult, ...] = ()
    """One for each test cell of an instructor's own."""
    cells: tuple[tuple[int, float], ...] = ()
    """Number and seconds of each cell that was run. Not part of the JSON."""
    by_hand: tuple[HandResult, ...] = ()
    """What people gave, where the gradebook was asked. Not part of the JSON."""
    penalty: float = 0.0
    """Points taken off for being late, where the gradebook was asked. Not part of the JSON."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that earns points."""
        return (*self.verdicts, *self.own_tests, *self.by_hand)

    @property
    def score(self) -> float:
        """The points earned."""
        return round(sum(part.score or 0.0 for part in self.parts), 2)

    @property
    def max_score(self) -> float:
        """The points there are."""
        return round(sum(part.max_score for part in self.parts), 2)

    @property
    def mark(self) -> float:
        """What counts: the points earned, less the penalty."""
        return round(max(0.0, self.score - self.penalty), 2)

    @property
    def waiting(self) -> int:
        """How many answers a person must still grade."""
        return sum(part.score is None and part.max_score > 0 for part in self.by_hand)

    def to_json(self) -> dict[str, Any]:
        """The entry under `results` in the JSON contract."""
        return {
            "notebook": self.notebook,
            "lesson": self.lesson,
            "score": self.score,
            "max_score": self.max_score,
            "seconds": round(self.seconds, 3),
            "repairs": list(self.repairs),
            "exercises": [verdict.to_json() for verdict in self.verdicts],
            **({"forgeable": [test.to_json() for test in self.own_tests]} if self.own_tests else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """The result that `to_json` wrote; what is not part of the JSON is gone, keys it does not know are left."""
        names = [field.name for field in fields(OwnResult)]
        own = (OwnResult(**{key: t[key] for key in names if key in t}) for t in data.get("forgeable", ()))
        verdicts = tuple(Verdict.from_json(entry) for entry in data["exercises"])
        return cls(data["notebook"], data["lesson"], verdicts, tuple(data["repairs"]), data["seconds"], tuple(own))


@dataclass(frozen=True)
class Failure:
    """A notebook that could not be graded, and the sentence that says why."""

    notebook: str
    """Its path."""
    message: str

    def to_json(self) -> dict[str, Any]:
        """The entry under `errors` in the JSON contract."""
        return {"notebook": self.notebook, "message": self.message}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Failure:
        """The failure that `to_json` wrote."""
        return cls(data["notebook"], data["message"])


def to_json(outcomes: Iterable[Result | Failure]) -> dict[str, Any]:
    """What `cellcheck grade --json FILE` writes of these outcomes, as plain dictionaries, lists, numbers and texts."""
    outcomes = list(outcomes)
    return {
        "version": VERSION,
        "results": [outcome.to_json() for outcome in outcomes if isinstance(outcome, Result)],
        "errors": [outcome.to_json() for outcome in outcomes if isinstance(outcome, Failure)],
    }


def from_json(document: Mapping[str, Any]) -> list[Result | Failure]:
    """The outcomes in what `to_json` or `--json` wrote: the results in their order, then the failures.

    Raises:
        GraderError: when it is not such a document, or of a version that this grader does not know.
    """
    try:
        if document["version"] != VERSION:
            raise GraderError(
                f"These results are of version {document['version']}, and this grader reads version {VERSION}."
            )
        results = [Result.from_json(entry) for entry in document["results"]]
        return [*results, *(Failure.from_json(entry) for entry in document["errors"])]
    except (KeyError, TypeError, AttributeError) as error:
        raise GraderError("This is not what cellcheck grade --json writes.") from error

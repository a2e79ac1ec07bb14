"""What the course offers: read from the released notebooks themselves, so that nothing is listed twice.

The notebooks stand in the checkout, and travel with an installed course.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.running.reading import parse, source_of

DISTRIBUTION = "transformers-cell-by-cell"
_CHECKOUT = Path(__file__).resolve().parents[2] / "notebooks"
_NAME = re.compile(r"\d\d_\w+")

_TITLE = re.compile(r"^# Lesson (\d+) · (.+)$", re.MULTILINE)
_GIVES = re.compile(r"\*\*What you will be able to do\*\*\n\n((?:- .+\n(?:  .+\n)*)+)")
_TIME = re.compile(r"^\*\*Time\.\*\* ([^.]+)\.", re.MULTILINE)
_BUILDS_ON = re.compile(r"^This lesson builds on (.+?)\.(?=\s|$)", re.MULTILINE | re.DOTALL)
_EXERCISE = re.compile(r"^### Exercise: `(\w+)` · (\w+) · difficulty (\d) · (\d+) minutes$", re.MULTILINE)


@dataclass(frozen=True)
class Exercise:
    """An exercise, as its heading in the notebook announces it."""

    symbol: str
    kind: str
    minutes: int
    points: float


@dataclass(frozen=True)
class Offer:
    """A lesson, as its notebook announces it."""

    name: str
    number: int
    title: str
    gives: tuple[str, ...]
    """What you will be able to do."""
    time: str
    builds_on: str
    exercises: tuple[Exercise, ...]

    @property
    def points(self) -> float:
        """All that can be earned."""
        return sum(exercise.points for exercise in self.exercises)


@lru_cache(maxsize=1)
def released() -> dict[str, Path]:
    """The released notebook of each lesson, in order.

    Raises:
        GraderError: when the course was copied without its notebooks.
    """
    found = {path.stem: path for path in _CHECKOUT.glob("*/*.ipynb") if path.stem == path.parent.name} or _installed()
    lessons = {name: found[name] for name in sorted(found) if _NAME.fullmatch(name)}
    if not lessons:
        raise GraderError("The course's notebooks are missing: install the course with pip, or use its repository.")
    return lessons


def offers() -> list[Offer]:
    """All lessons, in order."""
    return [_offer(path, path.stat().st_mtime_ns) for path in released().values()]


def lesson_called(name: str) -> str:
    """The full name of a lesson ("01" will do).

    Raises:
        GraderError: when there is none.
    """
    for known in released():
        if name in (known, known.split("_")[0]):
            return known
    raise GraderError(f"There is no lesson {name!r}. These exist: {', '.join(released())}.")


def _installed() -> dict[str, Path]:
    """The notebooks as pip installed them: it wrote down where it put everything."""
    try:
        listed = files(DISTRIBUTION) or []
    except PackageNotFoundError:
        return {}
    paths = [Path(str(file.locate())).resolve() for file in listed if file.parts[-3:-1] == (DISTRIBUTION, "notebooks")]
    return {path.stem: path for path in paths if path.is_file()}


@lru_cache(maxsize=64)
def _offer(path: Path, _changed: int) -> Offer:
    cells: list[dict[str, Any]] = parse(path.read_bytes())
    prose = "\n\n".join(source_of(cell) for cell in cells if cell["cell_type"] == "markdown") + "\n"
    title, gives, time = _TITLE.search(prose), _GIVES.search(prose), _TIME.search(prose)
    if title is None or gives is None or time is None:
        raise GraderError(f"{path} does not say what the lesson is: its title, what it gives, and its time.")
    builds_on = _BUILDS_ON.search(prose)
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    worth = {mark["grade_id"]: float(mark["points"]) for mark in marks if mark.get("grade") and "points" in mark}
    return Offer(
        name=path.stem,
        number=int(title[1]),
        title=_plain(title[2]),
        gives=tuple(_plain(line) for line in re.split(r"^- ", gives[1], flags=re.MULTILINE)[1:]),
        time=_plain(time[1]),
        builds_on=_plain(builds_on[1]) if builds_on else "",
        exercises=tuple(
            Exercise(symbol, kind, int(minutes), worth.get(f"test_{symbol}", 0.0))
            for symbol, kind, _, minutes in _EXERCISE.findall(prose)
        ),
    )


def _plain(markdown: str) -> str:
    """Markdown of one paragraph as plain text: links by their words, no marks, one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]", "", text).split())

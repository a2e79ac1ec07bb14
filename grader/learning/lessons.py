"""What the course offers: read from the released notebooks themselves, so that nothing is listed twice.

The notebooks stand in the checkout, and travel with an installed course.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.running.reading import parse, source_of
from grader.syllabus import Syllabus, find_lesson, syllabi

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


def released() -> dict[str, Path]:
    """The released notebook of each lesson, in order.

    Raises:
        GraderError: when a course was copied without its notebooks.
    """
    found = {name: path for syllabus in syllabi() for name, path in _notebooks(syllabus).items()}
    if not found:
        raise GraderError(
            "The course's notebooks are missing: install the course with pip, or use its repository and grader build."
        )
    return found


def offers() -> list[Offer]:
    """All lessons, in order."""
    return [_offer(path, path.stat().st_mtime_ns) for path in released().values()]


def offer(name: str, notebook: bytes) -> Offer:
    """What the released notebook of the lesson `name` announces.

    Raises:
        GraderError: when it leaves out something that learners are told on the start page.
    """
    cells: list[dict[str, Any]] = parse(notebook)
    prose = "\n\n".join(source_of(cell) for cell in cells if cell["cell_type"] == "markdown") + "\n"
    title = _told(_TITLE, prose, name, "its number and title, as in `# Lesson NUMBER · TITLE`")
    gives = _told(_GIVES, prose, name, "a list after **What you will be able to do**")
    time = _told(_TIME, prose, name, "how long it takes, as in `**Time.** About 30 minutes.`")
    builds_on = _BUILDS_ON.search(prose)
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    worth = {mark["grade_id"]: float(mark["points"]) for mark in marks if mark.get("grade") and "points" in mark}
    return Offer(
        name=name,
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


def lesson_called(name: str) -> str:
    """The full name of a lesson ("01" will do).

    Raises:
        GraderError: when there is none.
    """
    return find_lesson(name)[1]


def _notebooks(syllabus: Syllabus) -> dict[str, Path]:
    found = {name: syllabus.notebook(name) for name in syllabus.names()}
    return {name: path for name, path in found.items() if path.is_file()} or _installed(syllabus)


@cache
def _installed(syllabus: Syllabus) -> dict[str, Path]:
    """The notebooks as pip installed them: it wrote down where it put everything."""
    try:
        listed = files(syllabus.distribution or "") or []
    except (PackageNotFoundError, ValueError):  # ValueError: a name is wanted
        return {}
    paths = [Path(str(file.locate())).resolve() for file in listed if file.parts[-2:-1] == ("notebooks",)]
    there = {path.stem: path for path in paths if path.is_file()}
    return {name: there[name] for name in syllabus.names() if name in there}


@lru_cache(maxsize=64)
def _offer(path: Path, _changed: int) -> Offer:
    return offer(path.stem, path.read_bytes())


def _told(pattern: re.Pattern[str], prose: str, name: str, what: str) -> re.Match[str]:
    found = pattern.search(prose)
    if found is None:
        raise GraderError(f"The text of {name} does not tell learners what the lesson is: add {what}.")
    return found


def _plain(markdown: str) -> str:
    """Markdown of one paragraph as plain text: links by their words, no marks, one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]", "", text).split())

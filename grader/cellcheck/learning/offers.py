"""What the course offers: what the lessons' texts announce, and the notebooks to begin with.

The notebooks stand in the checkout, and travel with an installed course, in its package.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cellcheck.errors import GraderError
from cellcheck.lesson_text import Head
from cellcheck.running.plain_cells import parse
from cellcheck.syllabus import Syllabus, find_lesson, syllabi


@dataclass(frozen=True)
class OfferedExercise:
    """An exercise, as the lesson's text announces it."""

    symbol: str
    kind: str
    minutes: int
    points: float
    difficulty: int = 1
    part: str = ""
    """The section of the text that it stands in, by its heading."""


@dataclass(frozen=True)
class Offer:
    """A lesson, as its text announces it."""

    name: str
    head: Head
    exercises: tuple[OfferedExercise, ...]

    @property
    def number(self) -> int:
        """The number that its name begins with."""
        return int(self.name.split("_")[0])

    @property
    def title(self) -> str:
        """What it is called."""
        return _plain(self.head.title)

    @property
    def heading(self) -> str:
        """Its number, its title, and its topic if it has one: what a page about it is called."""
        return f"Lesson {self.number} · {_plain(self.head.called)}"

    @property
    def gives(self) -> tuple[str, ...]:
        """What you will be able to do."""
        return tuple(map(_plain, self.head.gives))

    @property
    def builds_on(self) -> str:
        """What it builds on, as part of a sentence; empty where that is nothing."""
        return _plain(self.head.foundations(lambda name: f"lesson {int(name.split('_')[0])}"))

    @property
    def points(self) -> float:
        """All that can be earned."""
        return sum(exercise.points for exercise in self.exercises)


def released() -> dict[str, Path]:
    """The released notebook of each lesson, in order.

    Raises:
        GraderError: when a course was copied without its notebooks.
    """
    return {name: path for _, notebooks in _released() for name, path in notebooks.items()}


def offers() -> list[Offer]:
    """All lessons that are released, in order.

    Raises:
        GraderError: when a course was copied without its notebooks, or a text's head is missing or at fault.
    """
    return [
        _offer(
            syllabus,
            notebook.stem,
            notebook,
            syllabus.text(notebook.stem).stat().st_mtime_ns,
            notebook.stat().st_mtime_ns,
        )
        for syllabus, notebooks in _released()
        for notebook in notebooks.values()
    ]


def lesson_called(name: str) -> str:
    """The full name of a lesson ("01" will do).

    Raises:
        GraderError: when there is none.
    """
    return find_lesson(name)[1]


def _released() -> list[tuple[Syllabus, dict[str, Path]]]:
    releases = [(syllabus, _notebooks(syllabus)) for syllabus in syllabi()]
    if not any(notebooks for _, notebooks in releases):
        raise GraderError(
            "The course's notebooks are missing: install the course with pip, or run cellcheck build in its repository."
        )
    return releases


def _notebooks(syllabus: Syllabus) -> dict[str, Path]:
    notebooks = {name: syllabus.notebook(name) for name in syllabus.names()}
    return {name: path for name, path in notebooks.items() if path.is_file()}


@lru_cache(maxsize=64)
def _offer(syllabus: Syllabus, name: str, notebook: Path, *_changed: int) -> Offer:
    points = _points(notebook)
    return Offer(
        name,
        syllabus.head(name),
        tuple(
            OfferedExercise(
                each.symbol,
                each.kind,
                each.minutes,
                points.get(each.symbol, 0.0),
                each.difficulty,
                _plain(each.part),
            )
            for each in syllabus.announced(name)
        ),
    )


def _points(notebook: Path) -> dict[str, float]:
    """What each exercise is worth: nbgrader's own mark in the notebook, since a TRIAL is not read without torch."""
    marks = [cell["metadata"].get("nbgrader", {}) for cell in parse(notebook.read_bytes())]
    return {
        mark["grade_id"].removeprefix("test_"): float(mark["points"])
        for mark in marks
        if mark.get("grade") and "points" in mark
    }


def _plain(markdown: str) -> str:
    """Markdown of one paragraph as plain text: links by their words, no marks, one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]", "", text).split())

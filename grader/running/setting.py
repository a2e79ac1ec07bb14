"""What the learner's process must know of a lesson: where to import what from. Names and folders; no answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from grader.syllabus import Syllabus, find_lesson, library_of, load_lesson, load_probes, modules_of


@dataclass(frozen=True)
class Setting:
    """See the module's docstring. It crosses the border as JSON."""

    lesson: str
    root: str
    """The course's folder: the library and the lessons are imported from here."""
    lessons: str
    """The package of lessons. It is hidden once all that is needed of it is imported."""
    probes: str | None
    """How the symbols are called; None where all are plain functions."""
    experiments: str | None
    """What the notebook's set-up cell imports of the lesson; None where the lesson has nothing of the kind."""
    library: tuple[str, ...]
    """The packages that learners build."""
    blanked: tuple[str, ...]
    """The modules of the library in which this lesson's symbols are blank."""

    def to_json(self) -> dict[str, Any]:
        """The order that makes a warm process one for this lesson."""
        return asdict(self)


def setting_of(name: str) -> Setting:
    """The setting of a lesson.

    Raises:
        UnknownLesson: when there is none.
        GraderError: when its folder is at fault.
    """
    return _setting(*find_lesson(name))


@cache
def _setting(syllabus: Syllabus, full: str) -> Setting:
    lesson = load_lesson(full)
    load_probes(full)  # refuses those that bring an answer along

    def module(part: str) -> str | None:
        return syllabus.module(full, part) if syllabus.has(full, part) else None

    return Setting(
        lesson=full,
        root=str(syllabus.root),
        lessons=syllabus.package,
        probes=module("probes"),
        experiments=module("experiments"),
        library=library_of(lesson),
        blanked=tuple(modules_of([lesson])),
    )

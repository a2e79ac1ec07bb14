"""The whole way: from downloads to `submitted/`, and what there is to say about it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.collecting.choosing import Ask, counting, of_the_usual_lesson
from grader.collecting.placing import Place, Refused
from grader.collecting.reading import Doubt, Reader, TooMuch
from grader.collecting.roster import Roster
from grader.collecting.sorting import Sorter, Submission
from grader.running.assignment import Assignment


@dataclass(frozen=True)
class Collected:
    """What was collected, what was done with each, and what is left for a person to decide."""

    placed: tuple[tuple[Submission, str], ...]
    doubts: tuple[Doubt, ...]
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each lesson, who on the roster handed in nothing, neither now nor before; "" is any lesson."""


def collect(
    paths: Sequence[Path],
    into: Path,
    lesson: str | None = None,
    roster: Roster | None = None,
    ask: Ask | None = None,
    plain: Assignment | None = None,
) -> Collected:
    """Puts what was handed in into `into`, as nbgrader wants it.

    Args:
        paths: folders, zip files, notebooks.
        into: nbgrader's `submitted/`.
        lesson: its full name, to take nothing else, and for notebooks that do not tell.
        roster: who is who, if the names of the download are not nbgrader's.
        plain: what `lesson` is, where it isn't a lesson.
        ask: answers whether a notebook of another lesson than the rest is to count; without it, it isn't.

    Raises:
        GraderError: when a path can't be read.
    """
    with tempfile.TemporaryDirectory(prefix="grader-") as spool:
        reader, sorter, place = Reader(Path(spool)), Sorter(lesson, roster, plain), Place(into, plain)
        for path in paths:
            try:
                sorter.add(reader.read(path))
            except TooMuch as error:
                sorter.doubts.append(Doubt(str(path), str(error)))
        found, undecided = counting(sorter.submissions)
        found, unusual = (found, []) if lesson is not None else of_the_usual_lesson(found, ask)
        placed, refused = [], []
        try:
            for made in found:
                try:
                    placed.append((made, place.put(made)))
                except Refused as error:
                    refused.append(Doubt(made.shown, str(error)))
        finally:
            place.remember()
    doubts = (*sorter.doubts, *undecided, *unusual, *refused)
    lessons = [lesson] if lesson is not None else sorted({made.lesson for made, _ in placed}) or [""]
    missing = {name: place.missing(name, roster.students, sorter.met) for name in lessons} if roster else {}
    return Collected(tuple(placed), doubts, missing)

"""The whole way: from downloads to `submitted/`, and what there is to say about it."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cellcheck.collecting.choosing import Ask, counting, of_the_usual_lesson
from cellcheck.collecting.downloads import Doubt, DownloadReader, TooMuch
from cellcheck.collecting.placing import NotPlaced, SubmittedFolder
from cellcheck.collecting.roster import Roster
from cellcheck.collecting.sorting import Sorter, Submission
from cellcheck.running.assignment import Assignment


@dataclass(frozen=True)
class Collected:
    """What was collected, what was done with each, and what is left for a person to decide."""

    placed: tuple[tuple[Submission, str], ...]
    doubts: tuple[Doubt, ...]
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each lesson, who on the roster handed in nothing, neither now nor before; "" is any lesson."""
    strangers: tuple[str, ...] = ()
    """Who is in the folder, and not on the roster."""


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
        reader, sorter, place = DownloadReader(Path(spool)), Sorter(lesson, roster, plain), SubmittedFolder(into, plain)
        for path in paths:
            try:
                sorter.add(reader.read(path))
            except TooMuch as error:
                sorter.doubts.append(Doubt(str(path), str(error)))
        submissions, undecided = counting(sorter.submissions)
        submissions, unusual = (submissions, []) if lesson is not None else of_the_usual_lesson(submissions, ask)
        placed, refused = [], []
        try:
            for submission in submissions:
                try:
                    placed.append((submission, place.put(submission)))
                except NotPlaced as error:
                    refused.append(Doubt(submission.shown, str(error)))
            doubts = (*sorter.doubts, *undecided, *unusual, *refused)
            lessons = [lesson] if lesson is not None else sorted({submission.lesson for submission, _ in placed})
            if len(lessons) == 1:
                done = {submission.student for submission, _ in placed}
                for doubt in doubts:
                    for student in {*doubt.students} & sorter.origins.keys() - done:
                        place.refuse(student, lessons[0], doubt.why, sorter.origins[student])
        finally:
            place.remember()
    lessons = lessons or [""]
    missing = {name: place.missing(name, roster.students, sorter.met) for name in lessons} if roster else {}
    return Collected(tuple(placed), doubts, missing, place.strangers(roster.students) if roster else ())

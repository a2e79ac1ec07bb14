"""The whole way: from downloads to `submitted/`, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.collecting.placing import Place, Refused
from grader.collecting.reading import Doubt, Reader
from grader.collecting.roster import Roster
from grader.collecting.sorting import Sorter, Submission


@dataclass(frozen=True)
class Collected:
    """What was collected, what was done with each, and what is left for a person to decide."""

    placed: tuple[tuple[Submission, str], ...]
    doubts: tuple[Doubt, ...]


def collect(paths: Sequence[Path], into: Path, lesson: str | None = None, roster: Roster | None = None) -> Collected:
    """Puts what was handed in into `into`, as nbgrader wants it.

    Args:
        paths: folders, zip files, notebooks.
        into: nbgrader's `submitted/`.
        lesson: its full name, to take nothing else, and for notebooks that do not tell.
        roster: who is who, if the names of the download are not nbgrader's.

    Raises:
        GraderError: when a path can't be read, or is too large.
    """
    reader, sorter, place = Reader(), Sorter(lesson, roster), Place(into)
    for path in paths:
        sorter.add(reader.read(path))
    placed, refused = [], []
    for made in sorter.counting():
        try:
            placed.append((made, place.put(made)))
        except Refused as error:
            refused.append(Doubt(made.shown, str(error)))
    return Collected(tuple(placed), (*reader.doubts, *sorter.doubts, *refused))

"""Putting a submission into nbgrader's `submitted/`. Nothing that is there is overwritten."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.collecting.sorting import Submission, is_blank
from grader.errors import GraderError
from grader.files import write_whole
from grader.running.assignment import Assignment
from grader.running.handed_in import is_untouched
from grader.running.intake import read_file

COLLECTED, ALREADY, NEWER = "collected", "already there", "newer: replaced"
RECORD = ".collected.json"
EARLIER = ".earlier"


class Refused(GraderError):
    """This one was not put there; the message says why."""


@dataclass
class Place:
    """The folder `submitted/`, and a record of what was put there from which platform."""

    into: Path
    plain: Assignment | None = None
    """Set where a plain assignment is put there."""

    def __post_init__(self) -> None:
        try:
            found = json.loads((self.into / RECORD).read_text("utf-8"))
        except (OSError, ValueError):
            found = {}
        self._record: dict[str, Any] = found if isinstance(found, dict) else {}
        self._changed = False
        there = sorted(path.name for path in self.into.iterdir()) if self.into.is_dir() else []
        self._learners = {name.casefold(): name for name in there}

    def put(self, made: Submission) -> str:
        """Puts a submission into its folder; says what that was.

        Raises:
            Refused: when something else is there, or it can't be written.
        """
        key = f"{made.student}/{made.lesson}"
        folder = self.into / made.student / made.lesson
        try:
            self._check(made.student, folder)
            there = folder.exists()
            if there and _same(folder, made):
                if "from" not in self._record.get(key, {}):  # the run that put it there could not say so
                    self._remember(key, made)
                return ALREADY
            if there and made.blank and not self._blank(folder, made.lesson):
                raise Refused(f"It is still blank, and there is work in {folder}, which stays.")
            if there and not self._newer(key, made) and not self._blank(folder, made.lesson):
                raise Refused(
                    f"Another notebook is in {folder} already, and nothing says that this one is newer. If it is to "
                    "count, move that folder away and collect again."
                )
            with self._written(made) as fresh:
                if there:
                    self._set_aside(made, folder)
                folder.parent.mkdir(exist_ok=True)
                fresh.rename(folder)
            self._remember(key, made)
        except OSError as error:
            raise Refused(f"{error.filename or folder} can't be written: {error.strerror}.") from error
        return NEWER if there else COLLECTED

    def _check(self, student: str, folder: Path) -> None:
        if not self.into.is_dir():
            self.into.mkdir(parents=True)
        for part in (folder.parent, folder):
            if part.is_symlink() or (part.exists() and not part.is_dir()):
                raise Refused(f"{part} is a link or a file, not a folder: move it away.")
        there = self._learners.setdefault(student.casefold(), student)
        if there != student:
            raise Refused(f"There is a learner {there} already: if that is the same one, say so with --roster.")

    def _blank(self, folder: Path, lesson: str) -> bool:
        """Whether what is there is the lesson, or the assignment, as it was given out."""
        try:
            if self.plain is None:
                return is_blank(read_file(folder / f"{lesson}.ipynb"), lesson)
            found = {title: folder / f"{title}.ipynb" for title in self.plain.notebooks}
            there = {title: path for title, path in found.items() if path.exists()}
            return all(is_untouched(read_file(path), self.plain.notebooks[title]) for title, path in there.items())
        except (GraderError, OSError):
            return False

    def _newer(self, key: str, made: Submission) -> bool:
        """Whether the platform itself says that this came after what is there."""
        known = self._record.get(key)
        if not isinstance(known, dict) or known.get("platform") != made.owner.platform or not made.rank:
            return False
        rank = known.get("rank")
        return (
            isinstance(rank, list) and all(isinstance(r, int) for r in rank) and bool(rank) and list(made.rank) > rank
        )

    @contextlib.contextmanager
    def _written(self, made: Submission) -> Iterator[Path]:
        """A fresh folder with the submission in it, beside the others: it appears whole or not at all."""
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.into))
        try:
            fresh.chmod(0o755)
            for name, data in _files(made):
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            if made.time is not None:
                text = made.time.strftime("%Y-%m-%d %H:%M:%S.%f UTC")  # as nbgrader's exchange writes it
                (fresh / "timestamp.txt").write_text(text, encoding="utf-8")
            yield fresh
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _set_aside(self, made: Submission, folder: Path) -> None:
        number = 1
        while (kept := self.into / EARLIER / str(number) / made.student / made.lesson).exists():
            number += 1
        kept.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(kept)

    def _remember(self, key: str, made: Submission) -> None:
        place = "/".join(made.file.parts)  # where it stood in the download: feedback goes back there
        self._record[key] = {"platform": made.owner.platform, "rank": list(made.rank), "from": place}
        self._changed = True

    def remember(self) -> None:
        """Writes the record of what came from where.

        Raises:
            GraderError: when it can't be written.
        """
        if not self._changed:
            return
        try:
            write_whole(self.into / RECORD, json.dumps(self._record, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise GraderError(f"{self.into / RECORD} can't be written: {error.strerror}.") from error

    def missing(self, lesson: str, students: Iterable[str], met: Iterable[str]) -> tuple[str, ...]:
        """The students of whom nothing is there, without those who were met in a download."""
        gone = set(students) - set(met)
        return tuple(student for student in sorted(gone) if not (self.into / student / lesson).is_dir())


def _files(made: Submission) -> Iterator[tuple[str, bytes]]:
    yield f"{made.title or made.lesson}.ipynb", made.file.data
    for name, other in made.others.items():
        yield name, other.data


def _same(folder: Path, made: Submission) -> bool:
    """Whether a submission is there, file by file."""
    return all(
        not (path := folder / name).is_symlink() and path.is_file() and path.read_bytes() == data
        for name, data in _files(made)
    )

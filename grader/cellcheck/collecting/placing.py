"""Putting a submission into nbgrader's `submitted/`. Nothing that is there is overwritten."""

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellcheck.collecting.sorting import Origin, Submission
from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.running.assignment import Assignment
from cellcheck.running.intake import read_file
from cellcheck.running.recognise import is_blank
from cellcheck.running.timestamp import TIMESTAMP
from cellcheck.syllabus import load_lesson

COLLECTED, ALREADY, NEWER = "collected", "already there", "newer: replaced"
RECORD = ".collected.json"
EARLIER = ".earlier"


class NotPlaced(GraderError):
    """This one was not put there; the message says why."""


@dataclass
class SubmittedFolder:
    """The folder `submitted/`, and a record of what was put there from which platform."""

    into: Path
    plain: Assignment | None = None
    """Set where a plain assignment is put there."""

    def __post_init__(self) -> None:
        self._record = record(self.into)
        self._changed = False
        there = sorted(path.name for path in self.into.iterdir()) if self.into.is_dir() else []
        self._learners = {name.casefold(): name for name in there}

    def put(self, submission: Submission) -> str:
        """Puts a submission into its folder; says what that was.

        Raises:
            Refused: when something else is there, or it can't be written.
        """
        key = f"{submission.student}/{submission.lesson}"
        folder = self.into / submission.student / submission.lesson
        try:
            self._check(submission.student, folder)
            there = folder.exists()
            if there and _same(folder, submission):
                entry = self._record.get(key, {})
                # The run that put it there could not say where it came from; or its time is known only now.
                if "from" not in entry or (submission.time is not None and _stamped(folder) != _stamp(submission)):
                    _write_stamp(folder, submission)
                    self._remember(key, submission)
                return ALREADY
            if there and submission.blank and not self._blank(folder, submission.lesson):
                raise NotPlaced(f"It is still blank, and there is work in {folder}, which stays.")
            if there and not self._newer(key, submission) and not self._blank(folder, submission.lesson):
                raise NotPlaced(
                    f"Another notebook is in {folder} already, and nothing says that this one is newer. If it is to "
                    "count, move that folder away and collect again."
                )
            with self._written(submission) as fresh:
                if there:
                    self._set_aside(submission, folder)
                folder.parent.mkdir(exist_ok=True)
                fresh.rename(folder)
            self._remember(key, submission)
        except OSError as error:
            raise NotPlaced(f"{error.filename or folder} can't be written: {error.strerror}.") from error
        return NEWER if there else COLLECTED

    def _check(self, student: str, folder: Path) -> None:
        if not self.into.is_dir():
            self.into.mkdir(parents=True)
        for part in (folder.parent, folder):
            if part.is_symlink() or (part.exists() and not part.is_dir()):
                raise NotPlaced(f"{part} is a link or a file, not a folder: move it away.")
        there = self._learners.setdefault(student.casefold(), student)
        if there != student:
            raise NotPlaced(f"There is a learner {there} already: if that is the same one, say so with --roster.")

    def _blank(self, folder: Path, lesson: str) -> bool:
        """Whether what is there is the lesson, or the assignment, as it was given out."""
        try:
            if self.plain is None:
                return is_blank(
                    read_file(folder / f"{lesson}.ipynb"), Assignment.of_lesson(load_lesson(lesson)), lesson
                )
            notebooks = {title: folder / f"{title}.ipynb" for title in self.plain.notebooks}
            there = {title: path for title, path in notebooks.items() if path.exists()}
            return all(is_blank(read_file(path), self.plain, title) for title, path in there.items())
        except (GraderError, OSError):
            return False

    def _newer(self, key: str, submission: Submission) -> bool:
        """Whether the platform itself says that this came after what is there."""
        entry = self._record.get(key, {})
        if entry.get("platform") != submission.owner.platform or not submission.rank:
            return False
        rank = entry.get("rank")
        return (
            isinstance(rank, list)
            and all(isinstance(r, int) for r in rank)
            and bool(rank)
            and list(submission.rank) > rank
        )

    @contextlib.contextmanager
    def _written(self, submission: Submission) -> Iterator[Path]:
        """A fresh folder with the submission in it, beside the others: it appears whole or not at all."""
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.into))
        try:
            fresh.chmod(0o755)
            for name, data in _files(submission):
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            _write_stamp(fresh, submission)
            yield fresh
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _set_aside(self, submission: Submission, folder: Path) -> None:
        number = 1
        while (aside := self.into / EARLIER / str(number) / submission.student / submission.lesson).exists():
            number += 1
        aside.parent.mkdir(parents=True, exist_ok=True)
        folder.rename(aside)

    def _remember(self, key: str, submission: Submission) -> None:
        clock = None if submission.clock is None else submission.clock.isoformat()
        self._record[key] = {
            **_entry(submission.origin),
            "rank": list(submission.rank),
            "late": submission.late,
            "clock": clock,
        }
        self._changed = True

    def refuse(self, student: str, lesson: str, why: str, origin: Origin) -> None:
        """Remembers that somebody handed in something that can't be graded, unless there is something of theirs."""
        key = f"{student}/{lesson}"
        if not (self.into / student / lesson).exists() and "rank" not in self._record.get(key, {}):
            self._record[key] = {**_entry(origin), "refused": why}
            self._changed = True

    def remember(self) -> None:
        """Writes the record of what came from where.

        Raises:
            GraderError: when it can't be written.
        """
        if not self._changed:
            return
        try:
            self.into.mkdir(parents=True, exist_ok=True)
            write_whole(self.into / RECORD, json.dumps(self._record, indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise GraderError(f"{self.into / RECORD} can't be written: {error.strerror}.") from error

    def missing(self, lesson: str, students: Iterable[str], met: Iterable[str]) -> tuple[str, ...]:
        """The students of whom nothing is there, without those who were met in a download."""
        gone = set(students) - set(met)
        return tuple(student for student in sorted(gone) if not (self.into / student / lesson).is_dir())

    def strangers(self, students: Iterable[str]) -> tuple[str, ...]:
        """Those of whom something is there, and who aren't among the students: collected before there was a list."""
        there = {folder.name for folder in self.into.glob("[!.]*") if folder.is_dir()} if self.into.is_dir() else set()
        return tuple(sorted(there - set(students)))


def record(submitted: Path) -> dict[str, dict[str, Any]]:
    """What is known of what was collected into a folder, by `student/lesson`."""
    try:
        entries = json.loads((submitted / RECORD).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(entries, dict):
        return {}
    return {key: entry for key, entry in entries.items() if isinstance(entry, dict)}


def _entry(origin: Origin) -> dict[str, Any]:
    """Feedback goes back to where something came from, and marks to whom the platform knows by this number."""
    return {"platform": origin.platform, "from": origin.place, "name": origin.name, "id": origin.id}


def _stamp(submission: Submission) -> str:
    time = submission.counts_as_handed_in
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M:%S.%f UTC")  # as nbgrader's exchange writes it


def _stamped(folder: Path) -> str:
    note = folder / TIMESTAMP
    return note.read_text("utf-8") if note.is_file() and not note.is_symlink() else ""


def _write_stamp(folder: Path, submission: Submission) -> None:
    if text := _stamp(submission):
        write_whole(folder / TIMESTAMP, text)


def _files(submission: Submission) -> Iterator[tuple[str, bytes]]:
    yield f"{submission.title or submission.lesson}.ipynb", submission.file.data
    for name, other in submission.others.items():
        yield name, other.data


def _same(folder: Path, submission: Submission) -> bool:
    """Whether a submission is there, file by file."""
    return all(
        not (path := folder / name).is_symlink() and path.is_file() and path.read_bytes() == data
        for name, data in _files(submission)
    )

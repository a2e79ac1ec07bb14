"""A run's journal: what is graded already, so that a run that was stopped, at any moment, can go on.

One line a submission, written after the gradebook has it. A line that a kill cut in half does not count; the
submission is then graded again, with the same seed, and gets the same marks.
"""

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.gradebook.folders import unwritten
from cellcheck.running.assignment import Assignment
from cellcheck.running.code import digest_of, packages_of
from cellcheck.running.intake import MAX_BYTES
from cellcheck.running.listing import files_below
from cellcheck.running.result import Result

VERSION = 2
_MOST_READ = 2**27  # bytes of a submission; of what is beyond that, sizes tell whether it has changed
_ENGINE = ("cellcheck.authoring", "cellcheck.checking", "cellcheck.running")


class Journal:
    """The journal of one lesson, in the course's folder `.cellcheck/`.

    What came of a submission stays in the file until somebody asks: a class may be larger than the memory.
    """

    def __init__(self, root: Path, lesson: str) -> None:
        self.path = root / ".cellcheck" / f"{lesson}.jsonl"
        self.seed: int | None = None
        self._graded: dict[str, tuple[str, int]] = {}  # by learner: the submission's digest, and where its line begins

    def begin(self, seed: int) -> None:
        """Starts anew: nothing is graded yet.

        Raises:
            GraderError: when the journal can't be written.
        """
        self.seed, self._graded = seed, {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps({"version": VERSION, "seed": seed}) + "\n")
        except OSError as error:
            reason = f"{error.filename or self.path} can't be written: {error.strerror or error}"
            raise GraderError(f"{reason}. Nothing has been graded yet.") from error

    def go_on(self) -> bool:
        """Takes up what an earlier run wrote; whether there was anything."""
        self._graded = {}
        try:
            with self.path.open("rb") as file:
                header = _parsed(file.readline())
                seed = None if header is None or header.get("version") != VERSION else header.get("seed")
                if not isinstance(seed, int):
                    return False
                self.seed = seed
                begins = file.tell()
                for line in file:
                    entry = _parsed(line)
                    if entry is not None and isinstance(entry.get("student"), str) and "digest" in entry:
                        self._graded[entry["student"]] = (entry["digest"], begins)
                    begins += len(line)
        except OSError:
            return False
        return True

    def graded(self, student: str, digest: str) -> Result | None:
        """What came of this very submission, if it is graded already."""
        there, _ = self._graded.get(student, ("", 0))
        return self._result(student) if there == digest else None

    def results(self) -> Mapping[str, Result]:
        """What came of each submission that is graded, by learner; each is read when it is asked for."""
        return _Results(self._graded, self._result)

    def add(self, entries: Iterable[tuple[str, str, Result]]) -> None:
        """Writes down that submissions are in the gradebook: whose, the digest of each, and what came of it.

        Raises:
            GraderError: when the journal can't be written.
        """
        written: dict[str, tuple[str, int]] = {}
        text = b""
        for student, digest, result in entries:
            written[student] = (digest, len(text))
            entry = {"student": student, "digest": digest, "cells": result.cells, "result": result.to_json()}
            text += json.dumps(entry).encode() + b"\n"
        if not written:
            return
        try:
            with self.path.open("ab+", buffering=0) as file:
                begins = file.seek(0, os.SEEK_END)
                if begins and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                    text = b"\n" + text  # after the half of a line, which a kill or a full disk left
                    begins += 1
                if file.write(text) != len(text):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        except OSError as error:
            raise unwritten(error, self.path) from error
        self._graded |= {student: (digest, begins + at) for student, (digest, at) in written.items()}

    def _result(self, student: str) -> Result:
        try:
            with self.path.open("rb") as file:
                file.seek(self._graded[student][1])
                entry = _parsed(file.readline())
        except OSError as error:
            raise GraderError(f"{self.path} can't be read: {error.strerror}.") from error
        if entry is None or entry.get("student") != student:
            raise GraderError(f"Somebody else has written to {self.path} meanwhile. Run this again when they are done.")
        cells = tuple((int(number), float(seconds)) for number, seconds in entry.get("cells", ()))
        return replace(Result.from_json(entry["result"]), cells=cells)


class _Results(Mapping[str, Result]):
    """Results by learner, in the order of their names."""

    def __init__(self, students: Collection[str], read: Callable[[str], Result]) -> None:
        self._students, self._read = students, read

    def __getitem__(self, student: str) -> Result:
        if student not in self._students:
            raise KeyError(student)
        return self._read(student)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._students))

    def __len__(self) -> int:
        return len(self._students)


def basis(assignment: Assignment) -> str:
    """A digest of what marks are made from, beside the submission: the code that judges, and the assignment."""
    lesson = None if assignment.lesson is None else assignment.lesson.name
    code = digest_of((*_ENGINE, *packages_of(lesson)))
    cells = {title: sorted(cells.items()) for title, cells in assignment.notebooks.items()}
    summed = hashlib.sha256(repr((code, cells, assignment.skipped)).encode("utf-8", "backslashreplace"))
    for file, data in sorted(assignment.files.items()):
        summed.update(repr(file).encode() + hashlib.sha256(data).digest())
    return summed.hexdigest()


def digest(folder: Path, basis: str) -> str:
    """A digest of all that was handed in, and of what it is judged by."""
    summed = hashlib.sha256(basis.encode())
    with contextlib.suppress(OSError):  # what can't be read is reported by grading
        left = _MOST_READ
        for path in files_below(folder).files:
            size = path.stat().st_size
            summed.update(json.dumps([str(path.relative_to(folder)), size]).encode())
            if size <= min(MAX_BYTES, left):  # larger ones are refused anyway
                left -= size
                with contextlib.suppress(OSError):
                    summed.update(path.read_bytes())
    return summed.hexdigest()


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None

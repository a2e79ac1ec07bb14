"""A run's journal: what is graded already, so that a run that was stopped, at any moment, can go on.

One line a submission, written after the gradebook has it. A line that a kill cut in half does not count; the
submission is then graded again, with the same seed, and gets the same marks.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.gradebook.files import unwritten, write_whole
from grader.running.assignment import Assignment
from grader.running.intake import MAX_BYTES
from grader.running.result import Result
from grader.syllabus import find_lesson, library_of, load_lesson

VERSION = 2
_ENGINE = ("grader.authoring", "grader.checking", "grader.running")


class Journal:
    """The journal of one lesson, in the course's folder `.grader/`."""

    def __init__(self, root: Path, lesson: str) -> None:
        self.path = root / ".grader" / f"{lesson}.jsonl"
        self.seed: int | None = None
        self._graded: dict[str, Mapping[str, Any]] = {}

    def begin(self, seed: int) -> None:
        """Starts anew: nothing is graded yet.

        Raises:
            GraderError: when the journal can't be written.
        """
        self.seed, self._graded = seed, {}
        try:
            write_whole(self.path, json.dumps({"version": VERSION, "seed": seed}) + "\n")
        except OSError as error:
            raise unwritten(error, self.path) from error

    def go_on(self) -> bool:
        """Takes up what an earlier run wrote; whether there was anything."""
        try:
            lines = [
                line for line in map(_parsed, self.path.read_text("utf-8", "replace").splitlines()) if line is not None
            ]
        except OSError:
            return False
        if not lines or lines[0].get("version") != VERSION:
            return False
        self.seed = int(lines[0]["seed"])
        self._graded = {line["student"]: line for line in lines[1:] if "student" in line}
        return True

    def graded(self, student: str, digest: str) -> Result | None:
        """What came of this very submission, if it is graded already."""
        found = self._graded.get(student)
        return _result(found) if found is not None and found["digest"] == digest else None

    def results(self) -> dict[str, Result]:
        """What came of each submission that is graded, by learner."""
        return {student: _result(line) for student, line in sorted(self._graded.items())}

    def add(self, student: str, digest: str, result: Result) -> None:
        """Writes down that a submission is in the gradebook.

        Raises:
            GraderError: when the journal can't be written.
        """
        entry = {"student": student, "digest": digest, "cells": result.cells, "result": result.to_json()}
        line = json.dumps(entry).encode() + b"\n"
        try:
            with self.path.open("ab+", buffering=0) as file:
                if file.tell() and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                    line = b"\n" + line  # after the half of a line, which a kill or a full disk left
                if file.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        except OSError as error:
            raise unwritten(error, self.path) from error


def basis(assignment: Assignment) -> str:
    """A digest of what marks are made from, beside the submission: the code that judges, and the assignment."""
    packages: tuple[str, ...] = _ENGINE
    if assignment.lesson is not None:
        syllabus, name = find_lesson(assignment.lesson.name)
        packages += (*library_of(load_lesson(name)), syllabus.package)
    folders = {Path(str(importlib.import_module(package).__file__)).parent for package in packages}
    cells = {title: sorted(cells.items()) for title, cells in assignment.notebooks.items()}
    summed = hashlib.sha256(repr((cells, assignment.skipped)).encode("utf-8", "backslashreplace"))
    for file, data in sorted(assignment.files.items()):
        summed.update(repr(file).encode() + hashlib.sha256(data).digest())
    # A lesson's text, "01_my_topic.py", is prose.
    for path in sorted({path for folder in folders for path in folder.rglob("[!0-9]*.py")}):
        summed.update(hashlib.sha256(path.read_bytes()).digest())
    return summed.hexdigest()


def digest(folder: Path, basis: str) -> str:
    """A digest of all that was handed in, and of what it is judged by."""
    summed = hashlib.sha256(basis.encode())
    for path in sorted(folder.rglob("*")) if folder.is_dir() and not folder.is_symlink() else []:
        if path.is_file() and not path.is_symlink():
            summed.update(json.dumps([str(path.relative_to(folder)), path.stat().st_size]).encode())
            if path.stat().st_size <= MAX_BYTES:  # larger ones are refused anyway
                with contextlib.suppress(OSError):  # which grading will report
                    summed.update(path.read_bytes())
    return summed.hexdigest()


def _result(line: Mapping[str, Any]) -> Result:
    cells = tuple((int(number), float(seconds)) for number, seconds in line.get("cells", ()))
    return replace(Result.from_json(line["result"]), cells=cells)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None

"""A run's journal: what is graded already, so that a run that was stopped, at any moment, can go on.

One line a submission, written after the gradebook has it. A line that a kill cut in half does not count; the
submission is then graded again, with the same seed, and gets the same marks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.running.intake import MAX_BYTES
from grader.running.result import Result

VERSION = 1


class Journal:
    """The journal of one lesson, in the course's folder `.grader/`."""

    def __init__(self, root: Path, lesson: str) -> None:
        self.path = root / ".grader" / f"{lesson}.jsonl"
        self.seed: int | None = None
        self._graded: dict[str, tuple[str, Mapping[str, Any]]] = {}

    def begin(self, seed: int) -> None:
        """Starts anew: nothing is graded yet.

        Raises:
            GraderError: when the journal can't be written.
        """
        self.seed, self._graded = seed, {}
        try:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(json.dumps({"version": VERSION, "seed": seed}) + "\n", encoding="utf-8")
        except OSError as error:
            raise GraderError(f"{self.path} can't be written: {error.strerror}.") from error

    def go_on(self) -> bool:
        """Takes up what an earlier run wrote; whether there was anything."""
        try:
            lines = [line for line in map(_parsed, self.path.read_text("utf-8").splitlines()) if line is not None]
        except OSError:
            return False
        if not lines or lines[0].get("version") != VERSION:
            return False
        self.seed = int(lines[0]["seed"])
        self._graded = {line["student"]: (line["digest"], line["result"]) for line in lines[1:] if "student" in line}
        text = self.path.read_text("utf-8")
        if not text.endswith("\n"):  # half a line: what comes next needs one of its own
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n")
        return True

    def graded(self, student: str, digest: str) -> Result | None:
        """What came of this very submission, if it is graded already."""
        found = self._graded.get(student)
        return Result.from_json(found[1]) if found is not None and found[0] == digest else None

    def results(self) -> dict[str, Result]:
        """What came of each submission that is graded, by learner."""
        return {student: Result.from_json(result) for student, (_, result) in sorted(self._graded.items())}

    def add(self, student: str, digest: str, result: Result) -> None:
        """Writes down that a submission is in the gradebook."""
        line = {"student": student, "digest": digest, "result": result.to_json()}
        with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(json.dumps(line) + "\n")


def digest(folder: Path) -> str:
    """A digest of all that was handed in."""
    summed = hashlib.sha256()
    for path in sorted(folder.rglob("*")) if folder.is_dir() and not folder.is_symlink() else []:
        if path.is_file() and not path.is_symlink():
            summed.update(json.dumps([str(path.relative_to(folder)), path.stat().st_size]).encode())
            if path.stat().st_size <= MAX_BYTES:  # larger ones are refused anyway
                summed.update(path.read_bytes())
    return summed.hexdigest()


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None

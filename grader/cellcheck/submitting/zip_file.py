"""The one file to hand in: a zip with the notebook and a note about it. No secret is in it, no name unless given."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from cellcheck.errors import GraderError
from cellcheck.syllabus import find_lesson

SUFFIX = ".submission.zip"
NOTE = "submission.json"
FORMAT = "grader submission"
VERSION = 1


class Damaged(GraderError):
    """A file that `submit` made, or that says so, and that can't be used."""


@dataclass(frozen=True)
class Note:
    """What stands in `submission.json`."""

    lesson: str
    course: str
    """The version of the course that the learner has."""
    sha256: str
    """Of the notebook, so that a file that was damaged on the way is noticed. It proves nothing about its author."""
    time: datetime
    """By the learner's own clock."""
    name: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    """The digests of what goes with the notebook, by path."""

    @classmethod
    def of(
        cls, notebook: bytes, lesson: str, name: str | None = None, others: Mapping[str, bytes] | None = None
    ) -> Self:
        """The note on a notebook and what goes with it, now."""
        files = {path: _digest(data) for path, data in (others or {}).items()}
        return cls(lesson, find_lesson(lesson)[0].version, _digest(notebook), datetime.now(UTC), name, files)

    @classmethod
    def read(cls, data: bytes) -> Self:
        """The note in a file's bytes.

        Raises:
            Damaged: when it is none.
        """
        try:
            content: Any = json.loads(data.decode("utf-8"))
            if content["format"] != FORMAT:
                raise Damaged(f"{NOTE} is not one that submit() writes.")
            if content["version"] != VERSION:
                raise Damaged(f"It was made by a newer course (format {content['version']}): update the course here.")
            time = datetime.fromisoformat(content["time"]).astimezone(UTC)
            files = dict(content.get("files") or {})
            note = cls(content["lesson"], content["course"], content["sha256"], time, content.get("name"), files)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise Damaged(f"{NOTE} can't be read ({type(error).__name__}).") from None
        if not all(
            isinstance(v, str)
            for v in (note.lesson, note.course, note.sha256, note.name or "", *files, *files.values())
        ):
            raise Damaged(f"{NOTE} can't be read (something in it isn't text).")
        return note

    def fits(self, notebook: bytes) -> bool:
        """Whether this is the notebook that the note was written about."""
        return _digest(notebook) == self.sha256

    def has(self, path: str, data: bytes) -> bool:
        """Whether this file went with the notebook, as it is here."""
        return self.files.get(path) == _digest(data)

    def to_json(self) -> bytes:
        """The text of `submission.json`."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "lesson": self.lesson,
            "course": self.course,
            "sha256": self.sha256,
            "time": self.time.isoformat(timespec="seconds"),
            **({"name": self.name} if self.name else {}),
            **({"files": dict(self.files)} if self.files else {}),
        }
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pack(notebook: bytes, note: Note, others: Mapping[str, bytes] | None = None) -> bytes:
    """The zip's bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {f"{note.lesson}.ipynb": notebook, NOTE: note.to_json(), **(others or {})}.items():
            archive.writestr(zipfile.ZipInfo(name, note.time.timetuple()[:6]), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def made_before(path: Path) -> Note | None:
    """The note of a file that `submit` made earlier; None when there is no file of that name.

    Raises:
        Damaged: when there is one that is not ours.
    """
    if not path.exists() and not path.is_symlink():
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            return Note.read(archive.read(NOTE))
    except (OSError, KeyError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
        raise Damaged(f"{NOTE} can't be read ({type(error).__name__}).") from None

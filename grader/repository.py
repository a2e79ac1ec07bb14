"""Where things stand in the course's repository."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import GraderError


@dataclass(frozen=True)
class Repository:
    """The course's folder: the one that holds `nbgrader_config.py`."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Repository:
        """The repository around `start` (the working folder unless given).

        Raises:
            GraderError: when no folder upwards is one.
        """
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if (folder / "nbgrader_config.py").is_file() and (folder / "lessons").is_dir():
                return cls(folder)
        raise GraderError(
            f"{start} is not inside the course's repository: go to the folder that holds nbgrader_config.py."
        )

    def lesson_names(self) -> list[str]:
        """All lessons that have a text, in order."""
        return sorted(path.stem for path in (self.root / "lessons").glob("[0-9][0-9]_*.py"))

    def lesson(self, name: str) -> str:
        """The full name of a lesson ("01" will do).

        Raises:
            GraderError: when there is none.
        """
        for known in self.lesson_names():
            if name in (known, known.split("_")[0]):
                return known
        raise GraderError(f"There is no lesson {name!r}. These exist: {', '.join(self.lesson_names())}.")

    def text(self, lesson: str) -> Path:
        """The lesson's source text."""
        return self.root / "lessons" / f"{lesson}.py"

    def solution(self, lesson: str) -> Path:
        """The executed solution notebook, in nbgrader's source format."""
        return self.root / "solutions" / lesson / f"{lesson}.ipynb"

    def notebook(self, lesson: str) -> Path:
        """The learner's notebook: nbgrader's release."""
        return self.root / "notebooks" / lesson / f"{lesson}.ipynb"

    @property
    def address(self) -> str:
        """The repository's public address, as `pyproject.toml` has it."""
        return str(self._project()["urls"]["Repository"])

    @property
    def tag(self) -> str:
        """The git tag of this version of the course, as in "v1.2.0"."""
        return f"v{self._project()['version']}"

    def _project(self) -> dict[str, Any]:
        return dict(tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))["project"])

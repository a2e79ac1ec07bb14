"""Where things stand in the repository of a course."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.syllabus import CONFIGURATION, FOLDER, VARIABLE, Syllabus, course_around, syllabi


@dataclass(frozen=True)
class Repository:
    """The course's folder: the one that holds `nbgrader_config.py` and the folder of lessons."""

    root: Path
    lessons: str = FOLDER
    """The name of the folder of lessons."""

    @classmethod
    def find(cls, start: Path | None = None) -> Repository:
        """The repository around `start` (the working folder unless given), or of the lessons that were named.

        Raises:
            GraderError: when no folder upwards is one.
        """
        if start is None and os.environ.get(VARIABLE):
            (syllabus,) = syllabi()
            if not (syllabus.root / CONFIGURATION).is_file():
                raise GraderError(
                    f"{syllabus.root} has no {CONFIGURATION}, which nbgrader needs: grader new course makes a course "
                    "that has one to copy."
                )
            return cls(syllabus.root, syllabus.package)
        start = (start or Path.cwd()).resolve()
        around = course_around(start)
        if around is None:
            raise GraderError(
                f"{start} is not inside a course's repository: go to the folder that holds {CONFIGURATION} and the "
                "lessons, or make a course with grader new course FOLDER."
            )
        return cls(around.root, around.package)

    @property
    def syllabus(self) -> Syllabus:
        """The lessons that stand here."""
        return Syllabus(self.root / self.lessons)

    def lesson_names(self) -> list[str]:
        """All lessons that have a text, in order."""
        return list(self.syllabus.names())

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
        return self.syllabus.text(lesson)

    def solution(self, lesson: str) -> Path:
        """The executed solution notebook, in nbgrader's source format."""
        return self.root / "solutions" / lesson / f"{lesson}.ipynb"

    def notebook(self, lesson: str) -> Path:
        """The learner's notebook: nbgrader's release."""
        return self.root / "notebooks" / lesson / f"{lesson}.ipynb"

    @property
    def address(self) -> str | None:
        """The repository's public address, as `pyproject.toml` has it; None for a course that nobody can fetch."""
        project = self._project
        return project.get("urls", {}).get("Repository") if "version" in project else None

    @property
    def tag(self) -> str:
        """The git tag of this version of the course, as in "v1.2.0"."""
        return f"v{self._project['version']}"

    @property
    def has_the_grader(self) -> bool:
        """Whether this is the repository that the grader itself comes from: who fetches one has the other."""
        return (self.root / "grader" / "repository.py").is_file()

    @property
    def name(self) -> str:
        """What pip calls the course."""
        return str(self._project["name"])

    @property
    def released(self) -> str | None:
        """The commit that the notebooks fetch, as `pyproject.toml` has it; None before the first release.

        Raises:
            GraderError: when it isn't a commit's full name: nothing else is sure to stay what it is.
        """
        commit: str | None = self._settings.get("tool", {}).get("grader", {}).get("released")
        if commit is not None and not re.fullmatch(r"[0-9a-f]{40}", str(commit)):
            raise GraderError(
                f"{self.root / 'pyproject.toml'}: released under [tool.grader] is {commit!r}, which may come to mean "
                "something else. Write the commit's full name there: git rev-parse HEAD shows it."
            )
        return commit

    @property
    def _project(self) -> dict[str, Any]:
        return dict(self._settings.get("project", {}))

    @property
    def _settings(self) -> dict[str, Any]:
        path = self.root / "pyproject.toml"
        try:
            return _settings_of(path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except tomllib.TOMLDecodeError as error:
            raise GraderError(f"{path} can't be read: {error}.") from None


@lru_cache(maxsize=4)  # every link in a lesson asks for it
def _settings_of(text: str) -> dict[str, Any]:
    return tomllib.loads(text)

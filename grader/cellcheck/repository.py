"""Where things stand in the repository of a course."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cellcheck.errors import GraderError
from cellcheck.syllabus import CONFIGURATION, VARIABLE, Syllabus, course_around, syllabi

BESIDE = "grader"
"""The folder of the engine's own distribution, in the repository that it comes from."""


@dataclass(frozen=True)
class Repository(Syllabus):
    """A course that is written and built here: its folder holds `nbgrader_config.py` and the folder of lessons."""

    @classmethod
    def find(cls, start: Path | None = None) -> Self:
        """The repository around `start` (the working folder unless given), or of the lessons that were named.

        Raises:
            GraderError: when no folder upwards is one.
        """
        if start is None and os.environ.get(VARIABLE):
            (syllabus,) = syllabi()
            if not (syllabus.root / CONFIGURATION).is_file():
                raise GraderError(
                    f"{syllabus.root} has no {CONFIGURATION}, which nbgrader needs: cellcheck new course makes a "
                    "course that has one to copy."
                )
            return cls(syllabus.folder)
        start = (start or Path.cwd()).resolve()
        around = course_around(start)
        if around is None:
            raise GraderError(
                f"{start} is not inside a course's repository: go to the folder that holds {CONFIGURATION} and the "
                "lessons, or make a course with cellcheck new course FOLDER."
            )
        return cls(around.folder)

    def solution(self, lesson: str) -> Path:
        """The executed solution notebook, in nbgrader's source format."""
        return self.root / "solutions" / lesson / f"{lesson}.ipynb"

    @property
    def address(self) -> str | None:
        """The repository's public address, as `pyproject.toml` has it; None for a course that nobody can fetch."""
        project = self.project
        return project.get("urls", {}).get("Repository") if "version" in project else None

    @property
    def tag(self) -> str:
        """The git tag of this version of the course, as in "v1.2.0"."""
        return f"v{self.version}"

    @property
    def has_the_grader(self) -> bool:
        """Whether this is the repository that the grader itself comes from: who fetches one has the other."""
        return (self.root / BESIDE / "cellcheck" / "repository.py").is_file()

    @property
    def name(self) -> str:
        """What pip calls the course."""
        return str(self.project["name"])

    @property
    def released(self) -> str | None:
        """The commit that the notebooks fetch, as `pyproject.toml` has it; None before the first release.

        Raises:
            GraderError: when it isn't a commit's full name: nothing else is sure to stay what it is.
        """
        commit: str | None = self.settings.get("tool", {}).get("cellcheck", {}).get("released")
        if commit is not None and not re.fullmatch(r"[0-9a-f]{40}", str(commit)):
            raise GraderError(
                f"{self.root / 'pyproject.toml'}: released under [tool.cellcheck] is {commit!r}, which may come to "
                "mean something else. Write the commit's full name there: git rev-parse HEAD shows it."
            )
        return commit

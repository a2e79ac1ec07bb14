"""An nbgrader course folder, with its own configuration."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGrader
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.errors import GraderError


@dataclass
class Course:
    """A folder that holds `nbgrader_config.py`; nbgrader's settings are honoured, `db_url` included."""

    root: Path
    config: Config
    directory: CourseDirectory

    @classmethod
    def open(cls, root: Path) -> Course:
        """The course in the folder `root`.

        Raises:
            GraderError: when it is none.
        """
        if not (root / "nbgrader_config.py").is_file():
            raise GraderError(f"{root} is no nbgrader course: go to the folder that holds nbgrader_config.py.")
        put_environment_on_path()
        with contextlib.chdir(root):
            app = NbGrader()
            app.log.setLevel(logging.CRITICAL)
            app.load_config_file()
        app.config.CourseDirectory.root = str(root)
        return cls(root, app.config, CourseDirectory(config=app.config))

    def folders(self) -> list[Path]:
        """Where the course keeps what nobody else may see; nbgrader's settings may put them anywhere."""
        kept = self.directory
        steps = (kept.source_directory, kept.submitted_directory, kept.autograded_directory, kept.feedback_directory)
        book = kept.db_url.removeprefix("sqlite:///")
        return [self.root, *(self.root / step for step in steps), *([Path(book)] if "://" not in book else [])]

    def students(self, lesson: str) -> list[str]:
        """Everyone who handed this lesson in.

        Raises:
            GraderError: when nobody did.
        """
        submitted = self.root / self.directory.submitted_directory
        found = sorted(path.parent.name for path in submitted.glob(f"*/{lesson}") if path.is_dir() or path.is_symlink())
        if not found:
            raise GraderError(
                f"There are no submissions of {lesson} in {submitted}: run nbgrader collect {lesson} first."
            )
        return found

    def submission(self, student: str, lesson: str) -> Path:
        """The folder that a student handed in."""
        return self._path(self.directory.submitted_directory, student, lesson)

    def autograded(self, student: str, lesson: str) -> Path:
        """Where the graded submission goes."""
        return self._path(self.directory.autograded_directory, student, lesson)

    def feedback(self, student: str, lesson: str) -> Path:
        """Where the student's page goes."""
        return self._path(self.directory.feedback_directory, student, lesson) / f"{lesson}.html"

    def _path(self, step: str, student: str, lesson: str) -> Path:
        return Path(self.directory.format_path(step, student, lesson))

    def ensure_assignment(self, lesson: str) -> None:
        """Makes sure that the gradebook knows the lesson's cells, as `nbgrader generate_assignment` does.

        Raises:
            GraderError: when there is no source notebook to learn them from.
        """
        with self.gradebook() as gradebook:
            try:
                gradebook.find_notebook(lesson, lesson)
                return
            except MissingEntry:
                pass
        self.directory.assignment_id = lesson
        converter = GenerateAssignment(coursedir=self.directory, config=self.config)
        converter.log.setLevel(logging.CRITICAL)
        try:
            with contextlib.chdir(self.root):
                converter.start()
        except NbGraderException as error:
            raise GraderError(f"nbgrader can't generate the assignment {lesson}: {error}") from error

    @contextlib.contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        """nbgrader's gradebook, open."""
        with Gradebook(self.directory.db_url, self.directory.course_id) as gradebook:
            yield gradebook


def put_environment_on_path() -> None:
    """nbgrader calls `alembic` by name when it makes a gradebook; it stands beside this Python."""
    folder = str(Path(sys.executable).parent)
    if folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", "")

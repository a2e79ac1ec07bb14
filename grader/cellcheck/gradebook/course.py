"""An nbgrader course folder, with its own configuration."""

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from nbgrader.api import Gradebook
from nbgrader.apps import NbGrader
from nbgrader.coursedir import CourseDirectory
from traitlets import TraitError
from traitlets.config import Config

from cellcheck.authoring.spec import Lesson
from cellcheck.errors import GraderError
from cellcheck.gradebook import agreement
from cellcheck.gradebook.database import Database
from cellcheck.gradebook.folders import unwritten
from cellcheck.gradebook.settings import insist_on_values
from cellcheck.syllabus import CONFIGURATION, UnknownLesson, find_lesson, load_lesson


@dataclass
class Course:
    """A folder that holds `nbgrader_config.py`; nbgrader's settings are honoured, `db_url` included."""

    root: Path
    config: Config
    directory: CourseDirectory

    @classmethod
    def open(cls, root: Path) -> Self:
        """The course in the folder `root`.

        Raises:
            GraderError: when it isn't one.
        """
        if not cls.is_one(root):
            raise GraderError(f"{root} is not an nbgrader course: go to the folder that holds nbgrader_config.py.")
        put_environment_on_path()
        if str(root) not in sys.path:
            sys.path.append(str(root))  # where nbgrader finds a course's own plugins; nothing of Python's is hidden so
        try:
            app = cls._configured(root)
            cls._insist_on_root(root, app.config)
            app.config.CourseDirectory.root = str(root)
            directory = CourseDirectory(config=app.config)
            insist_on_values(root, directory, app.config)
        except (TraitError, ValueError) as error:  # such as a path with a NUL in it
            reason = str(error).rstrip(".")
            raise GraderError(f"nbgrader refuses what {CONFIGURATION} says: {reason}.") from error
        if directory.directory_structure != CourseDirectory.directory_structure.default_value:
            raise GraderError(
                f"{CONFIGURATION} sets c.CourseDirectory.directory_structure, and only nbgrader's own order is known "
                "here: STEP/LEARNER/ASSIGNMENT. Leave that line out, and sort what was handed in like that."
            )
        return cls(root, app.config, directory)

    @staticmethod
    def _configured(root: Path) -> NbGrader:
        """nbgrader, with its settings. nbgrader itself goes on without those of a file that stops.

        Raises:
            GraderError: when a file of settings stops: nobody's marks are worth anything without them.
        """
        app = NbGrader()
        app.log.setLevel(logging.CRITICAL)
        app.raise_config_file_errors = True
        try:
            with contextlib.chdir(root):
                app.load_config_file()
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
            raise GraderError(
                f"nbgrader's settings can't be read. {_place(error)} stops with {reason}. Mend it."
            ) from error
        return app

    @staticmethod
    def _insist_on_root(root: Path, config: Config) -> None:
        """Refuses a configuration that says that the course is in another folder."""
        folder = config.CourseDirectory.get("root", root)
        if Path(root, str(folder)).resolve() != root.resolve():
            raise GraderError(
                f"{CONFIGURATION} sets c.CourseDirectory.root to {folder}, and a course is the folder that its "
                f"{CONFIGURATION} lies in. Move that file there and go there, or leave the line out."
            )

    @staticmethod
    def is_one(root: Path) -> bool:
        """Whether a folder is a course."""
        return (root / CONFIGURATION).is_file()

    def folders(self) -> list[Path]:
        """Where the course keeps what nobody else may see; nbgrader's settings may put them anywhere."""
        directory = self.directory
        steps = (
            directory.source_directory,
            directory.submitted_directory,
            directory.autograded_directory,
            directory.feedback_directory,
        )
        book = self.database.file
        return [self.root, *(self.root / step for step in steps), *([book] if book is not None else [])]

    def students(self, lesson: str) -> list[str]:
        """Everyone who handed this lesson in, and everyone of whom that can't be seen: what is wrong is theirs to know.

        Raises:
            GraderError: when nobody did.
        """
        students = self.handed_in(lesson)
        if not students:
            where = self.submitted_folder()
            raise GraderError(
                f"There are no submissions of {lesson} in {where}: run cellcheck collect first, or nbgrader collect "
                f"{lesson}."
            )
        return students

    def handed_in(self, lesson: str) -> list[str]:
        """As `students`, and nobody where nobody handed it in.

        Raises:
            GraderError: when the folder can't be read.
        """
        submitted = self.submitted_folder()
        try:
            names = os.listdir(submitted)
        except FileNotFoundError:
            names = []
        except OSError as error:
            raise GraderError(f"{submitted} can't be read: {error.strerror}.") from error
        excluded = {name.strip() for name in str(self.directory.student_id_exclude).split(",")}
        names = [name for name in names if name[0] != "." and name not in excluded]
        return sorted(name for name in names if _may_be_folder(submitted / name / lesson))

    def submitted_folder(self) -> Path:
        """Where all that was handed in is, or will be."""
        return self.root / str(self.directory.submitted_directory)

    def submitted(self) -> Path:
        """The folder of all that was handed in.

        Raises:
            GraderError: when there is none.
        """
        folder = self.submitted_folder()
        if not folder.is_dir():
            raise GraderError(f"Nothing has been handed in yet: there is no {folder}. Run cellcheck collect first.")
        return folder

    def submission(self, student: str, lesson: str) -> Path:
        """The folder that a student handed in."""
        return self._path(self.directory.submitted_directory, student, lesson)

    def autograded(self, student: str, lesson: str) -> Path:
        """Where the graded submission goes."""
        return self._path(self.directory.autograded_directory, student, lesson)

    def feedback(self, student: str, lesson: str, notebook: str | None = None) -> Path:
        """Where the student's page goes. Unless it is the lesson's, it is called after a notebook, as nbgrader's is."""
        return self._path(self.directory.feedback_directory, student, lesson) / f"{notebook or lesson}.html"

    def source(self, name: str) -> Path:
        """The folder that holds an assignment's source notebooks, and the files beside them."""
        return self._path(self.directory.source_directory, ".", name)

    def release(self, name: str) -> Path:
        """The folder that holds what learners are given of an assignment."""
        return self._path(self.directory.release_directory, ".", name)

    def knows(self, name: str) -> bool:
        """Whether there is an assignment of this name: source notebooks, or cells in the gradebook."""
        if not name or name.startswith(".") or len(Path(name).parts) != 1:
            return False
        if any(self.source(name).glob("*.ipynb")):
            return True
        file = self.database.file
        if file is not None and not file.exists():
            return False
        with self.gradebook() as gradebook:
            return bool(agreement.in_gradebook(gradebook, name)[0])

    def _path(self, step: str, student: str, lesson: str) -> Path:
        return Path(self.directory.format_path(step, student, lesson))

    def ensure_assignment(self, lesson: str, *, plain: bool = False) -> None:
        """Makes sure that the gradebook knows the assignment's cells as the source notebooks have them.

        An assignment that is not there, or is half written, or that nobody handed in yet, is generated (anew). An
        installed course has no source notebooks: there one is made of the learners' notebook.

        Raises:
            GraderError: when there is no source notebook to learn the cells from, or when they have changed and the
                gradebook has marks already. The gradebook then holds what it held before.
        """
        source, release = self.source(lesson), self.release(lesson)
        agreement.clear(self.root)
        wanted = agreement.in_source(source)
        with self.gradebook() as gradebook:
            known, submitted = agreement.in_gradebook(gradebook, lesson)
            if not (plain or wanted or known):
                syllabus, _ = find_lesson(lesson)
                if syllabus.distribution is not None:
                    try:
                        agreement.bring_source(syllabus.notebook(lesson), source)
                    except OSError as error:
                        raise unwritten(error, source) from error
                    wanted = agreement.in_source(source)
            if not plain and (wanted or known):
                where = str(source / f"{lesson}.ipynb") if wanted else "the gradebook"
                agreement.check_points(lesson, (wanted or known).get(lesson, {}), where)
            if known and not wanted:
                return
            released = all(agreement.is_whole(release / f"{notebook}.ipynb") for notebook in wanted)
            if wanted and known == {name: cells for name, cells in wanted.items() if cells} and released:
                return
            if submitted and wanted:
                agreement.check_change(lesson, known, wanted)
            try:
                with agreement.generated(self.root, self.config, lesson) as new:
                    agreement.put_release(new.release, release)
                    agreement.take_over(new, gradebook, lesson)
            except OSError as error:
                raise unwritten(error, release) from error
            return

    @cached_property
    def database(self) -> Database:
        """Where the gradebook is."""
        return Database(self.directory.db_url, self.directory.course_id, self.root / ".cellcheck")

    def gradebook(self) -> contextlib.AbstractContextManager[Gradebook]:
        """nbgrader's gradebook, open.

        Raises:
            GraderError: when it can't be read or written.
        """
        return self.database.open()

    def enrol(self, people: Mapping[str, Mapping[str, str]]) -> None:
        """Puts what a class list says of learners into the gradebook, as `nbgrader db student import` does.

        What it doesn't say stays as it is.

        Raises:
            GraderError: when the gradebook can't be written.
        """
        with self.gradebook() as gradebook:
            there = {student.id: student for student in gradebook.students}
            for student, fields in people.items():
                texts = {name: text for name, text in fields.items() if text}
                record = there.get(student)
                if record is None or any(getattr(record, name) != text for name, text in texts.items()):
                    gradebook.update_or_create_student(student, **texts)

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keeps other graders off the gradebook.

        Raises:
            GraderError: when another one is at work.
        """
        return self.database.alone()


def find_assignment(root: Path, name: str) -> tuple[str, Lesson | None]:
    """The full name of a lesson, and the lesson; or that of a plain assignment of the course in a folder.

    A whole name goes before the number of a lesson.

    Raises:
        GraderError: when there is neither.
    """
    try:
        lesson = load_lesson(name)
        if lesson.name == name:
            return name, lesson
    except UnknownLesson as error:
        lesson, unknown = None, error
    if Course.is_one(root) and Course.open(root).knows(name):
        return name, None
    if lesson is None:
        where = f"{unknown} Nor are there notebooks of an assignment {name!r} in this folder's course."
        raise GraderError(where) from unknown
    return lesson.name, lesson


def _place(error: BaseException) -> str:
    """The file and the line of nbgrader's settings at which Python stopped, for a person."""
    if isinstance(error, SyntaxError):
        return f"{error.filename or CONFIGURATION}, line {error.lineno}," if error.lineno else CONFIGURATION
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith("_config.py")]
    if frames:
        return f"{frames[-1].filename}, line {frames[-1].lineno},"
    return str(Path(CONFIGURATION).with_suffix(".json")) if isinstance(error, ValueError) else CONFIGURATION


def _may_be_folder(path: Path) -> bool:
    try:
        return path.is_symlink() or path.is_dir()
    except PermissionError:
        return True


def put_environment_on_path() -> None:
    """nbgrader calls `alembic` by name when it makes a gradebook; it stands beside this Python."""
    folder = str(Path(sys.executable).parent)
    if folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", "")

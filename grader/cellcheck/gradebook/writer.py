"""Writes graded submissions as `nbgrader autograde` would: the gradebook, the autograded notebook, and our own page.

nbgrader's tables, formats and reading of a mark are used; its tower of converters, which reads and writes the database
for every cell, is not.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute

from cellcheck.authoring.spec import Lesson
from cellcheck.checking.cards import points
from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.gradebook.agreement import generated
from cellcheck.gradebook.as_it_stands import as_it_stands
from cellcheck.gradebook.book import Book, GradebookEntry
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.draft import Draft, Key, answers_in, draft, verdicts
from cellcheck.gradebook.feedback import failure_page, page
from cellcheck.gradebook.folders import fresh_folder, unwritten
from cellcheck.gradebook.handed import handed_for
from cellcheck.running.assignment import Assignment
from cellcheck.running.listing import files_below
from cellcheck.running.result import Result
from cellcheck.running.timestamp import timestamp

_FOR_RELEASE = ("timestamp.txt", "submission_secret.txt")
"""What `nbgrader release_feedback` looks for beside a page: which submission it belongs to."""
_MOST_COPIED = 2**26  # bytes of the files that a learner handed in beside notebooks
_SAME = 1e-4  # a gradebook may keep seven digits only

_ACTIVE = frozenset(
    ".htm .html .xhtml .xht .shtml .mht .mhtml .svg .svgz .xml .xsl .xslt .js .mjs .swf".split()  # noqa: SIM905
)
"""Files of a learner's that a browser would run: Formgrader serves `autograded/` under its own address."""


@dataclass(frozen=True)
class Graded:
    """A submission that was graded: whose it is, what came of it, and what is to be written."""

    student: str
    result: Result
    draft: Draft


class Writer:
    """Writes the submissions of one assignment."""

    def __init__(self, course: Course, gradebook: Gradebook, name: str, lesson: Lesson | None) -> None:
        self.course = course
        self.name = name
        self.book = Book(course, gradebook, name)
        # nbgrader's own settings for what it copies and which permissions it gives
        self._settings = Autograde(coursedir=course.directory, config=course.config)
        self.assignment = released(course, self.book, name, lesson)

    def draft(self, notebooks: Mapping[str, bytes], result: Result) -> Draft:
        """What is to be written of a submission; see `cellcheck.gradebook.draft.draft`."""
        return draft(self.assignment, notebooks, result)

    def write(self, graded: Sequence[Graded]) -> None:
        """Writes marks, the autograded notebooks and the feedback pages of some submissions.

        The marks are one transaction: nothing in a run takes as long as waiting for the disk, or for a server.

        Raises:
            GraderError: when that fails; the gradebook then holds what it held before. A `Halt` when nobody's can be
                written.
        """
        entries, results = [], {}
        try:
            for one in graded:
                submission = self.course.submission(one.student, self.name)
                self._write_files(one.student, submission, one.draft.notebooks)
                entries.append(GradebookEntry(one.student, timestamp(submission), one.draft.scores, one.draft.blank))
                results[one.student] = one.result
            self.book.write(entries)
            stand = self.standing(results)
            for one in graded:
                stands = stand[one.student]
                cards = _kept(one.draft.cards, one.result, stands)
                handed = handed_for(self.assignment, one.draft.notebooks)
                shown = page(stands, one.student, cards, one.draft.answers, handed, self._when(one.student))
                self._write_page(one.student, shown)
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def write_page_again(self, student: str, result: Result, penalty: float | None = None) -> None:
        """Writes a learner's page anew, with what people have given since. Nothing is graded.

        Args:
            student: whose page.
            result: what came of the submission when it was graded.
            penalty: the points taken off for being late, where they aren't those that stand in the gradebook.

        Raises:
            GraderError: when it can't be written.
        """
        stands = self.standing({student: result})[student]
        if penalty is not None:
            stands = replace(stands, penalty=penalty)
        graded = self.course.autograded(student, self.name) / f"{self.name}.ipynb"
        cards, answers = _shown_in(graded) if result.verdicts else ({}, {})
        handed = handed_for(self.assignment, self._autograded(student))
        try:
            cards = _kept(cards, result, stands)
            self._write_page(student, page(stands, student, cards, answers, handed, self._when(student)))
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def penalise(self, students: Collection[str], results: Mapping[str, Result]) -> None:
        """Works out again what these students' submissions lose for being late, and writes it where it has changed.

        Raises:
            GraderError: when it can't be written.
        """
        there = self.book.penalties(students)
        for student, due in self.book.penalties_due(students).items():
            if due != there.get(student, {}):
                # The page comes first: if the run is killed in between, the gradebook still shows that there is work
                # left.
                self.write_page_again(student, results[student], sum(penalty or 0.0 for penalty in due.values()))
                self.book.write_penalties(due)

    def write_failure(self, student: str, message: str) -> None:
        """Tells a learner why nothing could be graded. The gradebook stays as it is.

        Raises:
            GraderError: when that fails.
        """
        try:
            self._write_page(student, failure_page(self.name, student, message, self._when(student)))
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def holds(self, student: str, result: Result, marks: Mapping[Key, float | None]) -> bool:
        """Whether all that came of a submission is where it belongs: its marks, its notebooks, its page."""
        folder = self.course.autograded(student, self.name)
        try:
            there = any((folder / f"{title}.ipynb").is_file() for title in self.assignment.notebooks)
            there = there and all(path.is_file() for path in self._pages(student))
        except PermissionError:  # as good as gone
            return False
        return there and not self.differences(result, marks)

    def differences(self, result: Result, marks: Mapping[Key, float | None]) -> list[str]:
        """Where the gradebook does not hold what came of a submission, a phrase each."""
        differences = []
        for (title, name), score in verdicts(self.assignment, result).items():
            there = marks.get((title, name))
            if there is None or abs(there - score) > _SAME:
                differences.append(f"{name} has {'no mark' if there is None else points(there)}, not {points(score)}")
        for verdict in result.verdicts:
            cell = self.book.cells.get(self.name, {}).get(f"test_{verdict.symbol}")
            if cell is not None and cell.points != verdict.max_score:
                differences.append(
                    f"test_{verdict.symbol} is worth {points(cell.points or 0)}, not {points(verdict.max_score)}"
                )
        return differences

    def standing(self, results: Mapping[str, Result]) -> dict[str, Result]:
        """What came of each learner's submission as the gradebook has it: with the points and comments people gave."""
        given, penalties = self.book.given(results), self.book.penalties(results)
        return {
            student: as_it_stands(
                result,
                given.get(student, {}),
                self.assignment,
                sum(penalty or 0.0 for penalty in penalties.get(student, {}).values()),
            )
            for student, result in results.items()
        }

    def _write_files(self, student: str, submission: Path, notebooks: Mapping[str, str]) -> None:
        """The submission's folder as it was graded. It appears whole or not at all."""
        with fresh_folder(self.course.autograded(student, self.name)) as folder:
            left = _MOST_COPIED
            for path in files_below(submission, [*self.course.directory.ignore, "*.ipynb"]).files:
                size, inside = path.stat().st_size, path.relative_to(submission)
                if path.suffix.lower() not in _ACTIVE and size <= left:
                    left -= size
                    (folder / inside).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, folder / inside)
            for name, data in self.assignment.files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            for title, text in notebooks.items():
                write_whole(folder / f"{title}.ipynb", text)
            for path in folder.rglob("*"):
                if path.is_file():
                    path.chmod(int(str(self._settings.permissions), 8))
            if self.course.directory.groupshared:
                for path in (folder, folder.parent, *filter(Path.is_dir, folder.rglob("*"))):
                    path.chmod(0o2775)

    def _autograded(self, student: str) -> dict[str, str]:
        """The text of each of a learner's autograded notebooks, by the notebook's name."""
        folder, texts = self.course.autograded(student, self.name), dict[str, str]()
        for title in self.assignment.notebooks:
            with contextlib.suppress(OSError, ValueError):  # a person may have saved it, or something else
                texts[title] = json.dumps(nbformat.read(folder / f"{title}.ipynb", as_version=4))
        return texts

    def _pages(self, student: str) -> list[Path]:
        """Where the student's page goes. nbgrader hands one back for each notebook: each is the whole page."""
        titles = self.assignment.notebooks or [self.name]
        return [self.course.feedback(student, self.name, title) for title in titles]

    def _when(self, student: str) -> datetime | None:
        return timestamp(self.course.submission(student, self.name))

    def _write_page(self, student: str, text: str) -> None:
        submission = self.course.submission(student, self.name)
        for path in self._pages(student):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        for name in _FOR_RELEASE:
            note = submission / name
            if note.is_file() and not note.is_symlink() and not submission.is_symlink() and note.stat().st_size < 1000:
                shutil.copy(note, path.parent / name)


def released(course: Course, book: Book, name: str, lesson: Lesson | None) -> Assignment:
    """The assignment that a gradebook knows, with the files beside its source notebooks.

    Raises:
        GraderError: when its tests need a lesson that is not there.
    """
    if not book.cells:
        raise GraderError(
            f"There is nothing to grade in {name}: none of its notebooks has a cell that nbgrader knows. Mark answers "
            "and tests in JupyterLab's sidebar (Create Assignment), and grade it then."
        )
    settings = Autograde(coursedir=course.directory, config=course.config)
    overwritten = settings.exclude_overwriting.get(name, [])
    files = {
        str(at): path.read_bytes() for path, at in others(course, course.source(name)) if str(at) not in overwritten
    }
    skipped = Execute(config=course.config).skip_cells_with_tag
    ungraded = {path.stem for path in course.source(name).glob("*.ipynb")} - book.cells.keys()
    assignment = Assignment(name, book.cells, lesson, files, skipped, frozenset(ungraded))
    if assignment.asks_for_checks():
        raise GraderError(
            f"The notebooks of {name} use check, but {name} is not a lesson, so nothing says what is right. Put its "
            "exercises into a lesson of a course (docs/authors.md shows how), or test without check."
        )
    return assignment


def released_aside(course: Course, name: str) -> Assignment:
    """A plain assignment as nbgrader would release it now; where there is no source, as the gradebook knows it.

    Raises:
        GraderError: when nbgrader refuses, or nothing can be written.
    """
    if not any(course.source(name).glob("*.ipynb")):
        with course.gradebook() as gradebook:
            return released(course, Book(course, gradebook, name), name, None)
    try:
        with generated(course.root, course.config, name) as aside, Gradebook(aside.db_url) as gradebook:
            return released(course, Book(course, gradebook, name), name, None)
    except OSError as error:
        raise unwritten(error, course.root) from error


def others(course: Course, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The files in an instructor's own folder that aren't notebooks, and their paths inside it.

    As nbgrader does when it releases them, links are followed: data that many assignments use lie elsewhere.

    Raises:
        GraderError: for a link that leads nowhere: without the data that it stands for, nobody would earn anything.
    """
    ignored = [*course.directory.ignore, "*.ipynb"]
    met = set()
    for name, folders, files in os.walk(folder, followlinks=True):
        met.add(os.path.realpath(name))
        folders[:] = sorted(
            each
            for each in folders
            if not any(fnmatch(each, one) for one in ignored) and os.path.realpath(os.path.join(name, each)) not in met
        )
        for file in sorted(files):
            path = Path(name, file)
            if path.is_symlink() and not path.exists():
                raise GraderError(
                    f"{path} is a link to {os.readlink(path)}, which isn't there: put it there, or delete the link."
                )
            if path.is_file() and not any(fnmatch(file, one) for one in ignored):
                yield path, path.relative_to(folder)


def _kept(cards: Mapping[str, str], result: Result, stands: Result) -> dict[str, str]:
    """The cards that still say what stands in the gradebook; a person's points take the place of the others."""
    changed = {new.symbol for old, new in zip(result.verdicts, stands.verdicts, strict=True) if new != old}
    return {symbol: text for symbol, text in cards.items() if symbol not in changed}


def _shown_in(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The cards and the answers in an autograded notebook, by symbol: only we put HTML into it."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError):
        return {}, {}
    shown = {c.metadata.get("nbgrader", {}).get("grade_id", ""): c.get("outputs", []) for c in notebook.cells}
    cards = {
        name.removeprefix("test_"): str(output.data["text/html"])
        for name, outputs_of_it in shown.items()
        for output in outputs_of_it
        if "text/html" in output.get("data", {})
    }
    return cards, answers_in(notebook)

"""Writes graded submissions as `nbgrader autograde` would: the gradebook, the autograded notebook, and our own page.

nbgrader's tables, formats and reading of a mark are used; its tower of converters, which reads and writes the database
for every cell, is not.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from grader.checking.cards import card, plain, points
from grader.checking.judge import Verdict
from grader.gradebook.book import Book
from grader.gradebook.course import Course
from grader.gradebook.feedback import failure_page, page
from grader.gradebook.files import fresh_folder, unwritten, write_whole
from grader.gradebook.repair import sound_notebook
from grader.running.cleaning import as_typed
from grader.running.reader import read_apart
from grader.running.reading import Unreadable
from grader.running.result import OwnTest, Result
from grader.syllabus import load_lesson

_FOR_RELEASE = ("timestamp.txt", "submission_secret.txt")
"""What `nbgrader release_feedback` looks for beside a page: which submission it belongs to."""
_SAME = 1e-4  # a gradebook may keep seven digits only

_ACTIVE = frozenset(
    ".htm .html .xhtml .xht .shtml .mht .mhtml .svg .svgz .xml .xsl .xslt .js .mjs .swf".split()  # noqa: SIM905
)
"""Files of a learner's that a browser would run: Formgrader serves `autograded/` under its own address."""


class Writer:
    """Writes the submissions of one lesson, one after the other."""

    def __init__(self, course: Course, gradebook: Gradebook, lesson: str) -> None:
        self.course = course
        self.lesson = load_lesson(lesson)
        self.book = Book(course, gradebook, lesson)
        # nbgrader's own settings for what it copies and which permissions it gives
        self._settings = Autograde(coursedir=course.directory, config=course.config)

    @property
    def own_tests(self) -> dict[str, OwnTest]:
        """The test cells that the instructor wrote and that are no `check`, by name, as they were released."""
        checks = {f"test_{exercise.symbol}" for exercise in self.lesson.exercises}
        return {
            name: OwnTest(cell.source, cell.points)
            for name, cell in self.book.cells.items()
            if cell.points is not None and not cell.answer and cell.cell_type == "code" and name not in checks
        }

    def write(self, student: str, data: bytes, result: Result) -> None:
        """Writes marks, the autograded notebook and the feedback page of one submission.

        Raises:
            GraderError: when that fails; the gradebook then holds what it held before. A `Halt` when nobody's can be
                written.
        """
        notebook = sound_notebook(data, self.lesson)
        self._as_released(notebook)
        tame(notebook)
        show(notebook, result)
        graded = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if utils.is_grade(c) or utils.is_task(c)}
        # A verdict is a mark, whatever became of its cell.
        scores = {name: _score(cell) for name, cell in graded.items()} | verdicts(result)
        answers = [cell for cell in notebook.cells if utils.is_solution(cell) and not utils.is_task(cell)]
        blank = frozenset(
            cell.metadata.nbgrader.grade_id
            for cell in answers
            if cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
        )
        submission = self.course.submission(student, self.lesson.name)
        try:
            self._write_files(student, submission, notebook)
            self.book.write(student, timestamp(submission), scores, blank)
            self._write_page(student, page(result, student))
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def write_failure(self, student: str, message: str) -> None:
        """Tells a learner why nothing could be graded. The gradebook stays as it is.

        Raises:
            GraderError: when that fails.
        """
        try:
            self._write_page(student, failure_page(self.lesson.name, student, message))
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def holds(self, student: str, result: Result, marks: Mapping[str, float | None]) -> bool:
        """Whether all that came of a submission is where it belongs: its marks, its notebook, its page."""
        files = (self.course.autograded(student, self.lesson.name) / f"{self.lesson.name}.ipynb",)
        there = all(path.is_file() for path in (*files, self.course.feedback(student, self.lesson.name)))
        return there and not self.differences(result, marks)

    def differences(self, result: Result, marks: Mapping[str, float | None]) -> list[str]:
        """Where the gradebook does not hold what came of a submission, a phrase each."""
        found = []
        for name, score in verdicts(result).items():
            there = marks.get(name)
            if there is None or abs(there - score) > _SAME:
                found.append(f"{name} has {'no mark' if there is None else points(there)}, not {points(score)}")
        for verdict in result.verdicts:
            cell = self.book.cells.get(f"test_{verdict.symbol}")
            if cell is not None and cell.points != verdict.max_score:
                found.append(
                    f"test_{verdict.symbol} is worth {points(cell.points or 0)}, not {points(verdict.max_score)}"
                )
        return found

    def _as_released(self, notebook: NotebookNode) -> None:
        """Gives nbgrader's cells the marks, and locked ones the text, that they were released with."""
        for cell in notebook.cells:
            marks = cell.metadata.get("nbgrader")
            if marks is None:
                continue
            source = self.book.cells.get(marks["grade_id"])
            if source is None:
                del cell.metadata["nbgrader"]
                continue
            if cell.cell_type != source.cell_type:
                cell.cell_type = source.cell_type
                for name in ("outputs", "execution_count"):
                    cell.pop(name, None)
                if source.cell_type == "code":
                    cell.update(outputs=[], execution_count=None)
            graded = source.points is not None
            marks.update(
                cell_type=source.cell_type,
                locked=source.locked,
                checksum=source.checksum,
                grade=graded and not marks.get("task", False),
                solution=source.answer and not marks.get("task", False),
            )
            if graded:
                marks["points"] = source.points
            if source.locked:
                cell.source = source.source

    def _write_files(self, student: str, submission: Path, notebook: NotebookNode) -> None:
        """The submission's folder as it was graded. It appears whole or not at all."""
        name = self.lesson.name
        kept = self._settings.exclude_overwriting.get(name, [])
        released = Path(self.course.directory.format_path(self.course.directory.source_directory, ".", name))
        with fresh_folder(self.course.autograded(student, name)) as made:
            self._copy_others(submission, made, [], _ACTIVE)
            self._copy_others(released, made, kept)
            text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
            write_whole(made / f"{name}.ipynb", text + "\n")
            for path in made.rglob("*"):
                if path.is_file():
                    path.chmod(int(str(self._settings.permissions), 8))

    def _copy_others(self, source: Path, target: Path, kept: list[str], left_out: frozenset[str] = frozenset()) -> None:
        for found in utils.find_all_files(str(source), [*self.course.directory.ignore, "*.ipynb"]):
            path = Path(found)
            inside = path.relative_to(source)
            # nbgrader would follow a link out of the folder
            if (
                str(inside) in kept
                or path.suffix.lower() in left_out
                or any(p.is_symlink() for p in (path, *path.parents) if p.is_relative_to(source))
            ):
                continue
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                shutil.copy(path, target / inside)

    def _write_page(self, student: str, text: str) -> None:
        path = self.course.feedback(student, self.lesson.name)
        write_whole(path, text)
        submission = self.course.submission(student, self.lesson.name)
        for name in _FOR_RELEASE:
            note = submission / name
            if note.is_file() and not note.is_symlink() and not submission.is_symlink():
                shutil.copy(note, path.parent / name)


def tame(notebook: NotebookNode) -> None:
    """Takes out of force what a learner's text would do on a page that shows it. Code is shown as text anyway."""
    for cell in notebook.cells:
        if cell.cell_type == "raw" and "<" in cell.source and not _is_released(cell):  # nbconvert shows it as HTML
            cell.update(cell_type="markdown", source=as_typed(cell.source))
    texts = [cell for cell in notebook.cells if cell.cell_type == "markdown" and not _is_released(cell)]
    if not texts:
        return
    job = [{"source": cell.source, "pictures": cell.get("attachments", {})} for cell in texts]
    try:
        sources = read_apart("cleaned", json.dumps(job).encode())
    except Unreadable:
        sources = [as_typed(cell.source) for cell in texts]
    for cell, source in zip(texts, sources, strict=True):
        cell.source = source


def _is_released(cell: NotebookNode) -> bool:
    """Whether it is as the instructor wrote it."""
    checksum = cell.metadata.get("nbgrader", {}).get("checksum")
    return checksum is not None and checksum == utils.compute_checksum(cell)


def show(notebook: NotebookNode, result: Result) -> None:
    """Puts into each test cell what its check would have left there: the card, and the score as nbgrader reads it."""
    verdicts = {f"test_{verdict.symbol}": verdict for verdict in result.verdicts}
    own = {test.name: test for test in result.own_tests}
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in verdicts and cell.cell_type == "code":
            cell.outputs = outputs(verdicts[name])
        elif name in own and cell.cell_type == "code":
            score, message = own[name].score, own[name].message
            cell.outputs = [nbformat.from_dict(_number({"text/plain": repr(score)}) if score else _error(message))]


def outputs(verdict: Verdict) -> list[NotebookNode]:
    """What `check` leaves in a notebook."""
    if verdict.score > 0:
        shown = [_number({"text/plain": repr(verdict.score), "text/html": card(verdict)})]
    else:
        data = {"text/plain": plain(verdict), "text/html": card(verdict)}
        shown = [{"output_type": "display_data", "data": data, "metadata": {}}, _error(verdict.message)]
    return [nbformat.from_dict(output) for output in shown]


def _number(data: dict[str, str]) -> dict[str, object]:
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def _error(message: str) -> dict[str, object]:
    return {"output_type": "error", "ename": "NotYet", "evalue": message, "traceback": [message]}


def verdicts(result: Result) -> dict[str, float]:
    """The score of each test cell that was judged, by the cell's name."""
    own = {test.name: test.score for test in result.own_tests}
    return own | {f"test_{verdict.symbol}": verdict.score for verdict in result.verdicts}


def _score(cell: NotebookNode) -> float | None:
    """nbgrader's own reading of a cell's mark."""
    if utils.is_task(cell):
        return None
    score = utils.determine_grade(cell)[0]
    return None if score is None else float(score)


def timestamp(submission: Path) -> datetime | None:
    """When nbgrader collected the submission, in UTC; None where its note is missing or no date."""
    note = submission / "timestamp.txt"
    if note.is_symlink() or not note.is_file():
        return None
    try:
        found: datetime = utils.parse_utc(note.read_text("utf-8").strip())
    except (ValueError, OverflowError, OSError):
        return None
    return found

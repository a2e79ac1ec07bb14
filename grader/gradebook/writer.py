"""Writes graded submissions as `nbgrader autograde` would: the gradebook, the autograded notebook, and our own page.

nbgrader's tables, formats and reading of a mark are used; its tower of converters, which reads and writes the database
for every cell, is not.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute

from grader.authoring.spec import Lesson
from grader.checking.cards import card, plain, points
from grader.checking.judge import Verdict
from grader.errors import GraderError
from grader.gradebook.assignment import generated
from grader.gradebook.book import Book, Key
from grader.gradebook.course import Course
from grader.gradebook.feedback import failure_page, page
from grader.gradebook.files import fresh_folder, unwritten, write_whole
from grader.gradebook.repair import sound_notebook, sound_plain
from grader.gradebook.standing import as_it_stands
from grader.running.assignment import Assignment, Cells
from grader.running.cleaning import as_typed
from grader.running.reader import read_apart
from grader.running.reading import Unreadable
from grader.running.result import Result

_FOR_RELEASE = ("timestamp.txt", "submission_secret.txt")
"""What `nbgrader release_feedback` looks for beside a page: which submission it belongs to."""
_SAME = 1e-4  # a gradebook may keep seven digits only

_ACTIVE = frozenset(
    ".htm .html .xhtml .xht .shtml .mht .mhtml .svg .svgz .xml .xsl .xslt .js .mjs .swf".split()  # noqa: SIM905
)
"""Files of a learner's that a browser would run: Formgrader serves `autograded/` under its own address."""


class Writer:
    """Writes the submissions of one assignment, one after the other."""

    def __init__(self, course: Course, gradebook: Gradebook, name: str, lesson: Lesson | None) -> None:
        self.course = course
        self.name = name
        self.book = Book(course, gradebook, name)
        # nbgrader's own settings for what it copies and which permissions it gives
        self._settings = Autograde(coursedir=course.directory, config=course.config)
        self.assignment = released(course, self.book, name, lesson)

    def write(self, student: str, notebooks: Mapping[str, bytes], result: Result) -> None:
        """Writes marks, the autograded notebooks and the feedback page of one submission.

        Raises:
            GraderError: when that fails; the gradebook then holds what it held before. A `Halt` when nobody's can be
                written.
        """
        made: dict[str, NotebookNode] = {}
        scores: dict[Key, float | None] = {}
        blank: set[Key] = set()
        for title, cells in self.assignment.notebooks.items():
            if title not in notebooks:  # nothing was handed in of it
                scores |= {(title, name): 0.0 for name, cell in cells.items() if cell.points is not None}
                continue
            made[title], lost = self._made(title, notebooks[title])
            show(made[title], result, title if self.assignment.several else "")
            for cell in made[title].cells:
                name = cell.metadata.get("nbgrader", {}).get("grade_id")
                if utils.is_grade(cell) or utils.is_task(cell):
                    scores[title, name] = None if name in lost else _score(cell)
                if utils.is_solution(cell) and not utils.is_task(cell) and name not in lost and _is_released(cell):
                    blank.add((title, name))
        scores |= self._verdicts(result)  # a verdict is a mark, whatever became of its cell
        submission = self.course.submission(student, self.name)
        try:
            self._write_files(student, submission, made)
            self.book.write(student, timestamp(submission), scores, frozenset(blank))
            self._write_page(student, page(self.standing(student, result), student))
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
        stands = self.standing(student, result)
        if penalty is not None:
            stands = replace(stands, penalty=penalty)
        changed = {new.symbol for old, new in zip(result.verdicts, stands.verdicts, strict=True) if new != old}
        cards = _cards(self.course.autograded(student, self.name) / f"{self.name}.ipynb") if result.verdicts else {}
        kept = {symbol: text for symbol, text in cards.items() if symbol not in changed}
        try:
            self._write_page(student, page(stands, student, kept))
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def penalise(self, student: str, result: Result) -> None:
        """Works out again what a graded submission loses for being late, and writes it where it has changed.

        Raises:
            GraderError: when it can't be written.
        """
        due = self.book.penalties_due(student)
        if due != self.book.penalties(student):
            # The page comes first: if the run is killed in between, the gradebook still shows that there is work left.
            self.write_page_again(student, result, sum(penalty or 0.0 for penalty in due.values()))
            self.book.write_penalties(due)

    def _made(self, title: str, data: bytes) -> tuple[NotebookNode, frozenset[str]]:
        """A notebook as it is kept (sound, with the marks it was released with, tame), and the answers it has lost."""
        lesson, source = self.assignment.lesson, self.assignment.notebooks[title]
        if lesson is not None and title == self.name:
            notebook, lost = sound_notebook(data, lesson), frozenset[str]()
        else:
            notebook, lost = sound_plain(data, source)
        self._as_released(notebook, source)
        tame(notebook)
        return notebook, lost

    def write_failure(self, student: str, message: str) -> None:
        """Tells a learner why nothing could be graded. The gradebook stays as it is.

        Raises:
            GraderError: when that fails.
        """
        try:
            self._write_page(student, failure_page(self.name, student, message))
        except OSError as error:
            raise unwritten(error, self.course.root) from error

    def holds(self, student: str, result: Result, marks: Mapping[Key, float | None]) -> bool:
        """Whether all that came of a submission is where it belongs: its marks, its notebooks, its page."""
        folder = self.course.autograded(student, self.name)
        graded = any((folder / f"{title}.ipynb").is_file() for title in self.assignment.notebooks)
        return graded and all(path.is_file() for path in self._pages(student)) and not self.differences(result, marks)

    def differences(self, result: Result, marks: Mapping[Key, float | None]) -> list[str]:
        """Where the gradebook does not hold what came of a submission, a phrase each."""
        found = []
        for (title, name), score in self._verdicts(result).items():
            there = marks.get((title, name))
            if there is None or abs(there - score) > _SAME:
                found.append(f"{name} has {'no mark' if there is None else points(there)}, not {points(score)}")
        for verdict in result.verdicts:
            cell = self.book.cells.get(self.name, {}).get(f"test_{verdict.symbol}")
            if cell is not None and cell.points != verdict.max_score:
                found.append(
                    f"test_{verdict.symbol} is worth {points(cell.points or 0)}, not {points(verdict.max_score)}"
                )
        return found

    def _verdicts(self, result: Result) -> dict[Key, float]:
        """The score of each test cell that was judged."""
        alone = next(iter(self.assignment.notebooks), "")
        own = {(test.notebook or alone, test.name): test.score for test in result.own_tests}
        return own | {(self.name, f"test_{verdict.symbol}"): verdict.score for verdict in result.verdicts}

    def standing(self, student: str, result: Result) -> Result:
        """What came of a submission as the gradebook has it: with the points and comments that people gave."""
        return as_it_stands(result, self.book.given(student), self.assignment, self.book.penalty(student))

    def _as_released(self, notebook: NotebookNode, source_cells: Cells) -> None:
        """Gives nbgrader's cells the marks, and locked ones the text, that they were released with."""
        for cell in notebook.cells:
            marks = cell.metadata.get("nbgrader")
            if marks is None:
                continue
            source = source_cells.get(marks["grade_id"])
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

    def _write_files(self, student: str, submission: Path, notebooks: Mapping[str, NotebookNode]) -> None:
        """The submission's folder as it was graded. It appears whole or not at all."""
        with fresh_folder(self.course.autograded(student, self.name)) as made:
            for path, inside in others(self.course, submission):
                if path.suffix.lower() not in _ACTIVE:
                    (made / inside).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, made / inside)
            for name, data in self.assignment.files.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                (made / name).write_bytes(data)
            for title, notebook in notebooks.items():
                text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
                write_whole(made / f"{title}.ipynb", text + "\n")
            for path in made.rglob("*"):
                if path.is_file():
                    path.chmod(int(str(self._settings.permissions), 8))

    def _pages(self, student: str) -> list[Path]:
        """Where the student's page goes. nbgrader hands one back for each notebook: each is the whole page."""
        titles = self.assignment.notebooks or [self.name]
        return [self.course.feedback(student, self.name, title) for title in titles]

    def _write_page(self, student: str, text: str) -> None:
        submission = self.course.submission(student, self.name)
        for path in self._pages(student):
            write_whole(path, text)
        for name in _FOR_RELEASE:
            note = submission / name
            if note.is_file() and not note.is_symlink() and not submission.is_symlink():
                shutil.copy(note, path.parent / name)


def released(course: Course, book: Book, name: str, lesson: Lesson | None) -> Assignment:
    """The assignment that a gradebook knows, with the files beside its source notebooks.

    Raises:
        GraderError: when its tests need a lesson that is not there.
    """
    settings = Autograde(coursedir=course.directory, config=course.config)
    kept = settings.exclude_overwriting.get(name, [])
    files = {str(at): path.read_bytes() for path, at in others(course, course.source(name)) if str(at) not in kept}
    skipped = Execute(config=course.config).skip_cells_with_tag
    made = Assignment(name, book.cells, lesson, files, skipped)
    if made.asks_for_checks():
        raise GraderError(
            f"The notebooks of {name} use check, but {name} is not a lesson, so nothing says what is right. Put its "
            "exercises into a lesson of a course (docs/authors.md shows how), or test without check."
        )
    return made


def released_aside(course: Course, name: str) -> Assignment:
    """A plain assignment as nbgrader would release it now; where there is no source, as the gradebook knows it.

    Raises:
        GraderError: when nbgrader refuses.
    """
    if not any(course.source(name).glob("*.ipynb")):
        with course.gradebook() as gradebook:
            return released(course, Book(course, gradebook, name), name, None)
    with generated(course.root, course.config, name) as made, Gradebook(made.db_url) as gradebook:
        return released(course, Book(course, gradebook, name), name, None)


def others(course: Course, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The files in a folder that aren't notebooks, as nbgrader finds them, and their paths inside it."""
    for found in utils.find_all_files(str(folder), [*course.directory.ignore, "*.ipynb"]):
        path = Path(found)
        # nbgrader would follow a link out of the folder
        linked = any(p.is_symlink() for p in (path, *path.parents) if p.is_relative_to(folder))
        if path.is_file() and not linked:
            yield path, path.relative_to(folder)


def _cards(notebook: Path) -> dict[str, str]:
    """The cards in an autograded notebook, by symbol: only we put outputs into it."""
    try:
        cells = nbformat.read(notebook, as_version=4).cells
    except (OSError, ValueError):
        return {}
    shown = {c.metadata.get("nbgrader", {}).get("grade_id", ""): c.get("outputs", []) for c in cells}
    return {
        name.removeprefix("test_"): str(output.data["text/html"])
        for name, outputs_of_it in shown.items()
        for output in outputs_of_it
        if "text/html" in output.get("data", {})
    }


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


def show(notebook: NotebookNode, result: Result, title: str) -> None:
    """Puts into each test cell what its check would have left there: the card, and the score as nbgrader reads it."""
    verdicts = {f"test_{verdict.symbol}": verdict for verdict in result.verdicts}
    own = {test.name: test for test in result.own_tests if test.notebook == title}
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


def _score(cell: NotebookNode) -> float | None:
    """nbgrader's own reading of a cell's mark."""
    if utils.is_task(cell):
        return None
    score = utils.determine_grade(cell)[0]
    return None if score is None else float(score)


def timestamp(submission: Path) -> datetime | None:
    """When nbgrader collected the submission, in UTC; None where its note is missing or isn't a date."""
    note = submission / "timestamp.txt"
    if note.is_symlink() or not note.is_file():
        return None
    try:
        found: datetime = utils.parse_utc(note.read_text("utf-8").strip())
    except (ValueError, OverflowError, OSError):
        return None
    return found

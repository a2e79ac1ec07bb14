"""The assignment that nbgrader's gradebook knows, and the one in the source notebook: are they the same?

nbgrader's `generate_assignment` writes cell by cell, and removes the release first. Killed on the way, it leaves a
gradebook that knows some of the cells, and marks of the others are lost. Here nbgrader generates into a folder and a
gradebook of its own; what it made is then taken over in one transaction.
"""

import contextlib
import copy
import glob
import logging
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import api, utils
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import ColumnElement, Table, create_engine, delete, insert, select
from sqlalchemy.orm import Session
from traitlets import TraitError
from traitlets.config import Config

from cellcheck.checking.cards import points, worth
from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.gradebook.kernels import insist_on_python
from cellcheck.gradebook.source_notebooks import insist_on_marks, insist_on_shape, parsed
from cellcheck.syllabus import CONFIGURATION, load_lesson

_STUB = re.compile(r"^([ \t]*)# YOUR CODE HERE\n[ \t]*raise NotImplementedError\(\)$", re.MULTILINE)
"""What nbgrader puts where a solution was."""
_CELLS = tuple(kind.__table__ for kind in (api.BaseCell, api.GradeCell, api.SolutionCell, api.TaskCell, api.SourceCell))
"""nbgrader's tables of a notebook's cells, each after those that it refers to."""


@dataclass(frozen=True)
class Kind:
    """What a cell is to nbgrader."""

    cell_type: str
    points: float | None
    """None where it earns none."""
    graded: bool
    answer: bool
    task: bool
    text: str = ""
    """What is run to give a mark. Of a test that nbgrader makes itself (AUTOTEST), nothing is kept here."""
    tags: tuple[str, ...] | None = field(default=None, compare=False)
    """The author's own; None where only the gradebook is known, which keeps none."""


Kinds = dict[str, dict[str, Kind]]
"""Per notebook, in nbgrader's order, its cells in theirs."""


def in_source(folder: Path) -> Kinds:
    """The cells of the source notebooks in a folder; empty where there are none.

    Raises:
        GraderError: when one can't be read, or isn't an assignment of nbgrader's.
    """
    _insist_on_sound(folder)
    return {path.stem: _in_notebook(path) for path in sorted(folder.glob("*.ipynb"))}


def bring_source(release: Path, source: Path) -> None:
    """Makes a source notebook of a lesson whose course is installed, and brings no other: nbgrader makes of it the
    release that it was made from.

    Raises:
        GraderError: when the release can't be read.
        OSError: when the source can't be written.
    """
    try:
        notebook = nbformat.read(release, as_version=4)
    except Exception as error:  # nbformat raises errors of many kinds
        raise GraderError(f"{release} can't be read: {error}.") from error
    for cell in notebook.cells:
        if utils.is_solution(cell) and cell.cell_type == "code":
            cell.source = _STUB.sub(r"\1### BEGIN SOLUTION\n\1### END SOLUTION", cell.source)
    source.mkdir(parents=True, exist_ok=True)
    write_whole(source / release.name, nbformat.writes(notebook).encode("utf-8"))


def _in_notebook(path: Path) -> dict[str, Kind]:
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises errors of many kinds
        raise GraderError(f"{path} can't be read: {error}.") from error
    cells = {}
    for cell in notebook.cells:
        graded, answer, task = utils.is_grade(cell), utils.is_solution(cell), utils.is_task(cell)
        if graded or answer or task or utils.is_locked(cell):
            marks = cell.metadata.nbgrader
            worth = round(float(marks.get("points", 0)), 4) if graded or task else None
            text = cell.source if graded and not answer else ""
            tags = tuple(tag for tag in cell.metadata.get("tags", ()) if isinstance(tag, str))
            cells[marks.grade_id] = Kind(cell.cell_type, worth, graded, answer, task, _kept(text), tags)
    return cells


def _kept(text: str) -> str:
    return "" if "AUTOTEST" in text else text


def in_gradebook(gradebook: Gradebook, name: str) -> tuple[Kinds, bool]:
    """The cells that a gradebook knows of an assignment, and whether it holds submissions of it."""
    try:
        notebooks = gradebook.find_assignment(name).notebooks
    except MissingEntry:
        return {}, False
    kinds = {notebook.name: _known(notebook) for notebook in sorted(notebooks, key=lambda notebook: notebook.name)}
    # A notebook without cells may be half of one.
    return {name: cells for name, cells in kinds.items() if cells}, any(notebook.submissions for notebook in notebooks)


def _known(notebook: api.Notebook) -> dict[str, Kind]:
    graded = {cell.name: round(cell.max_score, 4) for cell in notebook.grade_cells}
    tasks = {cell.name: round(cell.max_score, 4) for cell in notebook.task_cells}
    answers = {cell.name for cell in notebook.solution_cells}
    worth = graded | tasks
    # A cell without its text is half a cell: nbgrader writes the text last.
    return {
        cell.name: Kind(
            cell.cell_type,
            worth.get(cell.name),
            cell.name in graded,
            cell.name in answers,
            cell.name in tasks,
            _kept(cell.source) if cell.name in graded and cell.name not in answers else "",
        )
        for cell in notebook.source_cells
    }


def check_points(lesson: str, cells: Mapping[str, Kind], where: str) -> None:
    """Makes sure that each exercise is worth what the lesson says.

    Raises:
        GraderError: when one is not, or has no test; the message says what to do.
    """
    wrong = []
    for exercise in load_lesson(lesson).exercises:
        kind = cells.get(f"test_{exercise.symbol}")
        if kind is None or not kind.graded:
            wrong.append(f"{exercise.symbol} has no test")
        elif kind.points != exercise.points:
            wrong.append(f"{exercise.symbol} has {worth(kind.points or 0)}, not {points(exercise.points)}")
    if wrong:
        raise GraderError(
            f"Nothing was graded: in {where}, {_some(wrong)}. Points are set in the exercise, and nowhere else: change "
            f"them there if need be. Then run cellcheck build {lesson}, and nbgrader generate_assignment {lesson}."
        )


def check_change(lesson: str, known_of: Kinds, wanted_of: Kinds) -> None:
    """Makes sure that the cells of an assignment that has submissions are not others now.

    Raises:
        GraderError: when they are; the message says what to do.
    """
    known, wanted = _by_name(lesson, known_of), _by_name(lesson, wanted_of)
    gone = sorted(known.keys() - wanted.keys())
    if gone:
        raise GraderError(
            f"Nothing was graded: the gradebook has marks for {_some(gone)}, which the source notebook of {lesson} "
            "no longer has. Put back what is missing. Or make a copy of the gradebook, remove all marks of this lesson "
            f"(hand-given points too) with nbgrader db assignment remove {lesson} --force, and grade again."
        )
    changed = [name for name in known if known[name] != wanted[name]]
    if changed:
        changes = [f"{name} ({_change(known[name], wanted[name])})" for name in changed]
        raise GraderError(
            f"Nothing was graded: the source notebook of {lesson} has changed since it was entered in the gradebook, "
            f"and there are marks already: {_some(changes)}. If you meant to do that, run "
            f"nbgrader generate_assignment {lesson}, then this command again."
        )


def _by_name(lesson: str, kinds: Kinds) -> dict[str, Kind]:
    """All cells; one that is not in the notebook of the assignment's own name is called after its notebook too."""
    return {
        name if notebook == lesson else f"{notebook}/{name}": kind
        for notebook, cells in kinds.items()
        for name, kind in cells.items()
    }


def _change(old: Kind, new: Kind) -> str:
    if old.points != new.points and old.points is not None and new.points is not None:
        return f"{worth(old.points)}, now {points(new.points)}"
    return "another text" if replace(old, text=new.text) == new else "another kind of cell"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@dataclass(frozen=True)
class Generated:
    """What nbgrader generated, aside: a release folder, and the address of a gradebook."""

    release: Path
    db_url: str


class _Said(logging.Handler):
    """Keeps the reason of a failure, which nbgrader tells its log only."""

    last_error = ""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().strip()
        if text.startswith("Traceback"):
            self.last_error = text.splitlines()[-1]


def clear(root: Path) -> None:
    """Throws away what a kill left of an assignment that was being generated."""
    for left in (root / ".cellcheck").glob("new-*"):
        shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def generated(root: Path, config: Config, lesson: str) -> Iterator[Generated]:
    """What `nbgrader generate_assignment` makes of the source notebook; nothing that is there is touched.

    Raises:
        GraderError: when nbgrader refuses.
    """
    aside = root / ".cellcheck"
    aside.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=aside) as folder:
        db_url = f"sqlite:///{Path(folder, 'gradebook.db')}"
        engine = create_engine(db_url)
        api.Base.metadata.create_all(engine)  # so that nbgrader does not ask alembic, which takes seconds
        engine.dispose()
        ours = copy.deepcopy(config)  # its sections are shared by a plain copy
        ours.CourseDirectory.db_url = db_url
        ours.CourseDirectory.release_directory = str(Path(folder, "release"))
        ours.CourseDirectory.assignment_id = lesson
        ours.CourseDirectory.notebook_id = "*"
        try:
            directory = CourseDirectory(config=ours)
        except TraitError as error:
            raise GraderError(f"nbgrader can't take an assignment called {lesson}: {error}.") from error
        source = directory.format_path(directory.source_directory, ".", lesson)
        if glob.has_magic(source):
            raise GraderError(
                f"nbgrader can't work in a folder that has [, ], * or ? in its path, and {source} has: rename it."
            )
        _insist_on_sound(Path(source))
        log = _Said()
        try:
            converter = GenerateAssignment(coursedir=directory, config=ours)
            converter.log = logging.Logger("cellcheck.generate", logging.ERROR)
            converter.log.addHandler(log)
            with contextlib.chdir(root):
                converter.start()
        except NbGraderException as error:
            reason = " ".join(str(log.last_error or error).split())
            raise GraderError(f"Nothing was graded: nbgrader can't generate {lesson}: {reason}") from error
        except TraitError as error:
            raise GraderError(f"nbgrader refuses what {CONFIGURATION} says: {error}") from error
        yield Generated(Path(directory.format_path(directory.release_directory, ".", lesson)), db_url)


def _insist_on_sound(source: Path) -> None:
    """Looks for what nbgrader would stop at with a traceback, or a riddle.

    Raises:
        GraderError: when a notebook is damaged, a cell isn't marked as it should be, or it is somebody else's.
    """
    for path in sorted(source.glob("*.ipynb")):
        notebook = parsed(path)
        if "cells" in notebook:  # else nbgrader says what is wrong with it
            insist_on_shape(path, notebook)
            insist_on_python(path, notebook.get("metadata", {}))
            insist_on_marks(path, notebook["cells"])


def take_over(aside: Generated, gradebook: Gradebook, lesson: str) -> None:
    """Writes the generated assignment into the gradebook, all of it or nothing.

    A notebook without submissions is written anew. In one that has some, the cells that are there stay as they are, ids
    and all, and those that are missing are added.
    """
    db: Session = gradebook.db()
    db.rollback()
    with Gradebook(aside.db_url) as theirs, db.begin():
        assignment = _id(db, api.Assignment, name=lesson, course_id=gradebook.course_id)
        for notebook in theirs.find_assignment(lesson).notebooks:
            own = _id(db, api.Notebook, name=notebook.name, assignment_id=assignment, kernelspec=notebook.kernelspec)
            if db.scalars(select(api.SubmittedNotebook.id).filter_by(notebook_id=own)).first() is None:
                for table in _CELLS[::-1]:
                    db.execute(delete(table).where(_of(table, own)))
            there = {row["id"]: _name(row) for row in _rows(db, api.BaseCell.__table__, own)}
            texts = {_name(row) for row in _rows(db, api.SourceCell.__table__, own)}
            base = _rows(theirs.db(), api.BaseCell.__table__, notebook.id)
            new = {row["id"] for row in base if _name(row) not in there.values()}
            for table in _CELLS:
                rows = _rows(theirs.db(), table, notebook.id)
                if table is api.SourceCell.__table__:
                    fresh = [row for row in rows if _name(row) not in texts]
                else:
                    fresh = [row for row in rows if row["id"] in new]
                if fresh:
                    moved = {"notebook_id": own} if "notebook_id" in table.c else {}
                    db.execute(insert(table), [row | moved for row in fresh])


def _rows(db: Session, table: Table, notebook: str) -> list[dict[str, Any]]:
    return [dict(row) for row in db.execute(select(table).where(_of(table, notebook))).mappings()]


def _of(table: Table, notebook: str) -> ColumnElement[bool]:
    """Which rows of a table belong to a notebook."""
    if "notebook_id" in table.c:
        return table.c.notebook_id == notebook
    base = api.BaseCell.__table__
    return table.c.id.in_(select(base.c.id).where(base.c.notebook_id == notebook))


def _name(row: Mapping[str, Any]) -> tuple[str, str | None]:
    """A hand-graded answer is two cells of one name: one that is graded, one that is written into."""
    return row["name"], row.get("type")


def _id(db: Session, table: type, **values: str | None) -> str:
    """The id of the row with that name (and assignment), made if there is none."""
    names = {key: value for key, value in values.items() if key in ("name", "assignment_id")}
    ident = db.scalars(select(table.id).filter_by(**names)).first()  # type: ignore[attr-defined]
    if ident is None:
        ident = api.new_uuid()
        db.execute(insert(table).values(id=ident, **values))
    return str(ident)


def put_release(new: Path, final: Path) -> None:
    """Puts the generated release in its place, file by file; other files in that folder stay.

    Raises:
        OSError: when it can't be written.
    """
    for path in sorted(new.rglob("*")):
        if path.is_file():
            place = final / path.relative_to(new)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, path.read_bytes(), stat.S_IMODE(path.stat().st_mode))


def is_whole(notebook: Path) -> bool:
    """Whether a released notebook is there, and not just the half of it."""
    return bool(parsed(notebook))

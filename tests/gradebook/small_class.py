"""Three learners whose results are known beforehand: what is tested is what becomes of them."""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader import api
from rich.console import Console
from sqlalchemy import Column, Engine, MetaData, Table, create_engine, event, inspect, select

from cellcheck import cli
from cellcheck.batch import Job
from cellcheck.checking.judge import MISSING, PARTIAL, PASSED, AspectResult, Verdict
from cellcheck.gradebook import autograde
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.report import watching
from cellcheck.repository import Repository
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "05_causal_masks"
EXERCISES = load_lesson(LESSON).exercises
FIRST = EXERCISES[0].symbol
OTHER = "06_positional_encodings"
SEED = 7
# What each has of every exercise's points, and how it is called.
STANDS = {"ada": (1.0, PASSED), "bea": (0.25, PARTIAL), "cy": (0.0, MISSING)}
WRITTEN = ("notebooks", "autograded", "feedback")


def result(student: str, seed: int = SEED, path: str = "") -> Result:
    """What comes of a learner's submission; the seed shows."""
    share, status = STANDS.get(student, STANDS["ada"])
    verdicts = tuple(
        Verdict(e.symbol, round(e.points * share, 2), e.points, status, f"seed {seed}", (AspectResult("values", True),))
        for e in EXERCISES
    )
    return Result(path, LESSON, verdicts, (), 0.1)


def graded_at_once(paths: Iterable[Path], job: Job, others: Callable[..., Any]) -> Generator[list[tuple[Path, Result]]]:
    """In place of `grade_in_groups`: all but the last are done at the same time."""
    done = [(path, result(path.parent.name, job.seed, str(path))) for path in paths]
    yield from filter(None, (done[:-1], done[-1:]))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grading takes no time."""
    monkeypatch.setattr(autograde, "grade_in_groups", graded_at_once)


@pytest.fixture
def course(quick: None, tmp_path: Path) -> Course:
    """Everybody has handed in; the gradebook knows nothing yet, and nothing is released."""
    course = small_course(tmp_path / "class" / "course")
    for student in STANDS:
        hand_in(course, student, REPOSITORY.notebook(LESSON).read_bytes())
    return course


def small_course(root: Path) -> Course:
    """A course with two lessons' source notebooks, and nothing else."""
    root.mkdir(parents=True)
    shutil.copy(REPOSITORY.root / "nbgrader_config.py", root)
    for lesson in (LESSON, OTHER):
        source = root / "solutions" / lesson / f"{lesson}.ipynb"
        source.parent.mkdir(parents=True)
        nbformat.write(small(lesson), source)
    return Course.open(root)


@cache
def small(lesson: str) -> NotebookNode:
    """A lesson's source notebook without its text: there is little to write, so that it can be written often."""
    notebook = nbformat.read(REPOSITORY.solution(lesson), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata and not only_read(cell)]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def only_read(cell: NotebookNode) -> bool:
    marks = cell.metadata.nbgrader
    return not (marks.grade or marks.solution)


def hand_in(course: Course, student: str, data: bytes) -> Path:
    path = course.submission(student, LESSON) / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    (path.parent / "timestamp.txt").write_text("2026-03-01 12:00:00.000000 UTC")
    return path


def grade(course: Course, *, resume: bool = False, seed: int = SEED, says: Console | None = None) -> Mapping[str, Any]:
    """`cellcheck autograde`, without its table."""
    with watching(says or Console(quiet=True), "grading") as tell:
        report = autograde_assignment(course, LESSON, Job(seed, LESSON), tell, resume=resume)
    assert resume or report.seed == seed
    return report.outcomes


def command(course: Course, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """`cellcheck autograde` in this process; its exit code."""
    monkeypatch.chdir(course.root)
    monkeypatch.setattr(sys, "argv", ["cellcheck", "autograde", LESSON, *options])
    monkeypatch.setattr("cellcheck.running.zygotes.warm_up", lambda *_, **__: None)
    monkeypatch.setattr("cellcheck.running.protection.check_walls", lambda lesson, required: None)
    try:
        cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextmanager
def heard(listener: Callable[..., object], *names: str) -> Iterator[None]:
    """While this lasts, such events of every database come to the listener."""
    for name in names:
        event.listen(Engine, name, listener)
    try:
        yield
    finally:
        for name in names:
            event.remove(Engine, name, listener)


def copy_of(course: Course, name: str) -> Course:
    root = course.root.with_name(name)
    shutil.copytree(course.root, root)
    return Course.open(root)


def marks(course: Course) -> dict[str, float]:
    """What `cellcheck export` and Formgrader show."""
    with course.gradebook() as gradebook:
        return {s.student_id: s.score for s in gradebook.assignment_submissions(LESSON)}


def content(where: Path | str) -> Mapping[str, list[str]]:
    """All that a gradebook says, row by row; ids, which are drawn at random, are named by what they stand for.

    It is in a course's folder, or at the address of a database.
    """
    names: dict[Any, str] = {}
    content = {}
    engine = create_engine(f"sqlite:///{where / 'gradebook.db'}" if isinstance(where, Path) else where)
    with closing(engine.connect()) as database:
        version = Table("alembic_version", MetaData(), Column("version_num"))
        tables = [*api.Base.metadata.sorted_tables, version]  # each after those that it refers to
        assert set(inspect(database).get_table_names()) == {table.name for table in tables}
        for table in tables:
            rows = []
            for row in map(dict, database.execute(select(table)).mappings()):
                drawn = re.fullmatch(r"[0-9a-f]{32}", str(row.get("id", "")))
                own = row.pop("id") if drawn and row["id"] not in names else None
                known = {key: names.get(value, value) for key, value in row.items()}
                text = json.dumps(known, sort_keys=True, default=str)
                rows.append(text)
                if own is not None:
                    names[own] = hashlib.sha256(f"{table.name} {text}".encode()).hexdigest()
            content[table.name] = sorted(rows)
    engine.dispose()
    return content


def files(root: Path) -> Mapping[str, bytes]:
    """What was written for people to read, by name."""
    paths = (path for folder in WRITTEN for path in (root / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


def pages(root: Path) -> Mapping[str, bytes]:
    """What was written, without the seconds that each cell took."""
    times = re.compile(rb"<h2>How long it took</h2>.*?</main>", re.DOTALL)
    return {name: times.sub(b"", data) for name, data in files(root).items()}


def assert_same(course: Course, other: Course) -> None:
    """Nobody could tell the two apart."""
    assert content(course.root) == content(other.root)
    assert files(course.root) == files(other.root)


def journal(root: Path) -> list[str]:
    """Who stands in the journal, line by line."""
    path = root / ".cellcheck" / f"{LESSON}.jsonl"
    lines = path.read_text("utf-8").splitlines()[1:] if path.exists() else []
    whole = [line for line in lines if line.endswith("}}")]  # a kill may cut one in half
    return [json.loads(line)["student"] for line in whole]

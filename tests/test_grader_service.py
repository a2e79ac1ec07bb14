"""TU Wien's grader-service with our executor: its own classes release, grade and give back; only git is played."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytest.importorskip("grader_service.autograding.local_grader", reason="grader-service is not installed")

from grader_service.api.models.assignment_settings import AssignmentSettings
from grader_service.autograding.git_manager import GitSubmissionManager
from grader_service.convert.converters.generate_assignment import GenerateAssignment
from grader_service.convert.converters.generate_feedback import GenerateFeedback
from grader_service.convert.gradebook.models import GradeBookModel
from grader_service.handlers.base_handler import RequestHandlerConfig
from grader_service.orm.assignment import Assignment
from grader_service.orm.base import Base, DeleteState, set_sqlite_pragma
from grader_service.orm.lecture import Lecture, LectureState
from grader_service.orm.submission import AutoStatus, Submission
from grader_service.orm.user import User
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.orm import Session
from traitlets.config import Config

from cellcheck.api import grade_notebook
from cellcheck.demo.learners import Learner
from cellcheck.grader_service import EngineExecutor
from cellcheck.repository import Repository

# It would hold for every database of this process, also for those of other tests, and needs Python 3.12.
event.remove(Engine, "connect", set_sqlite_pragma)
LESSON, OTHER, SEED = "02_tokenizer", "01_pytorch_basics", 5
REPOSITORY = Repository.find(Path(__file__).parent)
RELEASED = REPOSITORY.notebook(LESSON).read_text("utf-8")
SETTINGS = AssignmentSettings()


class Given(GitSubmissionManager):  # type: ignore[misc]
    """Instead of git: what was handed in, and what is pushed."""

    handed: bytes | None = b""
    pushed: dict[str, str] = {}  # noqa: RUF012
    file = ""

    def pull_submission(self, input_path: str) -> None:
        if Given.handed is not None:
            Path(input_path, Given.file).write_bytes(Given.handed)

    def push_results(self, files: list[str], output_path: str) -> None:
        Given.pushed = {path.name: path.read_text("utf-8") for path in Path(output_path).iterdir()}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An assignment's properties, as the service has them when it has released the lesson."""
    folder = tmp_path_factory.mktemp("released")
    source, out = REPOSITORY.root / "solutions" / LESSON, folder / "out"
    out.mkdir()
    GenerateAssignment(str(source), str(out), "*.ipynb", assignment_settings=SETTINGS).start()
    return (out / "gradebook.json").read_text("utf-8")


@contextmanager
def made(properties: str) -> Iterator[Any]:
    """A submission of an assignment, in a database of the service's."""
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        lecture = Lecture(name="A class", code="class", state=LectureState.active, deleted=DeleteState.active)
        assignment = Assignment(name="Lesson 2", lecture=lecture, deleted=DeleteState.active, properties=properties)
        assignment.settings = SETTINGS
        submission = Submission(
            date=datetime.now(UTC),
            assignment=assignment,
            user=User(name="ada", display_name="Ada"),
            commit_hash="0" * 40,
            edited=False,
            grading_score=0.0,
            score_scaling=1.0,
        )
        session.add_all([lecture, assignment, submission])
        session.commit()
        yield submission
    engine.dispose()


@pytest.fixture
def submission(released: str) -> Iterator[Any]:
    with made(released) as submission:
        yield submission


def graded(submission: Any, folder: Path, handed: bytes | None, file: str = f"{LESSON}.ipynb") -> EngineExecutor:
    """As the service's task does it."""
    config = Config()
    config.EngineExecutor.seed = SEED
    config.EngineExecutor.git_manager_class = Given
    config.RequestHandlerConfig.autograde_executor_class = "cellcheck.grader_service.EngineExecutor"
    executor_class = RequestHandlerConfig(config=config).autograde_executor_class
    assert executor_class is EngineExecutor
    Given.handed, Given.pushed, Given.file = handed, {}, file
    executor = executor_class(str(folder), submission, close_session=False, config=config, log=logging.getLogger("x"))
    executor.start()
    return executor


def test_marks_and_cards_are_where_the_service_looks_for_them(submission: Any, tmp_path: Path) -> None:
    learner = Learner("ada", LESSON, begins=4, edits={"decode": (" - {0}", "")})
    data = learner.hand_in(RELEASED).encode()
    executor = graded(submission, tmp_path, data)
    expected = grade_notebook(data, seed=SEED)
    assert 0 < expected.score < expected.max_score
    assert submission.auto_status == AutoStatus.AUTOMATICALLY_GRADED, executor.grading_logs
    assert submission.score == submission.grading_score == pytest.approx(expected.score)
    book = GradeBookModel.from_dict(json.loads(submission.properties.properties))
    notebook = book.notebooks[LESSON]
    assert (notebook.score, notebook.max_score) == (pytest.approx(expected.score), expected.max_score)
    marks = {name: grade.auto_score for name, grade in notebook.grades_dict.items()}
    # A text that is as it was released earns nothing; nobody needs to look at it.
    assert marks == {f"test_{one.symbol}": one.score for one in expected.verdicts} | {"explain": 0.0}
    assert not any(grade.needs_manual_grade for grade in notebook.grades)
    comments = {name: comment.auto_comment for name, comment in notebook.comments_dict.items()}
    assert comments["round_trips"] == "No response."
    assert comments["encode"] is None
    assert executor.grading_logs.startswith(f"{LESSON}: {expected.score:g} of {expected.max_score:g} points.")
    (wrong,) = [one for one in expected.verdicts if one.symbol == "decode"]
    assert " ".join(wrong.message.split()) in executor.grading_logs
    assert submission.logs.logs == executor.grading_logs

    autograded, page = tmp_path / "autograded", tmp_path / "feedback"
    for folder in (autograded, page):
        folder.mkdir()
    (autograded / f"{LESSON}.ipynb").write_text(Given.pushed[f"{LESSON}.ipynb"], "utf-8")
    (page / "gradebook.json").write_text(submission.properties.properties, "utf-8")
    GenerateFeedback(str(autograded), str(page), "*.ipynb", assignment_settings=SETTINGS).start()
    assert wrong.message.split(".")[0] in (page / f"{LESSON}.html").read_text("utf-8")


def test_a_mark_given_by_hand_stands(submission: Any, tmp_path: Path) -> None:
    data = Learner("ada", LESSON, begins=1).hand_in(RELEASED).encode()
    properties = json.loads(submission.assignment.properties)
    graded(submission, tmp_path, data)
    book = json.loads(submission.properties.properties)
    book["notebooks"][LESSON]["grades_dict"]["test_encode"]["manual_score"] = 1.5
    submission.assignment.properties = json.dumps(book)  # what start() writes for one that was graded by hand
    before = submission.score
    graded(submission, tmp_path, data)
    assert submission.score == pytest.approx(before + 1.5)
    grade = json.loads(submission.properties.properties)["notebooks"][LESSON]["grades_dict"]["test_encode"]
    assert grade["needs_manual_grade"]
    submission.assignment.properties = json.dumps(properties)


@pytest.mark.parametrize(
    ("handed", "sentence"),
    [
        (b"{", "notebook"),
        (REPOSITORY.notebook(OTHER).read_bytes(), f"This is a notebook of {OTHER}, not of {LESSON}."),
    ],
)
def test_what_can_not_be_graded_is_said(submission: Any, tmp_path: Path, handed: bytes, sentence: str) -> None:
    executor = graded(submission, tmp_path, handed)
    assert submission.auto_status == AutoStatus.GRADING_FAILED
    assert sentence in executor.grading_logs


def test_nothing_that_was_handed_in_is_nothing(submission: Any, tmp_path: Path) -> None:
    executor = graded(submission, tmp_path, None)
    assert submission.auto_status == AutoStatus.AUTOMATICALLY_GRADED, executor.grading_logs
    assert submission.score == 0.0
    book = GradeBookModel.from_dict(json.loads(submission.properties.properties))
    assert {grade.auto_score for grade in book.notebooks[LESSON].grades} == {0.0}


def test_a_plain_assignment_is_graded_by_its_own_tests(tmp_path: Path, released: str) -> None:
    """What isn't a lesson: the engine runs the instructor's tests behind its walls."""
    source, out = tmp_path / "source", tmp_path / "out"
    for folder in (source, out):
        folder.mkdir()
    answer = {"grade": False, "grade_id": "answer", "locked": False, "schema_version": 3, "solution": True}
    test = {"grade": True, "grade_id": "test", "locked": True, "points": 2, "schema_version": 3, "solution": False}
    metadata = [{"nbgrader": {**one, "cell_type": "code", "task": False}} for one in (answer, test)]
    code = "### BEGIN SOLUTION\ndouble = lambda x: 2 * x\n### END SOLUTION", "assert double(2) == 4"
    cells = [nbformat.v4.new_code_cell(text, metadata=about) for text, about in zip(code, metadata, strict=True)]
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    nbformat.write(notebook, source / "plain.ipynb")
    GenerateAssignment(str(source), str(out), "*.ipynb", assignment_settings=SETTINGS).start()
    properties = (out / "gradebook.json").read_text("utf-8")
    handed = nbformat.read(out / "plain.ipynb", 4)
    for double, score in (("double = lambda x: x + x", 2.0), ("double = lambda x: x", 0.0)):
        handed.cells[0].source = double
        with made(properties) as submission:
            executor = graded(submission, tmp_path / "service", nbformat.writes(handed).encode(), "plain.ipynb")
            assert submission.score == score, executor.grading_logs
            assert submission.auto_status == AutoStatus.AUTOMATICALLY_GRADED
    assert "test:" in executor.grading_logs


def test_an_assignment_of_another_version_says_so(submission: Any, tmp_path: Path) -> None:
    book = json.loads(submission.assignment.properties)
    del book["notebooks"][LESSON]["grade_cells_dict"]["test_encode"]
    submission.assignment.properties = json.dumps(book)
    executor = graded(submission, tmp_path, RELEASED.encode())
    assert submission.auto_status == AutoStatus.GRADING_FAILED
    assert "release the assignment again" in executor.grading_logs

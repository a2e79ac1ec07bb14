"""Whatever state a submission is in: its score, one plain sentence, and the rest of the batch goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from grader.batch import Failure, Job
from grader.demo.learners import doubled, stripped
from grader.demo.run import make_course
from grader.gradebook.autograde import autograde_assignment
from grader.gradebook.course import Course
from grader.repository import Repository
from grader.running.intake import MAX_BYTES
from grader.running.limits import Limits
from grader.running.result import Result
from grader.syllabus import load_lesson
from lessons.lesson_01.demo import HONEST, LESSON

SYMBOLS = [exercise.symbol for exercise in load_lesson(LESSON).exercises]
FULL = sum(exercise.points for exercise in load_lesson(LESSON).exercises)


def cell_of(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def points_edited(notebook: NotebookNode) -> str:
    cell_of(notebook, "test_pick").metadata.nbgrader.points = 100
    return json.dumps(notebook)


def marks_edited(notebook: NotebookNode) -> str:
    cell_of(notebook, "test_pick").metadata.nbgrader.grade = False
    cell_of(notebook, "test_mse_loss").metadata.nbgrader = {"grade_id": "test_mse_loss"}
    cell_of(notebook, "batched_dot").metadata.nbgrader.grade_id = 17
    return json.dumps(notebook)


def checks_edited(notebook: NotebookNode) -> str:
    cell_of(notebook, "test_pick").source = "1.0"
    notebook.cells.remove(cell_of(notebook, "test_mse_loss"))
    return json.dumps(notebook)


def retyped(notebook: NotebookNode) -> str:
    cell = cell_of(notebook, "pick")
    cell.cell_type = "markdown"
    return json.dumps(notebook)


def moved(notebook: NotebookNode) -> str:
    notebook.cells.append(notebook.cells.pop(notebook.cells.index(cell_of(notebook, "pick"))))
    return json.dumps(notebook)


def with_cell(source: str) -> Callable[[NotebookNode], str]:
    """Puts a cell in front of the answer to `pick`."""

    def accident(notebook: NotebookNode) -> str:
        at = notebook.cells.index(cell_of(notebook, "pick"))
        extra = {"cell_type": "code", "id": "extra", "metadata": {}, "source": source, "outputs": []}
        notebook.cells.insert(at, NotebookNode(extra, execution_count=None))
        return json.dumps(notebook)

    return accident


# Who, what happened, and words of the repair's sentence; each of them keeps full marks.
MENDED: dict[str, tuple[Callable[[NotebookNode], str], str]] = {
    "doubled": (doubled, "2 cells are called batched_dot"),
    "stripped": (stripped, "lost its cell metadata"),
    "points_edited": (points_edited, "points of pick"),
    "marks_edited": (marks_edited, "cell of batched_dot had lost its mark"),
    "checks_edited": (checks_edited, "check of pick had been changed"),
    "retyped": (retyped, "was no longer a code cell"),
    "moved": (moved, ""),
    "system_exit": (with_cell("raise SystemExit"), "SystemExit"),
    "kills": (with_cell("import os\nos._exit(1)"), "ended the Python process"),
    "loops": (with_cell("while True:\n    pass"), "ran longer than"),
    "warns": (with_cell("import sys, warnings\nwarnings.warn('old')\nprint('!', file=sys.stderr)"), ""),
}
# Who, what the file holds, and words of the sentence; nothing can be graded.
REFUSED: dict[str, tuple[bytes, str]] = {
    "broken_json": (b'{"cells": [', "not valid JSON"),
    "empty_file": (b"", "empty"),
    "no_cells": (b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "no cells"),
    "not_a_notebook": (b"[1, 2, 3]", "no cells"),
    "other_lesson": (
        Repository.find(Path(__file__).parent).notebook("02_tokenizer").read_bytes(),
        "This is a notebook of lesson 02_tokenizer",
    ),
    "other_course": (
        b'{"cells": [{"cell_type": "code", "source": "print(1)", "metadata": {}}], "metadata": {}}',
        "None of the exercises",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, dict[str, Result | Failure]]:
    """One batch with every kind of damage and two sound notebooks among them."""
    folder = tmp_path_factory.mktemp("damage")
    course, _ = make_course(Repository.find(Path(__file__).parent), folder / "demo", (LESSON,))
    course.ensure_assignment(LESSON)
    released = (course.root / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8")
    ada = HONEST[0]

    def hand_in(student: str, content: bytes | str, name: str = f"{LESSON}.ipynb") -> Path:
        path = course.submission(student, LESSON) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    for student in ("a_sound", "z_sound"):
        hand_in(student, ada.hand_in(released))
    for student, (accident, _) in MENDED.items():
        hand_in(student, accident(ada.fill_in(released)))
    for student, (content, _) in REFUSED.items():
        hand_in(student, content)
    hand_in("two_notebooks", ada.hand_in(released))
    hand_in("two_notebooks", b"{}", "notes.ipynb")
    hand_in("other_name", ada.hand_in(released), "final version (2).ipynb")
    os.truncate(hand_in("huge", b"{"), MAX_BYTES + 1)
    secret = folder / "secret.txt"
    secret.write_text("the teacher's secret")
    hand_in("link", b"").unlink()
    (course.submission("link", LESSON) / f"{LESSON}.ipynb").symlink_to(secret)
    hand_in("link_beside", ada.hand_in(released))
    (course.submission("link_beside", LESSON) / "data.csv").symlink_to(secret)
    limits = Limits(cell_seconds=4.0, probe_seconds=4.0)
    outcomes = autograde_assignment(course, LESSON, Job(3, LESSON, 2, limits), lambda news: None).outcomes
    return course, outcomes


def marks(course: Course, student: str) -> dict[str, float]:
    """What stands in nbgrader's gradebook."""
    with course.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(LESSON, LESSON, student)
        return {g.name.removeprefix("test_"): g.score for g in notebook.grades if g.name != "explain"}


Graded = tuple[Course, dict[str, Any]]


@pytest.mark.parametrize("student", ["a_sound", "z_sound"])
def test_the_rest_of_the_batch_goes_on(graded: Graded, student: str) -> None:
    course, outcomes = graded
    assert outcomes[student].score == FULL
    assert outcomes[student].repairs == ()
    assert sum(marks(course, student).values()) == FULL


@pytest.mark.parametrize("student", MENDED)
def test_what_can_be_mended_keeps_its_marks(graded: Graded, student: str) -> None:
    course, outcomes = graded
    words = MENDED[student][1]
    assert {v.symbol: v.status for v in outcomes[student].verdicts} == dict.fromkeys(SYMBOLS, "passed")
    assert words in " ".join(outcomes[student].repairs)
    assert marks(course, student) == {e.symbol: e.points for e in load_lesson(LESSON).exercises}
    page = course.feedback(student, LESSON).read_text("utf-8")
    assert ("What was repaired" in page) == bool(outcomes[student].repairs)


@pytest.mark.parametrize("student", REFUSED)
def test_what_cannot_be_graded_gets_one_sentence(graded: Graded, student: str) -> None:
    course, outcomes = graded
    message = outcomes[student].message
    assert REFUSED[student][1] in message
    assert "\n" not in message
    assert "could not be graded" in course.feedback(student, LESSON).read_text("utf-8")


def test_a_huge_file_is_refused_unread(graded: Graded) -> None:
    assert "MB" in graded[1]["huge"].message


def test_a_link_is_refused_and_its_target_stays_unread(graded: Graded) -> None:
    course, outcomes = graded
    assert "link" in outcomes["link"].message
    assert outcomes["link_beside"].score == FULL
    for step in (course.directory.autograded_directory, course.directory.feedback_directory):
        for path in (course.root / step).rglob("*"):
            assert not path.is_file() or b"the teacher's secret" not in path.read_bytes()


def test_two_notebooks_and_another_name(graded: Graded) -> None:
    course, outcomes = graded
    assert outcomes["two_notebooks"].score == FULL
    assert "notes.ipynb was left out" in outcomes["two_notebooks"].repairs[0]
    assert outcomes["other_name"].score == FULL
    assert "final version (2).ipynb" in outcomes["other_name"].repairs[0]
    assert sum(marks(course, "other_name").values()) == FULL

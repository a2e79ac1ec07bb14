"""Whatever state a submission is in: its score, one plain sentence, and the rest of the batch goes on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from cellcheck.batch import Failure, Job
from cellcheck.demo.learners import doubled, stripped
from cellcheck.demo.run import make_course
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.running.limits import Limits
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

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


# Who, what happened, and words of the repair's sentence; each of them keeps full marks.
MENDED: dict[str, tuple[Callable[[NotebookNode], str], str]] = {
    "doubled": (doubled, "2 cells are called batched_dot"),
    "stripped": (stripped, "lost its cell metadata"),
    "points_edited": (points_edited, "points of pick"),
    "marks_edited": (marks_edited, "cell of batched_dot had lost its mark"),
    "checks_edited": (checks_edited, "check of pick had been changed"),
}
# Who, what the file holds, and words of the sentence; nothing can be graded. More are in tests/running/test_intake.py.
REFUSED: dict[str, tuple[bytes, str]] = {
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


def test_two_notebooks_and_another_name(graded: Graded) -> None:
    course, outcomes = graded
    assert outcomes["two_notebooks"].score == FULL
    assert "notes.ipynb was left out" in outcomes["two_notebooks"].repairs[0]
    assert outcomes["other_name"].score == FULL
    assert "final version (2).ipynb" in outcomes["other_name"].repairs[0]
    assert sum(marks(course, "other_name").values()) == FULL

"""nbgrader's way and ours, side by side in one small class: the same marks, and pages that teach.

One course is made, released, handed in and collected with nbgrader's own exchange. A copy of it is graded by plain
`nbgrader autograde`, the original by `cellcheck autograde`; the original also holds submissions that are broken.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from typer.testing import CliRunner, Result

from cellcheck import cli
from cellcheck.demo.learners import Learner
from cellcheck.demo.run import exchange_step, hand_in, make_course
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson
from tests.warm import PATH, run
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

REPOSITORY = Repository.find(Path(__file__).parent)
SYMBOLS = [exercise.symbol for exercise in load_lesson(LESSON).exercises]


@dataclass(frozen=True)
class Explainer(Learner):
    """Answers the question in words as well."""

    def fill_in(self, released: str) -> NotebookNode:
        notebook = super().fill_in(released)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "explain":
                cell.source = "The targets' mean pleases a broken loss best."
        return notebook


# Beside the demo's six: one who explains, prints, warns, and whose code fails below a definition or before one.
GWEN = Explainer(
    "gwen",
    LESSON,
    types={
        "batched_dot": "def batched_dot(a, b):\n    return (a @ b.transpose(1, 2)).detach()  # half the points\n",
        "pick": "import sys, warnings\ndef pick(values, index):\n    print('hello')\n    warnings.warn('careful')\n"
        "    print('oh', file=sys.stderr)\n    return values.gather(1, index[:, None])[:, 0]",
        "mse_loss": "def mse_loss(params, batch):\n    inputs, targets = batch\n"
        "    return ((mlp_predict(params, inputs) - targets) ** 2).mean()\nmse_loss(1, 2)",
        "sgd_step": "def sgd_step(params, gradients, learning_rate:\n    return params",
        "l2_penalty": "raise ValueError('not yet')",
        "MLP": "class MLP(nn.Module):\n    pass",
        "train": "def train(*args):\n    raise SystemExit",
    },
)
CLASS = (*HONEST, GWEN)
NAMES = [learner.name for learner in CLASS]
BROKEN = {"jan": "This is not a notebook: it is not valid JSON", "ute": "The file is empty"}


@dataclass(frozen=True)
class Class:
    """The course, its exchange, and what came of both ways of grading."""

    course: Course
    exchange: Path
    theirs: Course
    ours: Result


def nbgrader(folder: Path, *arguments: str) -> str:
    """Runs plain nbgrader as an instructor would; returns what it says."""
    done = run(["nbgrader", *arguments], folder, PATH | {"HOME": str(folder.parent), "OMP_NUM_THREADS": "1"})
    assert done.code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Everything is done once; the tests only look."""
    folder = tmp_path_factory.mktemp("school")
    course, exchange = make_course(REPOSITORY, folder / "ours", (LESSON,))
    course.ensure_assignment(LESSON)
    exchange_step(course, "ReleaseAssignment", LESSON)
    for learner in CLASS:
        hand_in(course, exchange, learner)
    exchange_step(course, "Collect", LESSON)

    theirs = folder / "theirs" / "course"
    shutil.copytree(course.root, theirs)
    nbgrader(theirs, "autograde", LESSON)

    for name, content in zip(BROKEN, ("{not a notebook", ""), strict=True):
        path = course.submission(name, LESSON) / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course.root)
        ours = CliRunner().invoke(cli.app, ["autograde", LESSON, "--seed", "5"])
    return Class(course, exchange, Course.open(theirs), ours)


def marks(course: Course, student: str) -> dict[str, Any]:
    """All that the gradebook says about a submission, cell by cell."""
    with course.gradebook() as gradebook:
        (notebook,) = gradebook.find_submission(LESSON, student).notebooks
        return {
            grade.name: (grade.auto_score, grade.manual_score, grade.score, grade.max_score, grade.needs_manual_grade)
            for grade in notebook.grades
        }


@pytest.mark.parametrize("student", NAMES)
def test_marks_are_equal_exercise_by_exercise(school: Class, student: str) -> None:
    ours, theirs = marks(school.course, student), marks(school.theirs, student)
    assert list(ours) == list(theirs)
    assert set(ours) == {f"test_{symbol}" for symbol in SYMBOLS} | {"explain"}
    assert ours == theirs


def test_the_class_is_not_all_alike(school: Class) -> None:
    """Equal marks prove something only where marks differ."""
    with school.course.gradebook() as gradebook:
        scores = {name: gradebook.find_submission(LESSON, name).score for name in NAMES}
    full = sum(exercise.points for exercise in load_lesson(LESSON).exercises)
    assert scores["ada"] == scores["bela"] == full
    assert scores["fay"] == 0
    assert all(0 < scores[name] < full for name in ("chidi", "dana", "eli", "gwen"))
    half = marks(school.course, "gwen")["test_batched_dot"]
    assert 0 < half[0] < half[3]
    assert marks(school.course, "gwen")["test_mse_loss"][0] == load_lesson(LESSON)["mse_loss"].points


def test_cells_graded_by_hand_wait_for_a_hand(school: Class) -> None:
    for course in (school.course, school.theirs):
        assert marks(course, "gwen")["explain"][-1] is True  # there is something to read
        assert marks(course, "ada")["explain"][-1] is False  # nothing was written
        with course.gradebook() as gradebook:
            assert gradebook.find_submission(LESSON, "gwen").needs_manual_grade
            assert not gradebook.find_submission(LESSON, "ada").needs_manual_grade


@pytest.mark.parametrize("student", ["ada", "gwen", "fay"])
def test_comments_are_equal(school: Class, student: str) -> None:
    def comments(course: Course) -> dict[str, str | None]:
        with course.gradebook() as gradebook:
            (notebook,) = gradebook.find_submission(LESSON, student).notebooks
            return {comment.name: comment.auto_comment for comment in notebook.comments}

    assert comments(school.course) == comments(school.theirs)
    assert ("No response." in comments(school.course).values()) == (student != "gwen")


def autograded(course: Course, student: str) -> NotebookNode:
    return nbformat.read(course.root / "autograded" / student / LESSON / f"{LESSON}.ipynb", as_version=4)


@pytest.mark.parametrize("student", NAMES)
def test_the_autograded_notebook_opens_and_holds_the_cards(school: Class, student: str) -> None:
    notebook = autograded(school.course, student)
    nbformat.validate(notebook)
    outputs_of = {
        cell.metadata.nbgrader.grade_id: cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }
    scores = marks(school.course, student)
    assert list(outputs_of) == [f"test_{symbol}" for symbol in SYMBOLS]
    for grade_id, outputs in outputs_of.items():
        assert 'role="group"' in outputs[0].data["text/html"]
        results = [o.data["text/plain"] for o in outputs if o.output_type == "execute_result"]
        assert results == ([repr(scores[grade_id][0])] if scores[grade_id][0] else [])
    sources = [cell.source for cell in notebook.cells]
    assert sources == [cell.source for cell in autograded(school.theirs, student).cells]


# --- pages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("student", NAMES)
def test_each_learner_has_a_page_of_their_own(school: Class, student: str) -> None:
    page = school.course.feedback(student, LESSON).read_text("utf-8")
    assert f"Feedback for {student}" in page
    notebook = json.dumps(autograded(school.course, student))
    for other in {*NAMES, *BROKEN} - {student}:
        assert not re.search(rf"\b{other}\b", page + notebook)
    for symbol in SYMBOLS:
        assert f'id="{symbol}"' in page
        assert f'href="#{symbol}"' in page


@pytest.mark.parametrize("student", NAMES)
def test_a_page_is_complete_in_itself(school: Class, student: str) -> None:
    page = school.course.feedback(student, LESSON).read_text("utf-8")
    assert not re.search(r"<(script|link|img|iframe|object|embed|base)\b", page, re.IGNORECASE)
    assert not re.search(r"url\(|@import|\bsrc=", page)
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', page))
    assert str(school.course.root) not in page


def test_a_page_teaches(school: Class) -> None:
    page = school.course.feedback("chidi", LESSON).read_text("utf-8")
    assert "To look at again" in page
    assert "A good one to look at next: batched_dot." in page
    assert re.search(r"Your \d+ cells ran for (less than )?\d+\.\d s in all", page)
    assert "All 13 exercises are right." in school.course.feedback("ada", LESSON).read_text("utf-8")
    assert "None of the exercises has been started." in school.course.feedback("fay", LESSON).read_text("utf-8")


# --- the class ----------------------------------------------------------------------------------------------------


def test_the_report_says_who_made_which_mistake(school: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(school.course.root)
    monkeypatch.setattr(cli.grading.out, "width", 400)
    report = CliRunner().invoke(cli.app, ["report", "01"])
    assert report.exit_code == 0
    (line,) = [line for line in report.output.splitlines() if line.startswith("mse_loss ") and "chidi" in line]
    mistake = next(m for m in load_lesson(LESSON)["mse_loss"].mistakes if m.name == "sum_not_mean")
    assert re.split(r" {2,}", line.strip()) == ["mse_loss", "sum not mean", "1", "chidi", mistake.advice]
    assert not re.search(r"\bada\b", report.output)  # who has all right is in no line


def test_a_report_before_any_grading_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(REPOSITORY.root / "nbgrader_config.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    report = CliRunner().invoke(cli.app, ["report", LESSON])
    assert isinstance(report.exception, GraderError)
    assert "run cellcheck autograde" in str(report.exception)


# --- broken submissions -----------------------------------------------------------------------------------------


def test_a_broken_submission_costs_itself_only(school: Class) -> None:
    assert school.ours.exit_code == 1, school.ours.output
    for name, sentence in BROKEN.items():
        assert sentence in " ".join(school.ours.output.split())
        page = school.course.feedback(name, LESSON).read_text("utf-8")
        assert "This could not be graded" in page
        assert sentence in page
        assert not (school.course.root / "autograded" / name / LESSON / f"{LESSON}.ipynb").exists()
    for name in NAMES:
        assert re.search(rf"^{name} +\d", school.ours.output, re.MULTILINE)


# --- nbgrader's other commands ----------------------------------------------------------------------------------


def test_generate_feedback_runs_on_what_we_graded(school: Class, tmp_path: Path) -> None:
    copy = tmp_path / "course"
    shutil.copytree(school.course.root, copy, ignore=shutil.ignore_patterns("feedback", "submitted"))
    nbgrader(copy, "generate_feedback", LESSON, "--student=chidi")
    page = (copy / "feedback" / "chidi" / LESSON / f"{LESSON}.html").read_text("utf-8")
    score = sum(mark[2] for mark in marks(school.course, "chidi").values())
    assert f"(Score: {score} / " in page
    assert page.count('role="group"') >= len(SYMBOLS)


def test_release_feedback_hands_out_our_pages(school: Class, tmp_path: Path) -> None:
    copy = tmp_path / "course"
    shutil.copytree(school.course.root, copy, ignore=shutil.ignore_patterns("submitted", "autograded"))
    for name in BROKEN:  # put there by hand, so nbgrader has no secret of theirs
        shutil.rmtree(copy / "feedback" / name)
    shutil.copytree(school.exchange, tmp_path / "exchange")
    nbgrader(copy, "release_feedback", LESSON, f"--Exchange.root={tmp_path / 'exchange'}")
    released = {path.read_text("utf-8") for path in (tmp_path / "exchange").rglob("feedback/*.html")}
    assert (copy / "feedback" / "chidi" / LESSON / f"{LESSON}.html").read_text("utf-8") in released
    assert len(released) == len(NAMES)


def test_list_fetch_submit_and_collect(school: Class, tmp_path: Path) -> None:
    options = [f"--Exchange.root={school.exchange}", f"--Exchange.cache={tmp_path / 'cache'}"]
    listing = nbgrader(school.course.root, "list", *options)
    assert f"{school.course.directory.course_id} {LESSON}" in listing
    # A learner works in a folder of their own that has nothing but the configuration.
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(REPOSITORY.root / "nbgrader_config.py", home)
    nbgrader(home, "fetch_assignment", LESSON, *options)
    fetched = home / LESSON / f"{LESSON}.ipynb"
    assert fetched.read_bytes() == REPOSITORY.notebook(LESSON).read_bytes()
    nbgrader(home, "submit", LESSON, *options)
    copy = tmp_path / "teacher" / "course"
    shutil.copytree(school.course.root, copy, ignore=shutil.ignore_patterns("submitted", "autograded", "feedback"))
    nbgrader(copy, "collect", LESSON, *options)
    collected = {path.parent.parent.name for path in (copy / "submitted").glob(f"*/{LESSON}/{LESSON}.ipynb")}
    assert set(NAMES) < collected
    assert len(collected) == len(NAMES) + 1  # and whoever runs the tests


def test_a_second_run_gives_the_same_marks_and_keeps_a_hand_given_one(school: Class, tmp_path: Path) -> None:
    copy = tmp_path / "course"
    shutil.copytree(school.course.root, copy, symlinks=True)
    for folder in (copy / "submitted").glob("[!g]*"):
        shutil.rmtree(folder)
    course = Course.open(copy)
    with Gradebook(course.directory.db_url, course.directory.course_id) as gradebook:
        grade = gradebook.find_grade("explain", LESSON, LESSON, "gwen")
        grade.manual_score = 0.0
        grade.extra_credit = 0.5
        gradebook.db.commit()
    before = marks(course, "gwen")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copy)
        again = CliRunner().invoke(cli.app, ["autograde", LESSON, "--seed", "6"])
    assert again.exit_code == 0, again.output
    after = marks(course, "gwen")
    assert {name: mark[:4] for name, mark in after.items()} == {name: mark[:4] for name, mark in before.items()}
    with Gradebook(course.directory.db_url, course.directory.course_id) as gradebook:
        assert gradebook.find_grade("explain", LESSON, LESSON, "gwen").extra_credit == 0.5

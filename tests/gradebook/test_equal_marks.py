"""Plain nbgrader and our engine give the same marks, exercise by exercise, in every lesson.

Each lesson has two learners: one who has all right, and one who has a slip in every answer, made by the audit's
mutation. Such an answer may fail for some shapes and not for others, so both look at the cases that the notebook's own
check draws.
"""

import contextlib
import inspect
import shutil
from collections.abc import Mapping
from pathlib import Path

import nbformat
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.audit.mutants import mutants
from cellcheck.checking.judge import PUBLIC_SEED
from cellcheck.demo.learners import Learner
from cellcheck.demo.run import make_course
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson
from tests.nightly import by_day
from tests.warm import run

REPOSITORY = Repository.find(Path(__file__).parent)
Scores = dict[str, dict[str, float]]


def careless(lesson: str) -> Learner:
    """Somebody with one small slip in every answer, another kind in each."""
    slips = {}
    lesson_checks = load_lesson(lesson)
    for number, exercise in enumerate(lesson_checks.exercises):
        sources = mutants(inspect.getsource(exercise.references[0]))
        faults = [mutant for mutant in sources if mutant.change not in exercise.equivalents]
        slips[exercise.symbol] = faults[(7 * number + 3) % len(faults)].source
    return Learner("careless", lesson, types=slips)


def by_nbgrader(root: Path, lesson: str) -> None:
    done = run(["nbgrader", "autograde", lesson], root, {"OMP_NUM_THREADS": "1", "HOME": str(root.parent)})
    assert done.code == 0, done.output


def by_grader(root: Path, lesson: str) -> None:
    with contextlib.chdir(root):
        done = CliRunner().invoke(cli.app, ["autograde", lesson, "--seed", str(PUBLIC_SEED)])
    assert done.exit_code == 0, done.output


def scores(root: Path, lesson: str) -> Scores:
    """Each learner's score in each test, from the gradebook."""
    with Course.open(root).gradebook() as gradebook:
        return {
            submission.student_id: {g.name: g.score for notebook in submission.notebooks for g in notebook.grades}
            for submission in gradebook.assignment_submissions(lesson)
        }


def both_ways(tmp_path: Path, lesson: str, handed_in: Mapping[str, str]) -> tuple[Course, Scores, Scores]:
    """The course that we graded, and each learner's score in each test: ours, and nbgrader's."""
    course, _ = make_course(REPOSITORY, tmp_path, (lesson,))
    for learner, notebook in handed_in.items():
        path = course.submission(learner, lesson) / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(notebook, "utf-8")
    course.ensure_assignment(lesson)
    copy = tmp_path / "copy"
    shutil.copytree(course.root, copy)
    by_nbgrader(copy, lesson)
    by_grader(course.root, lesson)
    return course, scores(course.root, lesson), scores(copy, lesson)


def points_of(lesson: str) -> dict[str, float]:
    return {f"test_{exercise.symbol}": exercise.points for exercise in load_lesson(lesson).exercises}


@by_day("05")
def test_both_give_the_same_marks(lesson: str, tmp_path: Path) -> None:
    released = REPOSITORY.notebook(lesson).read_text("utf-8")
    handed_in = {learner.name: learner.hand_in(released) for learner in (Learner("right", lesson), careless(lesson))}
    _, ours, theirs = both_ways(tmp_path, lesson, handed_in)
    for learner in handed_in:
        assert ours[learner] == theirs[learner]
    assert points_of(lesson).items() <= ours["right"].items()
    assert all(ours["careless"][test] < most for test, most in points_of(lesson).items())


SETUPS = {
    "drive": "from google.colab import drive\ndrive.mount('/content/drive')\n{setup}",
    "pip": "!pip install -q torch\n%cd /content\n{setup}",
    "emptied": "",
    "rewritten": 'import cellcheck\ncheck = cellcheck.checks("{lesson}")\nimport torch as t',
}


def test_a_locked_cell_runs_as_it_was_released(tmp_path: Path) -> None:
    """Who mounts a drive or installs a package in the set-up cell keeps all points, here as with nbgrader."""
    (lesson,) = REPOSITORY.called("05")
    released = REPOSITORY.notebook(lesson).read_text("utf-8")
    handed_in = {}
    for name, text in SETUPS.items():
        notebook = Learner(name, lesson).fill_in(released)
        (cell,) = (c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "setup")
        cell.source = text.format(setup=cell.source, lesson=lesson)
        handed_in[name] = nbformat.writes(notebook)
    course, ours, theirs = both_ways(tmp_path, lesson, handed_in)
    for name in SETUPS:
        assert ours[name] == theirs[name]
        assert points_of(lesson).items() <= ours[name].items()
        page = course.feedback(name, lesson).read_text("utf-8")
        assert "The cell setup is locked and had been changed. It ran as released; what was added to it" in page
        assert "left out" not in page

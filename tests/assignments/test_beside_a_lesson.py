"""Plain notebooks beside a lesson's, in one source folder and in one gradebook: each is graded in its own way."""

import csv
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.demo.learners import Learner
from cellcheck.gradebook.course import Course
from tests.assignments import sources
from tests.assignments.sources import answer, hidden
from tests.assignments.sources import test as check_cell
from tests.gradebook.small_class import EXERCISES, LESSON, REPOSITORY, small_course

EXTRA = [
    answer("longest", "def longest(rows):\n    raise NotImplementedError()"),
    check_cell("test_longest", 2, hidden("assert longest([[1]]) == 1", "assert longest([[1], [2, 3]]) == 2")),
    check_cell("test_none", 1, "0.5 if longest([]) == 0 else 0"),
]
RIGHT = "def longest(rows):\n    return max((len(row) for row in rows), default=0)"
WRONG = "def longest(rows):\n    return 1"
POINTS = [exercise.points for exercise in EXERCISES]
MOST = sum(POINTS) + 3


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Three learners: both notebooks, only the lesson's, and both with a wrong answer in the plain one."""
    course = small_course(tmp_path_factory.mktemp("beside") / "course")
    sources.add(course.root, LESSON, {"extra": EXTRA}, source="solutions")
    sources.add(course.root, "intro", {"variables": sources.VARIABLES}, source="solutions")
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    for who, longest in {"ada": RIGHT, "bob": None, "cy": WRONG}.items():
        folder = course.submission(who, LESSON)
        folder.mkdir(parents=True)
        begun = len(EXERCISES) if who == "ada" else 1
        (folder / f"{LESSON}.ipynb").write_text(Learner(who, LESSON, begins=begun).hand_in(released), "utf-8")
        if longest is not None:
            (folder / "extra.ipynb").write_bytes(sources.work(EXTRA, {"longest": longest}))
    folder = course.submission("ada", "intro")
    folder.mkdir(parents=True)
    (folder / "variables.ipynb").write_bytes(sources.work(sources.VARIABLES, {"honour": "honest = True"}))
    return course


def command(course: Course, *arguments: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course.root)
        done = CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    return done.stdout


def marks(course: Course, name: str) -> dict[str, float]:
    rows = csv.DictReader(io.StringIO(command(course, "export", name)))
    return {row["student"]: float(row["mark"]) for row in rows if row["mark"]}


def page(course: Course, student: str, notebook: str = LESSON) -> str:
    return course.feedback(student, LESSON, notebook).read_text("utf-8")


def test_each_is_graded_in_its_own_way(course: Course) -> None:
    output = command(course, "autograde", LESSON, "--seed", "7")
    wanted = {"ada": sum(POINTS) + 2.5, "bob": POINTS[0], "cy": POINTS[0]}
    assert marks(course, LESSON) == wanted
    rows = re.findall(r"^(\w+) +([\d.]+) / ([\d.]+) ", output, re.MULTILINE)
    assert {who: (float(score), float(most)) for who, score, most in rows} == {
        who: (score, MOST) for who, score in wanted.items()
    }
    (line,) = [line for line in output.splitlines() if "forged" in line]
    assert "extra/test_longest" in line
    assert EXERCISES[0].symbol not in line
    assert "hidden cases drawn from seed 7" in output
    # one page, in the place of each notebook's
    assert page(course, "cy") == page(course, "cy", "extra")
    assert "A hidden test fails." in page(course, "cy")
    assert EXERCISES[0].symbol in page(course, "cy", "extra")
    # the lesson's notebook isn't taken for the one that is missing
    assert "There is no extra.ipynb in what was handed in." in page(course, "bob")
    assert not (course.autograded("bob", LESSON) / "extra.ipynb").exists()
    command(course, "autograde", LESSON, "--resume")
    assert marks(course, LESSON) == wanted


def test_an_assignment_of_ones_own_in_the_same_source_and_gradebook(course: Course) -> None:
    before = {path: path.read_bytes() for path in Path(course.root, "feedback").rglob("*.html")}
    output = command(course, "autograde", "intro")
    assert re.search(r"^ada +0\.25 / 8 ", output, re.MULTILINE)
    assert marks(course, "intro") == {"ada": 0.25}
    assert {path: path.read_bytes() for path in before} == before

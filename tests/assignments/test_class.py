"""A class with an assignment of several notebooks: collected, one missing, killed and resumed; and from Python."""

import json
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from typer.testing import CliRunner

import cellcheck
from cellcheck import cli
from cellcheck.batch import Job
from cellcheck.gradebook import autograde
from cellcheck.gradebook.autograde import autograde_assignment, plain_limits
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.report import Tell
from cellcheck.running.result import Failure, Result
from tests.assignments import sources
from tests.assignments.sources import answer, hand_in
from tests.assignments.sources import test as check_cell
from tests.gradebook.test_resume import states
from tests.nightly import later

NOTEBOOKS = {
    "one": [answer("f", "def f():\n    raise NotImplementedError()"), check_cell("test_f", 2, "assert f() == 1")],
    "two": [
        answer("g", "def g():\n    raise NotImplementedError()"),
        check_cell("test_g", 3, "from helpers import three\n1.5 if g() == three() else 0"),
    ],
}
FILES = {"helpers.py": b"def three():\n    return 3\n"}
RIGHT = {("one", "f"): "def f(): return 1", ("two", "g"): "def g(): return 3"}
HALF = {("one", "f"): "def f(): return 1", ("two", "g"): "def g(): return 4"}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with an assignment that nobody has handed in."""
    root = tmp_path_factory.mktemp("class") / "released"
    root.mkdir()
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(root, "pair", NOTEBOOKS, FILES)
    course = Course.open(root)
    course.ensure_assignment("pair", plain=True)
    return course


@pytest.fixture
def course(released: Course, tmp_path: Path) -> Iterator[Course]:
    """Four have handed in: all, half, only the second notebook, and a text."""
    root = tmp_path / "class" / "course"
    shutil.copytree(released.root, root)
    hand_in(root, "pair", "ada", RIGHT)
    hand_in(root, "pair", "bob", HALF)
    (hand_in(root, "pair", "cy", RIGHT) / "one.ipynb").unlink()
    for path in (folder := hand_in(root, "pair", "dan", {})).glob("*.ipynb"):
        path.unlink()
    (folder / "one.ipynb").write_text("Dear teacher,")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        yield Course.open(root)


def grade(course: Course, *, resume: bool = False, tell: Tell = lambda news: None) -> Mapping[str, Result | Failure]:
    job = Job(0, "pair", limits=plain_limits(course, "pair"))
    return autograde_assignment(course, "pair", job, tell, plain=True, resume=resume).outcomes


def marks(course: Course) -> dict[str, float]:
    with course.gradebook() as book:
        return {s.student_id: float(s.score) for s in book.assignment_submissions("pair")}


def written(course: Course) -> dict[str, str]:
    """What a run leaves for people; times differ."""
    folders = [course.root / name for name in ("autograded", "feedback")]
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(p.relative_to(course.root)): re.sub(r"\d+\.\d+ s", "", p.read_text("utf-8")) for p in files}


def test_a_missing_notebook_costs_itself_only(course: Course) -> None:
    outcomes = grade(course)
    assert marks(course) == {"ada": 3.5, "bob": 2.0, "cy": 1.5}
    missing, unreadable = outcomes["cy"], outcomes["dan"]
    assert isinstance(missing, Result)
    assert missing.max_score == 5
    assert "There is no one.ipynb in what was handed in." in " ".join(missing.repairs)
    assert isinstance(unreadable, Failure)
    assert "not a notebook" in unreadable.message
    notes: list[str] = []
    again = grade(course, resume=True, tell=lambda news: notes.extend(news.notes))
    assert notes[0] == "3 of 4 are graded already."
    assert {name: type(outcome) for name, outcome in again.items()} == {
        n: type(outcome) for n, outcome in outcomes.items()
    }


@later
def test_a_run_that_was_killed_at_any_step_ends_as_one_that_was_not(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight_root = course.root.with_name("straight")
    shutil.copytree(course.root, straight_root)
    straight = Course.open(straight_root)
    outcomes = grade(straight)

    def at_once(paths: Sequence[Path], *_: Any) -> Generator[list[tuple[Path, Result | Failure]]]:
        """In place of `grade_in_groups`, whose threads would take steps of their own."""
        yield [(path, outcomes[path.parent.name]) for path in paths]

    monkeypatch.setattr(autograde, "grade_in_groups", at_once)
    killed = states(course, lambda: grade(course) and None)
    assert len(killed) > 30
    for left in killed[7 :: len(killed) // 4]:
        grade(left, resume=True)
        assert marks(left) == marks(straight)
        assert written(left) == written(straight)
    again = grade(course, resume=True)
    assert {name for name, outcome in again.items() if isinstance(outcome, Result)} == {"ada", "bob", "cy"}


def test_from_python(course: Course) -> None:
    """A folder, a file, its bytes; and what can't be graded costs itself only."""
    folder = course.submission("bob", "pair")
    both = cellcheck.grade_notebook(folder, lesson="pair", course=course.root)
    assert [(t.title, t.score, t.max_score) for t in both.own_tests] == [("one/test_f", 2, 2), ("two/test_g", 0, 3)]
    alone = cellcheck.grade_notebook((folder / "two.ipynb").read_bytes(), lesson="pair", course=course.root)
    assert [(test.title, test.score) for test in alone.own_tests] == [("two/test_g", 0)]
    paths = [course.submission(who, "pair") for who in ("ada", "cy", "dan")]
    outcomes = {
        Path(done.notebook): done for done in cellcheck.grade_notebooks(paths, lesson="pair", course=course.root)
    }
    scores = [done.score if isinstance(done, Result) else None for done in map(outcomes.__getitem__, paths)]
    assert scores == [3.5, 1.5, None]
    with pytest.raises(cellcheck.GraderError, match="no notebooks of an assignment 'other'"):
        cellcheck.grade_notebook(folder, lesson="other", course=course.root)
    with pytest.raises(cellcheck.GraderError, match="which assignment"):
        cellcheck.grade_notebook(folder, course=course.root)


def test_collect_puts_the_notebooks_of_one_learner_together(course: Course, tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    for who, names in {"eve": {"one": "one (1)", "two": "my two"}, "flo": {"two": "two"}}.items():
        (downloads / who).mkdir(parents=True)
        for title, name in names.items():
            shutil.copy(course.submission("ada", "pair") / f"{title}.ipynb", downloads / who / f"{name}.ipynb")
    shutil.copytree(course.root / "release" / "pair", downloads / "gil")
    (downloads / "eve" / "notes.txt").write_text("mine")
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    nbformat.write(other, downloads / "flo" / "scratch.ipynb")
    done = CliRunner().invoke(cli.app, ["collect", str(downloads), "--lesson", "pair"], env={"COLUMNS": "200"})
    assert done.exit_code == 1, done.output
    assert "This isn't one of the notebooks of pair: one, two." in done.output
    there = {str(p.relative_to(course.root / "submitted")) for p in (course.root / "submitted").rglob("*.*")}
    assert there >= {"eve/pair/one.ipynb", "eve/pair/two.ipynb", "eve/pair/notes.txt", "flo/pair/two.ipynb"}
    assert not {name for name in there if "scratch" in name or "(1)" in name}
    again = CliRunner().invoke(cli.app, ["collect", str(downloads / "eve"), "--lesson", "pair"])
    assert "already there" in again.output or again.exit_code == 1
    # what is blank does not replace work
    blank = tmp_path / "blank" / "eve"
    shutil.copytree(course.root / "release" / "pair", blank)
    done = CliRunner().invoke(cli.app, ["collect", str(blank.parent), "--lesson", "pair"])
    assert "still blank" in done.output
    assert json.loads((course.root / "submitted" / "eve" / "pair" / "one.ipynb").read_text())["cells"][0]["source"]
    assert marks(course) == {}
    assert isinstance(grade(course)["eve"], Result)
    assert marks(course)["eve"] == 3.5

"""What an instructor has set in nbgrader, and put beside the notebooks, counts here too, or is named."""

import shutil
from pathlib import Path

import pytest
from nbformat import NotebookNode, v4
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from cellcheck.running.grade import grade_submission
from tests.assignments import sources
from tests.assignments.sources import answer, assignment, hand_in, plain, work
from tests.assignments.sources import test as check_cell

RIGHT = {("one", "double"): "def double(x): return 2 * x"}
WRONG = {("one", "double"): "def double(x): return x"}
SECRET = "secret_number = 31415"


def course_with(root: Path, settings: str = "", name: str = "hw") -> Path:
    """A course with one assignment, whose test has a hidden part; two have handed in."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "nbgrader_config.py").write_text(sources.CONFIG + settings)
    begins, ends = ("VERSTECKT", "ENDE") if "VERSTECKT" in settings else ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
    test = f"assert double(0) == 0\n### {begins}\n{SECRET}\nassert double(2) == 4, secret_number\n### {ends}"
    cells = [answer("double", "def double(x): raise NotImplementedError()"), check_cell("test_double", 2, test)]
    sources.add(root, name, {"one": cells})
    Course.open(root).ensure_assignment(name, plain=True)
    hand_in(root, name, "ada", RIGHT)
    hand_in(root, name, "bob", WRONG)
    return root


def autograde(root: Path, name: str = "hw") -> tuple[int, str]:
    """What `cellcheck autograde` ends with, and says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        done = CliRunner().invoke(cli.app, ["autograde", name, "--seed", "1"])
    if isinstance(done.exception, GraderError):
        return 2, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


GERMAN = 'c.ClearHiddenTests.begin_test_delimeter = "VERSTECKT"\nc.ClearHiddenTests.end_test_delimeter = "ENDE"\n'


@pytest.mark.parametrize("settings", ["", GERMAN], ids=["nbgrader's own", "a course's own"])
def test_hidden_tests_stay_hidden(settings: str, tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", settings)
    code, said = autograde(root)
    assert code == 0, said
    page = (root / "feedback" / "bob" / "hw" / "one.html").read_text("utf-8")
    assert "A hidden test fails" in page
    assert "secret_number" not in page + said


def test_a_plugin_in_the_courses_folder_is_found(tmp_path: Path) -> None:
    root = tmp_path / "course"
    root.mkdir()
    (root / "rule_of_this_course.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Half(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return score / 2\n"
    )
    course_with(root, "c.AssignLatePenalties.plugin_class = 'rule_of_this_course.Half'\n")
    code, said = autograde(root)
    assert code == 0, said


@pytest.mark.parametrize(
    ("settings", "name", "sentence"),
    [
        ("c.AssignLatePenalties.plugin_class = 'no_such_rule.Half'\n", "hw", "the plugin for late work"),
        (
            "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'\n",
            "hw",
            "c.CourseDirectory.directory_structure",
        ),
        ("", "lab+1", "should not contain the following characters: +"),
    ],
)
def test_what_can_not_be_taken_is_refused_in_a_sentence(
    settings: str, name: str, sentence: str, tmp_path: Path
) -> None:
    root = course_with(tmp_path / "course")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(settings)
    if name != "hw":
        for step in ("source", "submitted/ada"):
            shutil.copytree(root / step / "hw", root / step / name)
    code, said = autograde(root, name)
    assert code == 2
    assert sentence in said
    assert said.strip().endswith(".")


def test_settings_that_change_nothing_are_named(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", "c.Execute.kernel_name = 'other'\nc.Execute.timeout = 20\n")
    code, said = autograde(root)
    assert code == 0
    assert "settings that change nothing here, see docs/assignments.md: c.Execute.kernel_name." in said
    assert "c.Execute.timeout" not in said


def test_whom_a_course_excludes_is_not_graded(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", "c.CourseDirectory.student_id_exclude = 'bob, eve'\n")
    assert Course.open(root).handed_in("hw") == ["ada"]


def test_data_that_are_links_are_there(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "more").mkdir(parents=True)
    (shared / "numbers.csv").write_text("4")
    (shared / "more" / "five.csv").write_text("5")
    root = tmp_path / "course"
    source = root / "source" / "hw"
    source.mkdir(parents=True)
    (source / "numbers.csv").symlink_to(shared / "numbers.csv")
    (source / "more").symlink_to(shared / "more")
    (shared / "more" / "round").symlink_to(shared)  # back to where it came from
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    reads = "assert open('numbers.csv').read() + open('more/five.csv').read() == str(n)"
    sources.add(root, "hw", {"one": [answer("n", "n = None"), check_cell("test_n", 1, reads)]})
    Course.open(root).ensure_assignment("hw", plain=True)
    hand_in(root, "hw", "ada", {("one", "n"): "n = 45"})
    code, said = autograde(root)
    assert (code, "1 / 1" in said) == (0, True), said


def test_it_is_said_which_cell_had_stopped_before_a_test_failed() -> None:
    cells = [
        plain("import math\nimport surely_not_there"),
        answer("double", "def double(x): ..."),
        check_cell("test_double", 2, "assert double(2) == 4"),
    ]
    one = assignment("one", {"one": cells})
    done = grade_submission({"one": work(cells, {"double": "double = surely_not_there.double"})}, one, seed=1)
    (test,) = done.own_tests
    assert test.message.startswith("It stops with NameError")
    assert "Cell 1 had stopped before that. It stops with ModuleNotFoundError" in test.message
    right = grade_submission({"one": work(cells, {"double": "def double(x): return 2 * x"})}, one, seed=1)
    assert (right.score, right.repairs) == (2, ())


def test_who_grades_is_told_to_the_notebook_as_nbgrader_tells_it() -> None:
    cells = [
        answer("how", "how = None"),
        check_cell("test_how", 1, "assert how == 'autograde'"),
    ]
    one = assignment("one", {"one": cells})
    told = "import os\nhow = os.environ.get('NBGRADER_EXECUTION')"
    assert grade_submission({"one": work(cells, {"how": told})}, one, seed=1).score == 1


def unmarked() -> NotebookNode:
    cell = check_cell("", 1, "assert True")
    del cell.metadata["nbgrader"]["grade_id"]
    return cell


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([plain("a text", "markdown"), plain("1 + 1")], "There is nothing to grade in hw"),
        ([plain("1 + 1"), unmarked()], "one.ipynb: cell 2 is marked for nbgrader and has no grade_id."),
        ([v4.new_raw_cell("# BEGIN QUESTION\nname: q1"), plain("1")], "is a master notebook of Otter-Grader"),
    ],
    ids=["nothing marked", "no name", "Otter's"],
)
def test_a_source_that_is_no_assignment_is_refused_in_a_sentence(
    cells: list[NotebookNode], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "hw", {"one": cells})
    folder = tmp_path / "submitted" / "ada" / "hw"
    folder.mkdir(parents=True)
    shutil.copy(tmp_path / "source" / "hw" / "one.ipynb", folder)
    code, said = autograde(tmp_path)
    assert code == 2
    assert sentence in said
    assert not (tmp_path / "feedback").exists()

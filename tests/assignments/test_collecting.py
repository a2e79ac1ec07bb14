"""An assignment of one's own, from the download to the marks: odd notebooks among those that are asked for."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.gradebook.course import Course
from cellcheck.running.grade import grade_submission
from tests.assignments import sources
from tests.assignments.sources import answer, assignment, plain, work
from tests.assignments.sources import test as check_cell

PARTS = {
    "one": [answer("f", "def f(): pass"), check_cell("cell-862c133b01d66f6e", 2, "assert f() == 1")],
    "two": [answer("g", "def g(): pass"), check_cell("test_g", 2, "assert g() == 1")],
}
READING = [plain("Read this, and try it out.", "markdown"), plain("1 + 1")]
RIGHT = {"f": "def f(): return 1", "g": "def g(): return 1"}
WRONG = {"f": "def f(): return 2", "g": "def g(): return 1"}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """An assignment of three notebooks, one of which is only to be read."""
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "parts", {**PARTS, "reading": READING})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli.classes.out, "width", 200)
    return Course.open(tmp_path)


def said(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "300"})
    assert done.exit_code == code, done.output
    return done.output


def download(**entries: bytes) -> None:
    with zipfile.ZipFile("d.zip", "w") as archive:
        for name, data in entries.items():
            learner, _, title = name.partition("_")
            archive.writestr(f"{learner}_7_assignsubmission_file_/{title}.ipynb", data)


def test_a_notebook_without_points_comes_along(course: Course) -> None:
    download(Ada_one=work(PARTS["one"], WRONG), Ada_two=work(PARTS["two"], RIGHT), Ada_reading=work(READING, {}))
    output = said("collect", "d.zip", "--lesson", "parts")
    assert "2 other notebooks" in output
    assert {path.name for path in course.submission("Ada", "parts").iterdir()} == {
        *("one.ipynb", "two.ipynb", "reading.ipynb")
    }
    output = said("autograde", "parts")
    assert "Ada      2 / 4  one/test 1: fails\n" in output  # and nothing about a notebook that was left out
    assert "cell-862c" not in output + said("report", "parts")


def test_another_assignments_notebook_is_not_taken_for_one_of_these(course: Course) -> None:
    other = [answer("h", "def h(): pass"), check_cell("test_h", 2, "assert h() == 1")]
    download(Ada_one=work(other, {}), Bob_two=work(PARTS["two"], RIGHT))
    output = said("collect", "d.zip", "--lesson", "parts", code=1)
    assert "It has none of the graded cells of one. Is it the right file?" in output
    assert "1 collected, 1 in doubt" in output
    said("autograde", "parts")
    rows = said("export", "parts", "--to", "csv", code=1).splitlines()
    assert [row for row in rows if row.startswith("Ada,") and row.endswith("Is it the right file?")]


@pytest.mark.parametrize("kernel", [{"name": "python [root]", "display_name": "Python [Root]"}, {}, "python", None])
def test_any_kernel_will_do(kernel: Any) -> None:
    notebook = json.loads(work(PARTS["one"], RIGHT))
    notebook["metadata"]["kernelspec"] = kernel
    one = assignment("one", {"one": PARTS["one"]})
    assert grade_submission({"one": json.dumps(notebook).encode()}, one, seed=1).score == 2

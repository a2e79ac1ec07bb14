"""An imported assignment gives the marks that Otter gives, for whatever is handed in."""

import re
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.api import grade_notebooks
from cellcheck.gradebook.course import Course
from cellcheck.running.result import Result
from tests.assignments.sources import CONFIG
from tests.importing.assignments import ASSIGNMENTS
from tests.importing.otter_says import recorded

STUB = "c.ClearSolutions.code_stub = {'python': '...'}\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All assignments, imported and released."""
    root = tmp_path_factory.mktemp("course")
    (root / "nbgrader_config.py").write_text(CONFIG + STUB)
    with chdir(root):
        for name, assignment in ASSIGNMENTS.items():
            path = assignment.write(tmp_path_factory.mktemp("otter"), name)
            done = CliRunner().invoke(cli.app, ["import", "otter", str(path)], catch_exceptions=False)
            assert done.exit_code == 0, done.output
            Course.open(root).ensure_assignment(name, plain=True)
    return root


def answer_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The code cells that learners write into."""
    marked = (cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution"))
    return [cell for cell in marked if cell.cell_type == "code"]


def hand_in(root: Path, name: str, learner: str, answers: Mapping[int, str]) -> Path:
    """What a learner hands in: the released notebook with some answers."""
    notebook = nbformat.read(root / "release" / name / f"{name}.ipynb", as_version=4)
    cells = answer_cells(notebook)
    for number, text in answers.items():
        cells[number].source = text
    path = root / "handed in" / learner / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def authors_own(root: Path, name: str) -> dict[int, str]:
    """The source notebook's answers, solutions and all."""
    notebook = nbformat.read(root / "source" / name / f"{name}.ipynb", as_version=4)
    return {number: cell.source for number, cell in enumerate(answer_cells(notebook))}


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_marks_are_those_that_otter_gives(course: Path, name: str) -> None:
    theirs = {
        (learner, question): [score, most] for which, learner, question, score, most in recorded() if which == name
    }
    questions = {question: most for (_, question), (_, most) in theirs.items()}
    handed_in = dict(ASSIGNMENTS[name].handed_in)
    if ASSIGNMENTS[name].is_master:
        handed_in["author"] = authors_own(course, name)
        theirs |= {("author", question): [most, most] for question, most in questions.items()}
    paths = [hand_in(course, name, learner, answers) for learner, answers in handed_in.items()]
    given = {}
    for result in grade_notebooks(paths, lesson=name, course=course):
        assert isinstance(result, Result), result
        for question in questions:
            tests = [test for test in result.own_tests if re.fullmatch(rf"test_{question}(_\d+)?", test.name)]
            marks = [sum(test.score for test in tests), sum(test.max_score for test in tests)]
            given[Path(result.notebook).parent.name, question] = pytest.approx(marks, abs=1e-6)
    assert theirs == given


def test_what_learners_get_holds_nothing_hidden(course: Path) -> None:
    for name in ASSIGNMENTS:
        text = (course / "release" / name / f"{name}.ipynb").read_text("utf-8")
        for secret in ("3 * 3", "isinstance(nine", "And of a text?", "We find things", "math.isclose", "largest == 7"):
            assert secret not in text
    shown = nbformat.read(course / "release" / "shown" / "shown.ipynb", as_version=4)
    assert answer_cells(shown)[0].source == "nine = ...\n...\nnine"
    assert [cell.source for cell in shown.cells if cell.id == "q6"] == ["*We sort because ...*\nYOUR ANSWER HERE"]

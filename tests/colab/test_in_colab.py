"""In Colab: the first cell fetches the course at its version, quietly, and a lesson runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from grader.building.source import EXPERIMENT
from grader.repository import Repository
from tests.colab.simulated import BLOCKED, Machine, cells, machine, packed, published

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = REPOSITORY.names()[0]
NOWHERE = "http://127.0.0.1:9/"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="pip fetches the course with git")


def owner() -> str:
    return REPOSITORY.address.rpartition("/")[0] + "/"


def first_cell(lesson: str) -> str:
    cell = next(cell for cell in nbformat.read(REPOSITORY.notebook(lesson), 4).cells if cell.cell_type == "code")
    assert cell.id == "setup"
    return str(cell.source)


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine to which the course's address leads to this checkout, and pip to a folder with its build tool."""
    folder = tmp_path_factory.mktemp("colab")
    shelf, github = folder / "packages", folder / "github"
    shelf.mkdir()
    packed("setuptools", shelf)
    published(REPOSITORY, github / REPOSITORY.address.rpartition("/")[2])
    return machine(folder, {owner(): f"{github.as_uri()}/"}, shelf)


def test_without_a_network_the_first_cell_says_one_sentence(tmp_path: Path) -> None:
    offline = machine(tmp_path, {owner(): NOWHERE})
    notebook = cells(first_cell(LESSON), "1 + 1")
    with pytest.raises(CellExecutionError):
        offline.run(notebook)
    (output,) = notebook.cells[0].outputs
    assert output.traceback == ["The course could not be fetched. Is there a network? Then run this cell again."]
    assert notebook.cells[1].execution_count is None  # Run All stops


def test_a_lesson_from_nothing(colab: Machine) -> None:
    """Every answer and every check; of the experiments the first, since the later ones train and train."""
    before = colab.installed()
    assert not {name.replace("-", "_") for name in BLOCKED} & {name.partition("-")[0] for name in before}
    notebook = nbformat.read(REPOSITORY.solution(LESSON), 4)
    clear(notebook)
    checks = [place for place, cell in enumerate(notebook.cells) if cell.get("id", "").startswith("test_")]
    notebook.cells = [
        cell
        for place, cell in enumerate(notebook.cells)
        if place < checks[4] or EXPERIMENT not in cell.metadata.get("tags", ())
    ]
    colab.run(notebook)
    marks = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("points")}
    assert marks
    for cell in marks.values():
        assert [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"] == [
            repr(float(cell.metadata.nbgrader.points))
        ]
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert setup.outputs == []  # quiet
    after = colab.installed()
    ours = {"course", "grader", "lessons", f"transformers_cell_by_cell-{REPOSITORY.tag.removeprefix('v')}.dist-info"}
    assert set(after) - set(before) == ours
    assert {name: after[name] for name in before} == before  # nothing that Colab ships was touched


EVERY_LESSON = """
import importlib, pkgutil, sys
from importlib.metadata import version
import course, course.data, grader, lessons.tables
for module in pkgutil.walk_packages(course.__path__, "course."):
    importlib.import_module(module.name)
from grader.syllabus import find_lesson, lesson_names
for name in lesson_names():
    find_lesson(name)[0].part(name, "experiments")
assert all(len(lessons.tables.measured(name)) for name in {tables!r})
checks = [grader.checks(lesson) for lesson in lesson_names()]
import grader.submitting.notebook
texts = [course.data.data_file(name).stat().st_size for name in {data!r}]
assert "machine" in grader.__file__, grader.__file__
print(version("transformers-cell-by-cell"), len(checks), min(texts) > 0, [m for m in {blocked!r} if m in sys.modules])
"""


def test_what_was_fetched_is_enough_for_every_lesson(colab: Machine) -> None:
    """Runs after the lesson: the course is there, nbgrader is not."""
    data = [path.name for path in (REPOSITORY.root / "data").iterdir() if path.suffix == ".txt"]
    tables = [f"{path.parts[-3][-2:]}_{path.stem}" for path in REPOSITORY.folder.glob("*/tables/*.csv")]
    names = [name.replace("-", "_") for name in BLOCKED]
    notebook = cells(first_cell(LESSON), EVERY_LESSON.format(data=data, tables=tables, blocked=names[1:]))
    colab.run(notebook)
    (printed,) = notebook.cells[1].outputs
    lessons = len(REPOSITORY.names())
    assert printed.text == f"{REPOSITORY.tag.removeprefix('v')} {lessons} True []\n"


def clear(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None

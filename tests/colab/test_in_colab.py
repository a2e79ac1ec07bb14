"""In Colab: the first cell fetches the commit that was released, quietly, and nothing else will do; a lesson runs."""

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from cellcheck.building.source import EXPERIMENT
from cellcheck.repository import Repository
from tests.colab.simulated import BLOCKED, Machine, cells, closure, committed, machine, packed, published

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = REPOSITORY.names()[0]
NOWHERE = "http://127.0.0.1:9/"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="pip fetches the course with git")


def owner() -> str:
    return REPOSITORY.address.rpartition("/")[0] + "/"


def first_cell(lesson: str, commit: str) -> str:
    """As it will be once this commit is the released one."""
    cell = next(cell for cell in nbformat.read(REPOSITORY.notebook(lesson), 4).cells if cell.cell_type == "code")
    assert cell.id == "setup"
    assert REPOSITORY.released is not None
    assert cell.source.count(REPOSITORY.released) == 1
    return str(cell.source).replace(REPOSITORY.released, commit)


@dataclass(frozen=True)
class Colab:
    """A machine to which the course's address leads to this checkout, and pip to a folder with its build tool."""

    machine: Machine
    commit: str
    remote: Path


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Colab:
    folder = tmp_path_factory.mktemp("colab")
    shelf, github = folder / "packages", folder / "github"
    shelf.mkdir()
    for tool in closure(("hatchling",)):  # what builds the two packages, and all that this needs
        packed(tool, shelf)
    remote = github / REPOSITORY.address.rpartition("/")[2]
    commit = published(REPOSITORY, remote)
    return Colab(machine(folder, {owner(): f"{github.as_uri()}/"}, shelf), commit, remote)


def test_the_released_commit_is_one_of_this_repository() -> None:
    command = ["git", "merge-base", "--is-ancestor", str(REPOSITORY.released), "HEAD"]
    done = subprocess.run(command, cwd=REPOSITORY.root, capture_output=True, text=True, check=False)
    if (REPOSITORY.root / ".git").exists() and "shallow" not in done.stderr:
        assert done.returncode == 0, f"Write a commit that is in this history into pyproject.toml. {done.stderr}"


def insist_on_one_sentence(machine: Machine, cell: str, sentence: str) -> None:
    notebook = cells(cell, "1 + 1")
    with pytest.raises(CellExecutionError):
        machine.run(notebook)
    (output,) = notebook.cells[0].outputs
    (line,) = output.traceback
    assert line.startswith(sentence)
    assert notebook.cells[1].execution_count is None  # Run All stops


def test_without_a_network_the_first_cell_says_one_sentence(tmp_path: Path) -> None:
    offline = machine(tmp_path, {owner(): NOWHERE})
    insist_on_one_sentence(
        offline, first_cell(LESSON, "0" * 40), "The course could not be fetched: is there a network?"
    )


@pytest.mark.parametrize(
    ("lacking", "sentence"),
    [
        ("git", "The course could not be fetched: git is missing here"),
        ("pip", "The course could not be fetched: pip is"),
    ],
)
def test_what_the_first_cell_lacks_is_named(tmp_path: Path, lacking: str, sentence: str) -> None:
    there = machine(tmp_path, {owner(): NOWHERE})
    if lacking == "git":
        there = replace(there, env=there.env | {"PATH": str(there.python.parent)})
    else:
        (there.packages / "pip").unlink()
    insist_on_one_sentence(there, first_cell(LESSON, "0" * 40), sentence)


@pytest.mark.parametrize("lacking", ["the course", "numpy"])
def test_on_a_machine_of_ones_own_it_installs_nothing_and_says_what_is_missing(tmp_path: Path, lacking: str) -> None:
    there = machine(tmp_path, {owner(): NOWHERE})
    own = replace(there, env={name: value for name, value in there.env.items() if name != "COLAB_RELEASE_TAG"})
    what = "The course"
    if lacking == "numpy":
        (own.packages / "cellcheck").symlink_to(REPOSITORY.root / "grader" / "cellcheck")
        (own.packages / "numpy").unlink()
        what = "The package numpy"
    before = own.installed()
    insist_on_one_sentence(own, first_cell(LESSON, "0" * 40), f"{what} is missing in this Python, {own.python}.")
    assert own.installed() == before


def test_a_lesson_from_nothing(colab: Colab) -> None:
    """Every answer and every check; of the experiments the first, since the later ones train and train."""
    before = colab.machine.installed()
    assert not {name.replace("-", "_") for name in BLOCKED} & {name.partition("-")[0] for name in before}
    notebook = nbformat.read(REPOSITORY.solution(LESSON), 4)
    clear(notebook)
    setup = next(cell for cell in notebook.cells if cell.cell_type == "code")
    setup.source = first_cell(LESSON, colab.commit)
    checks = [place for place, cell in enumerate(notebook.cells) if cell.get("id", "").startswith("test_")]
    notebook.cells = [
        cell
        for place, cell in enumerate(notebook.cells)
        if place < checks[4] or EXPERIMENT not in cell.metadata.get("tags", ())
    ]
    colab.machine.run(notebook)
    marks = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("points")}
    assert marks
    for cell in marks.values():
        assert [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"] == [
            repr(float(cell.metadata.nbgrader.points))
        ]
    assert setup.outputs == []  # quiet
    after = colab.machine.installed()
    ours = {"cellcheck", "transformer_course"}
    ours |= {f"{name}-{REPOSITORY.version}.dist-info" for name in ("cellcheck", "transformers_cell_by_cell")}
    assert set(after) - set(before) == ours
    assert {name: after[name] for name in before} == before  # nothing that Colab ships was touched


EVERY_LESSON = """
import importlib, pkgutil, sys
from importlib.metadata import version
import transformer_course, transformer_course.data, cellcheck, transformer_course.lessons.tables
for module in pkgutil.walk_packages(transformer_course.__path__, "transformer_course."):
    last = module.name.rpartition(".")[2]
    if not last[0].isdigit() and last != "demo":  # no text of a lesson, and not the class that instructors try
        importlib.import_module(module.name)
from cellcheck.syllabus import find_lesson, lesson_names
for name in lesson_names():
    find_lesson(name)[0].part(name, "experiments")
assert all(len(transformer_course.lessons.tables.measured(name)) for name in {tables!r})
checks = [cellcheck.checks(lesson) for lesson in lesson_names()]
import cellcheck.submitting.submit
texts = [transformer_course.data.data_file(name).stat().st_size for name in {data!r}]
assert "machine" in cellcheck.__file__, cellcheck.__file__
print(version("transformers-cell-by-cell"), len(checks), min(texts) > 0, [m for m in {blocked!r} if m in sys.modules])
"""


def test_what_was_fetched_is_enough_for_every_lesson(colab: Colab) -> None:
    """Runs after the lesson: the course is there, nbgrader is not."""
    data = [path.name for path in (REPOSITORY.root / "data").iterdir() if path.suffix == ".txt"]
    tables = [f"{path.parts[-3][-2:]}_{path.stem}" for path in REPOSITORY.folder.glob("*/tables/*.csv")]
    names = [name.replace("-", "_") for name in BLOCKED]
    notebook = cells(first_cell(LESSON, colab.commit), EVERY_LESSON.format(data=data, tables=tables, blocked=names[1:]))
    colab.machine.run(notebook)
    (printed,) = notebook.cells[1].outputs
    lessons = len(REPOSITORY.names())
    assert printed.text == f"{REPOSITORY.tag.removeprefix('v')} {lessons} True []\n"


def test_a_tag_that_was_moved_changes_nothing_and_another_commit_is_refused(colab: Colab, tmp_path: Path) -> None:
    """Runs after the lesson: the released commit is installed. A stranger then publishes another under its tag."""
    (colab.remote / "grader" / "cellcheck" / "__init__.py").write_text("raise SystemExit('a stranger')\n")
    other = committed(colab.remote)
    subprocess.run(["git", "tag", "--force", REPOSITORY.tag], cwd=colab.remote, check=True)
    notebook = cells(first_cell(LESSON, colab.commit))
    colab.machine.run(notebook)
    assert notebook.cells[0].outputs == []
    insist_on_one_sentence(colab.machine, first_cell(LESSON, other), "Another version of the course is installed here")


def test_what_does_not_say_where_it_comes_from_is_refused(tmp_path: Path) -> None:
    """A package of that name that is there already, and has never been looked at."""
    there = machine(tmp_path, {owner(): NOWHERE})
    name = REPOSITORY.name
    metadata = there.packages / f"{name.replace('-', '_')}-{REPOSITORY.tag.removeprefix('v')}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {REPOSITORY.tag.removeprefix('v')}\n")
    (there.packages / "cellcheck.py").write_text("raise SystemExit('a stranger')\n")
    insist_on_one_sentence(there, first_cell(LESSON, "0" * 40), "Another version of the course is installed here")


def clear(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None

"""A notebook that went through Colab gets the marks that it would have had without."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from tests.warm import run
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

REPOSITORY = Repository.find(Path(__file__).parent)
# Somebody with right answers, a mistake and blanks: marks that all could change.
LEARNER = Learner("ada", LESSON, begins=9, types=HONEST[0].types, edits={"mse_loss": (".mean()", ".sum()")})

Saved = dict[str, Any]


def finished() -> Saved:
    notebook: Saved = json.loads(json.dumps(LEARNER.fill_in(REPOSITORY.notebook(LESSON).read_text("utf-8"))))
    return notebook


def code(notebook: Saved) -> list[Saved]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def marks_of(cell: Saved) -> Saved:
    marks: Saved = cell["metadata"].get("nbgrader", {})
    return marks


def saved(notebook: Saved) -> Saved:
    """As Colab writes it: format 4.0, ids of its own in the metadata, sources in lines, marks of its own."""
    notebook["nbformat_minor"] = 0
    notebook["metadata"] |= {
        "colab": {"provenance": [], "name": "Copy of 01_pytorch_basics.ipynb", "toc_visible": True},
        "accelerator": "GPU",
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }
    for number, cell in enumerate(notebook["cells"]):
        del cell["id"]
        cell["source"] = cell["source"].splitlines(keepends=True)
        cell["metadata"]["id"] = f"x{number:011x}"
        if cell["cell_type"] == "code":
            cell["metadata"] |= {"colab": {"base_uri": "https://localhost:8080/", "height": 34}, "cellView": "form"}
            cell["metadata"]["outputId"] = f"9b1deb4d-0000-4000-8000-{number:012x}"
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["ran in Colab\n"]}]
    return notebook


def ours_dropped(notebook: Saved) -> Saved:
    for cell in saved(notebook)["cells"]:
        cell["metadata"] = {key: cell["metadata"][key] for key in ("id", "outputId") if key in cell["metadata"]}
    return notebook


def answers_marks_dropped(notebook: Saved) -> Saved:
    """The learner deleted the answers' cells, and wrote new ones."""
    for cell in code(saved(notebook)):
        if marks_of(cell).get("solution"):
            cell["metadata"] = {"id": "new"}
    return notebook


def checks_marks_dropped(notebook: Saved) -> Saved:
    for cell in code(saved(notebook)):
        if marks_of(cell).get("grade"):
            cell["metadata"] = {"id": "new"}
    return notebook


def submit_left_in(notebook: Saved) -> Saved:
    """The last cell hands in, and nothing tells any more that it is not for a mark."""
    last = code(saved(notebook))[-1]
    assert last["source"] == ["# submit()"]
    last |= {"source": ["submit()"], "metadata": {"id": "new"}}
    return notebook


def cells_doubled(notebook: Saved) -> Saved:
    """Colab copies a cell with all that is in it."""
    doubled = [copy.deepcopy(cell) for cell in saved(notebook)["cells"] for _ in range(2)]
    notebook["cells"] = doubled
    return notebook


def cells_of_colab(notebook: Saved) -> Saved:
    """What its menus put in."""
    added = (
        ["from google.colab import drive\n", "drive.mount('/content/drive')"],
        ["#@title A form { run: 'auto' }\n", "rate = 0.1 #@param {type: 'number'}"],
        ["!pip install -q einops\n", "%cd /content\n", "!nvidia-smi"],
    )
    new = [{"cell_type": "code", "metadata": {"id": "n"}, "source": source, "outputs": []} for source in added]
    saved(notebook)["cells"][2:2] = new
    return notebook


EDITS: tuple[Callable[[Saved], Saved], ...] = (
    saved,
    ours_dropped,
    answers_marks_dropped,
    checks_marks_dropped,
    submit_left_in,
    cells_doubled,
    cells_of_colab,
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `cellcheck grade` says of each, in one run; "plain" never saw Colab."""
    folder = tmp_path_factory.mktemp("handed-in")
    (folder / "plain.ipynb").write_text(json.dumps(finished()))
    for edit in EDITS:
        (folder / f"{edit.__name__}.ipynb").write_text(json.dumps(edit(finished()), ensure_ascii=False), "utf-8")
    names = sorted(path.name for path in folder.iterdir())
    done = run(["cellcheck", "grade", "--seed", "7", "--json", "marks.json", *names], folder)
    assert done.code == 0, done.output
    results = json.loads((folder / "marks.json").read_text("utf-8"))["results"]
    return {result["notebook"].removesuffix(".ipynb"): result for result in results}


def test_the_marks_are_worth_comparing(graded: dict[str, Any]) -> None:
    result = graded["plain"]
    assert {exercise["status"] for exercise in result["exercises"]} >= {"passed", "missing"}
    assert [e["diagnosis"] for e in result["exercises"] if e["symbol"] == "mse_loss"] != [None]
    assert 0 < result["score"] < result["max_score"]
    assert result["repairs"] == []


@pytest.mark.parametrize("edit", [edit.__name__ for edit in EDITS])
def test_the_marks_are_the_same(graded: dict[str, Any], edit: str) -> None:
    assert graded[edit]["lesson"] == LESSON
    assert graded[edit]["exercises"] == graded["plain"]["exercises"]
    # A check that has lost its mark is found by its text, which is as it was: there is nothing to say.
    assert bool(graded[edit]["repairs"]) == (edit not in ("saved", "submit_left_in", "checks_marks_dropped"))

"""A text that can't be built is a sentence, and a notebook that would not run is found before a learner does."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from cellcheck.building.build import _Committed, _make
from cellcheck.building.pictures import attach_pictures
from cellcheck.building.release import release, undefined_names
from cellcheck.building.source import source_notebook
from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from cellcheck.syllabus import find_lesson, load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = REPOSITORY.names()[0]
SYMBOLS = [exercise.symbol for exercise in load_lesson(LESSON).exercises]


# A lesson's text with all that it must have, and nothing else.
SHORT = "\n\n".join(
    [
        "# ---\n# title: A lesson\n# sittings: [5]\n# gives: [a thing]\n# ---",
        "# %% [markdown]\n# TITLE\n#\n# A picture.\n#\n# GIVES\n#\n# SITTINGS",
        "# %% setup=true\nfrom collections.abc import Callable\nimport numpy as np\nimport torch\nfrom torch import nn",
        *(f'# %% [markdown] exercise="{symbol}" kind="core" difficulty=1 minutes=5\n# Do it.' for symbol in SYMBOLS),
        "# %%\nnp.ones(3)",
        "# %% [markdown] explain=true\n# Because.",
        "# %% [markdown]\n# A word at the end.",
    ]
)


@pytest.fixture
def copy(tmp_path: Path) -> Repository:
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(REPOSITORY.root / name, tmp_path / name)
    repository = Repository(tmp_path / "lessons")
    repository.text(LESSON).parent.mkdir(parents=True)
    repository.text(LESSON).write_text(SHORT)
    return repository


def test_a_short_text_builds(copy: Repository) -> None:
    solution, learners = _make(copy, LESSON, _Committed.of(copy, LESSON))
    assert len(solution.cells) == len(nbformat.reads(learners, as_version=4).cells) == 7 + 3 * len(SYMBOLS)
    assert "https://colab.research.google.com/github/" in solution.cells[0].source


def test_the_question_in_words_has_the_points_that_the_text_says(copy: Repository) -> None:
    edit(copy, "explain=true", "explain=true points=2")
    cells = [cell.metadata.get("nbgrader", {}) for cell in source_notebook(copy, LESSON).cells]
    assert [marks["points"] for marks in cells if marks.get("grade_id") == "explain"] == [2.0]


def test_the_id_of_a_cell_does_not_depend_on_its_neighbours(copy: Repository) -> None:
    before = [cell.id for cell in source_notebook(copy, LESSON).cells]
    edit(copy, "# %% setup=true", "# %%\n1 + 1\n\n# %% setup=true")
    after = [cell.id for cell in source_notebook(copy, LESSON).cells]
    assert len(after) == len(before) + 1
    assert [name for name in after if name in before] == before


def edit(repository: Repository, old: str, new: str) -> None:
    path = repository.text(LESSON)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "# A picture.",
            "# ![Three words and one more](picture:unheard_of)",
            r"Nothing in transformer_course\.lessons\.lesson_01\.pictures draws",
        ),
        ("# A picture.", "# ![Short](picture:broadcasting)", "needs a text alternative"),
        ("# A picture.", "# ![A tree, with layers[0 at its top.](picture:broadcasting)", "has a bracket too many"),
        ("import numpy as np\n", "", "never defines np: import it in the lesson's set-up cell"),
    ],
)
def test_a_faulty_text_is_a_sentence(copy: Repository, old: str, new: str, sentence: str) -> None:
    edit(copy, old, new)
    with pytest.raises(GraderError, match=sentence):
        _make(copy, LESSON, _Committed.of(copy, LESSON))


def test_a_picture_is_attached() -> None:
    words = "A column of numbers meets a row of numbers."
    text, attachments = attach_pictures(f"Look: ![{words}](picture:broadcasting)!", LESSON)
    assert text == f"Look: ![{words}](attachment:broadcasting.png)!"
    assert list(attachments) == ["broadcasting.png"]


def test_a_picture_that_is_drawn_already_is_not_drawn_again() -> None:
    picture = {"image/png": "as it was"}
    text = "![A column of numbers meets a row of numbers.](picture:broadcasting)"
    assert attach_pictures(text, LESSON, {"broadcasting.png": picture})[1] == {"broadcasting.png": picture}
    assert attach_pictures(text, LESSON, {"another.png": picture})[1]["broadcasting.png"]["image/png"].startswith(
        "iVBOR"
    )


def code(*sources: str) -> NotebookNode:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[-1].metadata["tags"] = ["experiment"]
    return nbformat.v4.new_notebook(cells=cells)


def test_undefined_names_are_found_with_and_without_experiments() -> None:
    notebook = code(
        "import numpy as np", "%timeit np.ones(3)\ndef f():\n    return later + torch", "later = display(xs)"
    )
    assert undefined_names(notebook, with_experiments=True) == ["torch", "xs"]
    assert undefined_names(notebook, with_experiments=False) == ["later", "torch"]
    assert undefined_names(code("import a, b\nget_ipython()", "c = [a for a in b]"), with_experiments=True) == []


def test_two_cells_with_one_grade_id_are_refused_by_nbgrader(copy: Repository) -> None:
    source = source_notebook(copy, LESSON)
    source.cells.append(nbformat.from_dict(source.cells[0] | {"id": "another"}))
    with pytest.raises(GraderError, match="nbgrader can't release it"):
        release(source, LESSON, REPOSITORY.root / "nbgrader_config.py")


def test_what_the_repository_says_of_unknown_places(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="not inside a course's repository"):
        Repository.find(tmp_path)
    with pytest.raises(GraderError, match=rf"There is no lesson '99'. These exist: .*{LESSON}"):
        find_lesson("99")
    assert find_lesson("01")[1] == find_lesson(LESSON)[1] == LESSON
    assert REPOSITORY.called("01") == REPOSITORY.called(LESSON) == (LESSON,)
    assert not any(
        map(REPOSITORY.called, ("", "0", "1", "99", "01_no_topic", "../lesson_01", "*", "0*_*", "01_", "\u0661"))
    )
    assert Repository.find(REPOSITORY.root / "tests" / "building") == REPOSITORY
    assert REPOSITORY.address.startswith("https://github.com/")

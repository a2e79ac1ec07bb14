"""Beginning anew: blank again, and nothing is lost."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from cellcheck.errors import GraderError
from cellcheck.learning import progress
from cellcheck.learning.offers import released
from cellcheck.learning.opened import as_opened
from cellcheck.learning.reset import place, reset
from cellcheck.running.intake import read_submission
from tests.learning.learners import LESSON, answer, cells, notebook, own

MINE = "def pick(values, index):\n    return values[0]"
OTHER = "def batched_dot(a, b):\n    return a"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A learner's notebook with two answers, and scores for three exercises."""
    path = own(tmp_path, LESSON)
    answer(path, pick=MINE, test_pick="check(pick)", batched_dot=OTHER)
    for symbol in ("pick", "batched_dot"):
        progress.remember(tmp_path, LESSON, symbol, 1.0)
    progress.remember(tmp_path, "02_tokenizer", "encode", 1.0)
    return path


def test_the_whole_notebook(mine: Path, tmp_path: Path) -> None:
    before = mine.read_bytes()
    done = reset(mine)
    assert mine.read_bytes() == as_opened(released()[LESSON].read_bytes())
    assert done.copy.read_bytes() == before
    assert done.copy.parent == mine.parent / "earlier"
    assert done.copy.name.startswith(f"{LESSON} 20")
    assert progress.read(tmp_path) == {LESSON: {}, "02_tokenizer": {"encode": 1.0}}


def test_one_exercise(mine: Path, tmp_path: Path) -> None:
    before = mine.read_bytes()
    done = reset(mine, "pick")
    now, fresh = cells(mine), cells(released()[LESSON])
    for name in ("pick", "test_pick"):
        assert "".join(now[name]["source"]) == "".join(fresh[name]["source"])
        assert (now[name]["outputs"], now[name]["execution_count"]) == ([], None)
    assert now["batched_dot"]["source"] == OTHER
    assert now["batched_dot"]["outputs"]
    assert done.copy.read_bytes() == before
    assert progress.read(tmp_path)[LESSON] == {"batched_dot": 1.0}
    nbformat.validate(nbformat.read(mine, as_version=4))
    submission = read_submission(mine.read_bytes())
    assert submission.repairs == ()
    assert [step.grade_id for step in submission.steps if not isinstance(step, str) and step.blank][:1] == ["pick"]


def test_an_answer_whose_mark_is_gone_is_found_by_its_definition(mine: Path) -> None:
    content = json.loads(mine.read_text("utf-8"))
    for cell in content["cells"]:
        cell["metadata"] = {}
    mine.write_text(json.dumps(content), "utf-8")
    reset(mine, "pick")
    sources = ["".join(cell["source"]) for cell in json.loads(mine.read_text("utf-8"))["cells"]]
    assert MINE not in sources
    assert [source for source in sources if source.startswith("def pick")] == [
        "".join(cells(released()[LESSON])["pick"]["source"])
    ]


def test_of_doubled_cells_one_blank_stays(mine: Path) -> None:
    content = json.loads(mine.read_text("utf-8"))
    (written,) = [cell for cell in content["cells"] if cell["source"] == MINE]
    content["cells"].append(written | {"id": "another", "source": MINE + "  # better"})
    mine.write_text(json.dumps(content), "utf-8")
    reset(mine, "pick")
    sources = ["".join(cell["source"]) for cell in json.loads(mine.read_text("utf-8"))["cells"]]
    assert len([source for source in sources if source.startswith("def pick")]) == 1
    assert MINE not in sources


def test_twice_in_a_second_keeps_both(mine: Path) -> None:
    copies = {reset(mine).copy for _ in range(3)}
    assert len(copies) == 3
    assert all(path.is_file() for path in copies)


def test_a_renamed_notebook_is_known_by_its_set_up_cell(mine: Path, tmp_path: Path) -> None:
    moved = shutil.move(mine, tmp_path / "evening.ipynb")
    assert reset(Path(moved)).lesson == LESSON


@pytest.mark.parametrize(
    ("content", "symbol", "sentence"),
    [
        (None, None, "can't be read: No such file or directory."),
        (b"{", "pick", "This is not a notebook"),
        (b"", "pick", "The file is empty"),
        ("released", "nonsense", "There is no exercise nonsense in 01_pytorch_basics. These exist: batched_dot, "),
        (b'{"cells": [{"cell_type": "code", "source": "1"}]}', "pick", "has no cell for pick any more"),
    ],
)
def test_what_can_not_be_reset_stays_as_it_is(
    tmp_path: Path, content: bytes | str | None, symbol: str | None, sentence: str
) -> None:
    path = notebook(tmp_path)
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(released()[LESSON].read_bytes() if isinstance(content, str) else content)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(GraderError, match=re.escape(sentence)):
        reset(path, symbol)
    assert (path.read_bytes() if path.exists() else None) == before
    assert not (path.parent / "earlier").exists()


def test_another_file_is_no_notebook_of_the_course(tmp_path: Path) -> None:
    for name, text in (("mine.ipynb", '{"cells": []}'), (f"{LESSON}.txt", "{}")):
        (tmp_path / name).write_text(text)
        with pytest.raises(GraderError, match="is not a notebook from this course"):
            reset(tmp_path / name)


def test_where_nothing_can_be_kept_nothing_is_changed(mine: Path) -> None:
    before = mine.read_bytes()
    (mine.parent / "earlier").write_text("a file in its place")
    with pytest.raises(GraderError, match="nothing was changed"):
        reset(mine)
    assert mine.read_bytes() == before


def test_a_link_stays_a_link(mine: Path, tmp_path: Path) -> None:
    link = tmp_path / "here.ipynb"
    link.symlink_to(mine)
    reset(link)
    assert link.is_symlink()
    assert mine.read_bytes() == as_opened(released()[LESSON].read_bytes())


def test_a_fresh_notebook_is_put_in_place_once(tmp_path: Path) -> None:
    path = place(LESSON, tmp_path)
    assert path == notebook(tmp_path)
    assert path.read_bytes() == as_opened(released()[LESSON].read_bytes())
    path.write_text("my work")
    assert place(LESSON, tmp_path).read_text() == "my work"
    (tmp_path / "05_causal_masks").write_text("a file in its place")
    with pytest.raises(GraderError, match="can't be written"):
        place("05_causal_masks", tmp_path)

"""Reading a submission, whatever state it is in."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellcheck.errors import GraderError
from cellcheck.running import plain_cells as reading
from cellcheck.running.cells import Cell
from cellcheck.running.intake import GradingPlan, Unreadable, read_file, read_submission, understood
from cellcheck.running.plain_cells import cells_of
from tests.running.submissions import SYMBOLS, add, answer, as_bytes, filled_in, place_of, rough, stub, without_metadata
from transformer_course.lessons.lesson_01.demo import LESSON

SETUP = f'import cellcheck\ncheck = cellcheck.checks("{LESSON}")'


def asked(submission: GradingPlan) -> list[str]:
    return [step for step in submission.steps if isinstance(step, str)]


def run(submission: GradingPlan) -> list[Cell]:
    return [step for step in submission.steps if isinstance(step, Cell)]


def sources(submission: GradingPlan) -> str:
    return "\n\n".join(cell.source for cell in run(submission))


def before(submission: GradingPlan, symbol: str) -> str:
    """All that has run by the time a symbol is asked for."""
    steps = submission.steps[: submission.steps.index(symbol)]
    return "\n\n".join(step.source for step in steps if isinstance(step, Cell))


def test_an_honest_notebook_needs_no_repair() -> None:
    submission = read_submission(as_bytes(filled_in()))
    assert submission.lesson.name == LESSON
    assert submission.repairs == ()
    assert asked(submission) == SYMBOLS
    assert [cell.grade_id for cell in run(submission)] == ["setup", *SYMBOLS]
    for symbol in SYMBOLS:
        assert f"{symbol}(" in before(submission, symbol)


def test_experiments_and_checks_are_not_run() -> None:
    notebook = filled_in()
    submission = read_submission(as_bytes(notebook))
    experiments = [c.source for c in notebook.cells if "experiment" in c.metadata.get("tags", [])]
    assert len(experiments) > 10
    assert not any(cell.source in experiments for cell in run(submission))
    assert "check(pick)" not in sources(submission)


# --- the lesson -------------------------------------------------------------------------------------------------


def test_the_lesson_is_known_from_the_set_up_cell() -> None:
    assert read_submission(rough(SETUP), None).lesson.name == LESSON
    assert read_submission(rough("check = cellcheck.checks( '01' )"), "99_nothing").lesson.name == LESSON


def test_the_lesson_is_known_from_the_symbols() -> None:
    cells = [answer(symbol) for symbol in SYMBOLS[: (len(SYMBOLS) + 1) // 2]]
    submission = read_submission(rough(*cells))
    assert submission.lesson.name == LESSON
    assert any("set-up cell is missing" in repair for repair in submission.repairs)
    with pytest.raises(Unreadable, match="name the lesson with --lesson"):
        read_submission(rough(*cells[:2]))


def test_the_lesson_can_be_named_and_an_unknown_one_is_said() -> None:
    assert read_submission(rough(answer("pick")), "01").lesson.name == LESSON
    with pytest.raises(Unreadable, match=f"None of the exercises of {LESSON} is in this notebook"):
        read_submission(rough("x = 1"), "01")
    with pytest.raises(Unreadable, match="There is no lesson '99'"):
        read_submission(rough("x = 1"), "99")
    with pytest.raises(Unreadable, match="No lesson of this course fits"):
        read_submission(rough("x = 1"))
    # A set-up cell that names no lesson is no reason to give up.
    assert read_submission(rough('check = cellcheck.checks("77_other")', stub("pick")), "01").lesson.name == LESSON


def test_the_files_name_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / f"{LESSON}.ipynb"
    path.write_bytes(rough("x = 1"))
    with pytest.raises(Unreadable, match="No lesson"):
        read_submission(read_file(path))
    other = tmp_path / "Untitled (3).ipynb"
    other.write_bytes(rough(SETUP))
    assert read_submission(read_file(other)).lesson.name == LESSON


# --- files that are no notebook ---------------------------------------------------------------------------------


def test_links_folders_and_missing_files(tmp_path: Path) -> None:
    real = tmp_path / "real.ipynb"
    real.write_bytes(rough(SETUP))
    (tmp_path / "link.ipynb").symlink_to(real)
    (tmp_path / "nowhere.ipynb").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.ipynb")
    assert read_file(real) == real.read_bytes()
    for name, sentence in {
        "link.ipynb": "This is a link",
        "nowhere.ipynb": "This is a link",
        "gone.ipynb": "There is no such file",
        ".": "This is not a file",
        "pipe.ipynb": "This is not a file",
    }.items():
        with pytest.raises(Unreadable, match=sentence):
            read_file(tmp_path / name)


def test_an_enormous_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.ipynb"
    with path.open("wb") as file:
        file.truncate(reading.MAX_BYTES + 1)  # takes no room on the disk
    with pytest.raises(Unreadable, match=r"128 MB are allowed\. Clear all outputs"):
        read_file(path)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty"),
        (b" \n", "The file is empty"),
        (b'{"cells": [', r"not valid JSON \(line 1\)"),
        (b"PK\x03\x04\xff\xfe", "zip file, not a notebook: `cellcheck collect FILE`"),
        (b"\n<!DOCTYPE html><html></html>", "a web page, not a notebook"),
        (b"<HTML lang='de'>", "a web page, not a notebook"),
        (b"<not valid", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"cells": [1], "n": ' + b"1" * 5000 + b"}", "not valid JSON"),
        (b"[]", "it has no cells"),
        (b"3", "it has no cells"),
        (b'{"worksheets": []}', "old format 3"),
        (b'{"cells": {}}', "it has no cells"),
        (b'{"cells": []}', "The notebook has no cells"),
        (b"\0" * 1000, "not valid JSON"),
        ("{}".encode("utf-16"), "not in UTF-8"),
        (b"cos\nsystem\n(S'touch /tmp/attacked'\ntR.", "not valid JSON"),
        (b'{"cells": [1, null, "a", {}]}', "No lesson of this course fits"),
    ],
)
def test_what_is_no_notebook_is_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(Unreadable, match=sentence) as refused:
        read_submission(data)
    assert isinstance(refused.value, GraderError)
    assert "\n" not in str(refused.value)


@given(st.binary(max_size=100))
def test_no_bytes_stop_the_reader_otherwise(data: bytes) -> None:
    with pytest.raises(Unreadable):
        read_submission(data)


json_values: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)
odd_cells = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.one_of(st.just("code"), json_values),
        "source": st.one_of(st.text(), st.lists(st.one_of(st.text(), st.integers())), json_values),
        "metadata": st.one_of(
            st.fixed_dictionaries({}, optional={"nbgrader": json_values, "tags": json_values}),
            st.fixed_dictionaries({"nbgrader": st.fixed_dictionaries({"grade_id": json_values})}),
            json_values,
        ),
    },
)


@given(st.lists(st.one_of(odd_cells, json_values), max_size=4))
def test_cells_of_any_form_are_read_or_passed_over(cells: list[Any]) -> None:
    setup = {"cell_type": "code", "source": SETUP, "metadata": {}}
    submission = understood(cells_of(json.dumps({"cells": [*cells, setup]}).encode()))
    assert asked(submission) == SYMBOLS


# --- notebooks that were moved about ----------------------------------------------------------------------------


def test_stripped_metadata_is_repaired_and_said() -> None:
    submission = read_submission(as_bytes(without_metadata(filled_in())))
    assert any("lost its cell metadata" in repair for repair in submission.repairs)
    assert asked(submission) == SYMBOLS
    for symbol in SYMBOLS:
        assert f"{symbol}(" in before(submission, symbol)
    # Experiments can't be told by their tag now; what does more than import and define is left out.
    assert "plots.heatmap(" not in sources(submission)


def test_cells_in_another_order() -> None:
    """Each symbol is asked for once its cell has run, wherever that stands."""
    notebook = filled_in()
    setup = place_of(notebook, "setup")
    head, tail = notebook.cells[: setup + 1], notebook.cells[setup + 1 :]
    notebook.cells = head + tail[::-1]
    submission = read_submission(as_bytes(notebook))
    assert sorted(asked(submission)) == sorted(SYMBOLS)
    for symbol in SYMBOLS:
        assert answer(symbol).splitlines()[0] in before(submission, symbol)


def test_a_symbol_defined_in_an_extra_cell() -> None:
    """The cell that was meant for it is still blank, or gone; the definition stands further down."""
    notebook = filled_in({"pick": stub("pick")})
    add(notebook, place_of(notebook, "test_pick") + 1, "one = 1", answer("pick"))
    assert "values.gather" in before(read_submission(as_bytes(notebook)), "pick")
    del notebook.cells[place_of(notebook, "pick")]
    assert "values.gather" in before(read_submission(as_bytes(notebook)), "pick")


def test_a_foreign_grade_id_and_tag_buy_nothing() -> None:
    """Metadata is a hint: a definition counts under any grade id, and an `experiment` tag hides no answer cell."""
    notebook = filled_in()
    notebook.cells[place_of(notebook, "pick")].metadata = {"nbgrader": {"grade_id": "nonsense"}}
    notebook.cells[place_of(notebook, "train")].metadata["tags"] = ["experiment"]
    submission = read_submission(as_bytes(notebook))
    assert "values.gather" in before(submission, "pick")
    assert "optimizer.step()" in before(submission, "train")


@pytest.mark.parametrize(
    ("source", "defines", "only"),
    [
        ("def f():\n    pass\nclass G:\n    pass\nimport os", {"f", "G"}, True),
        ("h = lambda x: x", {"h"}, False),
        ("async def f(): pass", {"f"}, True),
        ("def f(:\n    pass\n", {"f"}, False),
        ("%timeit x\n!ls\ndef f(): pass", {"f"}, False),
        ("f(1)", set(), False),
        ("x = '\x00'", set(), False),
        ("(" * 2000, set(), False),
        ("", set(), True),
    ],
)
def test_what_a_cell_defines(source: str, defines: set[str], only: bool) -> None:
    assert reading.definitions(source) == (sorted(defines), only)


@pytest.mark.parametrize(
    ("source", "symbol"),
    [
        ("check(pick)", "pick"),
        ('check("pick");', "pick"),
        (" check( pick ) ", "pick"),
        ("check(pick)\ncheck(train)", None),
        ("x = check(pick)", None),
        ("recheck(pick)", None),
    ],
)
def test_a_check_cell_is_known_by_what_it_does(source: str, symbol: str | None) -> None:
    assert Cell(1, source).asks == symbol

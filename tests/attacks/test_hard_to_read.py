"""Notebooks that are hard to read: each harms only itself, gets one sentence, and holds nobody up."""

import contextlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from cellcheck.running import reading_apart as reader
from cellcheck.running.intake import GradingPlan, Unreadable, read_submission
from cellcheck.running.plain_cells import MAX_CELLS, MAX_TEXT, cells_of
from tests.attacks.attacks import LESSON, code, notebook

SETUP = code(f'check = cellcheck.checks("{LESSON}")', "setup")
PICK = code("def pick(values, index):\n    return values", "pick")


def with_cell(source: str) -> Callable[[], bytes]:
    return lambda: notebook([SETUP, PICK, code(source)])


# Steps are found; how many does not matter, nor what the odd cell is worth.
SLOW = {
    "spaces behind a check": with_cell("check(pick)" + " " * 400_000),
    "spaces inside a check": with_cell("check(" + " " * 400_000),
    "lines behind a check": with_cell("check(pick)" + "\n" * 400_000 + "x"),
    "many a shell command": with_cell("x = !ls\n" * 700),
    "very many of them": with_cell("x = !ls\n" * 20_000),
    "names before a shell command": with_cell("a, " * 300_000 + "= !ls\n)"),
    "parentheses": with_cell("(" * 10**5 + ")" * 10**5),
    "brackets that never close": with_cell("[" * 10**5),
    "signs": with_cell("x = " + "-" * 10**5 + "1"),
    "nots": with_cell("not " * 10**5 + "1"),
    "lambdas": with_cell("lambda: " * 10**5 + "1"),
    "attributes": with_cell("x = a" + ".a" * 10**5),
    "braces in a format": with_cell("f'" + "{" * 10**5),
    "indents": with_cell("\n".join(" " * n + "if 1:" for n in range(1000))),
    "digits": with_cell("x = " + "9" * 10**6),
    "a null": with_cell("x = 1\0" * 1000),
    "half letters": with_cell("x = '\ud800'" * 1000),
    "checks upon checks": with_cell("checks(" * 10**5 + 'checks("' * 10**5),
    "equal ids": lambda: notebook([SETUP, PICK, *(code("x = 1", "pick") for _ in range(MAX_CELLS - 2))]),
    "ids of all kinds": lambda: notebook([SETUP, PICK, *(code("x = 1", f"test_{n}") for n in range(MAX_CELLS - 2))]),
    "ids that are no names": lambda: notebook(
        [SETUP, PICK, *(code("x") | {"id": odd, "metadata": {"nbgrader": {"grade_id": odd}}} for odd in ODD)]
    ),
    "a long id": lambda: notebook([SETUP, PICK, code("x = 1", "x" * 10**6)]),
    "deep metadata": lambda: notebook([SETUP, PICK]).replace(
        b'"metadata": {}', b'"metadata": ' + b'{"a": ' * 900 + b"1" + b"}" * 900
    ),
    "equal keys": lambda: notebook([SETUP, PICK]).replace(b'"source"', b'"source": [[[1]]], "source"'),
    "numbers that are none": lambda: notebook(
        [SETUP, PICK, code("x") | {"metadata": {"nbgrader": {"grade_id": "test_pick", "points": float("inf")}}}]
    ),
    "a large output": lambda: notebook([SETUP, PICK | {"outputs": [{"data": {"text/html": "<b>" * 3_000_000}}]}]),
}
ODD = [None, 1, 1.5, True, [], {}, ["a"], "", " ", "\0", "\ud800", "a\nb", "x" * 300]

# Refused in one sentence.
REFUSED = {
    "twenty thousand ids": lambda: notebook([SETUP, *(code("x", f"g{n}") for n in range(20_000))]),
    "cells without end": lambda: b'{"cells": [' + b"{}," * 10**5 + b"{}]}",
    "a long text": lambda: notebook([SETUP, code("#" * (MAX_TEXT + 1))]),
    "arrays in arrays": lambda: b"[" * 10**6,
    "a million digits": lambda: b'{"cells": [' + b"9" * 10**6 + b"]}",
    "a million pictures": lambda: notebook(
        [SETUP, {"cell_type": "markdown", "source": "", "attachments": {str(n): PICTURE for n in range(20)}}]
    ),
}
PICTURE = {"image/png": "A" * 10**6}


@pytest.mark.parametrize("name", SLOW)
def test_a_notebook_that_is_slow_to_read_is_read(name: str) -> None:
    submission = read_submission(SLOW[name]())
    assert isinstance(submission, GradingPlan)
    assert submission.lesson.name == LESSON
    assert len(submission.repairs) <= 60


@pytest.mark.parametrize("name", REFUSED)
def test_an_unreadable_notebook_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_submission(REFUSED[name]())
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_what_comes_from_the_reader_is_small_and_plain() -> None:
    cells = cells_of(SLOW["ids that are no names"]())
    assert {cell["grade_id"] for cell in cells[2:]} <= {None, " ", "\0", "\ud800", "a\nb"}
    assert json.loads(json.dumps(cells)) == cells


@pytest.mark.parametrize("limit", ["CPU_SECONDS", "MEMORY_BYTES"])
def test_too_much_time_or_memory_ends_one_file_only(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser itself eats without end here: it stands for whatever we have not thought of."""
    own = reader._Reader()
    monkeypatch.setattr(reader, "_READER", own)
    grows = "+ bytes(2**24)" if limit == "MEMORY_BYTES" else ""
    lines = (
        "def eat(data):",
        "    held = b''",
        "    while data != b'good':",
        f"        held = held {grows}",
        "    return 'read'",
    )
    (tmp_path / "eater.py").write_text("\n".join(lines))
    (tmp_path / "started.py").write_text(
        "import cellcheck.running.reading_apart as r\nr.CPU_SECONDS, r._WORK['eat'] = 1, ('eater', 'eat')\nr.main()\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(reader.__file__).parents[2]}")
    monkeypatch.setattr(reader, "MODULE", "started")
    try:
        with pytest.raises(Unreadable, match="more time or memory"):
            reader.read_apart("eat", b"bad")
        assert reader.read_apart("eat", b"good") == "read"
    finally:
        own.close()


def test_a_reader_that_was_killed_is_started_again() -> None:
    def good(number: int) -> bytes:
        return notebook([SETUP, PICK, code(f"ended = {number}")])

    read_submission(good(1))
    process = reader._READER.process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert read_submission(good(2)).lesson.name == LESSON
    assert reader._READER.process is not process


def test_nobody_is_asked_again_about_a_file_that_was_just_read(monkeypatch: pytest.MonkeyPatch) -> None:
    own = reader._Reader()
    asked: list[tuple[str, bytes]] = []

    def answer(work: str, data: bytes) -> bytes:
        asked.append((work, data))
        if data == b"too hard":
            raise TimeoutError
        return json.dumps({"found": "x" * (reader.KEPT_BYTES if data == b"long" else 1)}).encode()

    monkeypatch.setattr(reader, "_READER", own)
    monkeypatch.setattr(own, "_ask", answer)
    for work in ("cells", "cleaned", "cells", "cleaned"):
        assert reader.read_apart(work, b"one") == "x"
    assert asked == [("cells", b"one"), ("cleaned", b"one")]  # two works, each once
    asked.clear()
    for data in (b"too hard", b"long") * 2:
        with contextlib.suppress(Unreadable):
            reader.read_apart("cells", data)
    assert asked == [("cells", b"too hard"), ("cells", b"long")] * 2  # neither is kept
    for number in range(2 * reader.KEPT):
        reader.read_apart("cells", b"%d" % number)
    assert len(own._lately) == reader.KEPT  # memory stays flat
    asked.clear()
    reader.read_apart("cells", b"0")
    assert asked

"""How much a plain notebook may use, and what is said when it is too much."""

import os
from pathlib import Path

import pytest
from nbformat import v4

from cellcheck.gradebook.autograde import MAX_NOTEBOOK_SECONDS, plain_limits
from cellcheck.gradebook.course import Course
from cellcheck.running.grade import grade_submission
from cellcheck.running.limits import Limits
from cellcheck.running.plain_cells import MAX_TEXT, Unreadable, cells_of
from cellcheck.running.usage import Account
from tests.assignments import sources
from tests.assignments.sources import answer, assignment, file_of, hand_in, locked, plain, work
from tests.assignments.sources import test as check_cell
from tests.assignments.test_settings import autograde

WRITES = [answer("size", "size = 1"), check_cell("test_size", 1, "assert size == 60")]
WRITE = "with open('large', 'wb') as file:\n    for _ in range({times}):\n        file.write(bytes(2**20))\nsize = 60"


def course(root: Path, settings: str, cells: int) -> Course:
    (root / "nbgrader_config.py").write_text(sources.CONFIG + settings)
    sources.add(
        root, "hw", {"one": [*(plain("1") for _ in range(cells - 2)), answer("n", "n = 1"), check_cell("t", 1, "n")]}
    )
    return Course.open(root)


@pytest.mark.parametrize(
    ("settings", "cells", "expected"),
    [
        ("", 3, (30, 120, 90)),
        ("", 10, (30, 300, 300)),
        ("c.Execute.timeout = 600\n", 4, (600, 2400, 2400)),
        ("c.Execute.timeout = 600\n", 40, (600, MAX_NOTEBOOK_SECONDS, MAX_NOTEBOOK_SECONDS)),
        ("c.Execute.timeout = None\n", 2, (600, 1200, 1800)),
        ("c.Execute.timeout = 7200\n", 2, (7200, 7200, 21600)),
    ],
)
def test_each_cell_has_the_time_that_nbgrader_gives(
    settings: str, cells: int, expected: tuple[float, float, float], tmp_path: Path
) -> None:
    limits = plain_limits(course(tmp_path, settings, cells), "hw")
    assert (limits.cell_seconds, limits.cpu_seconds, limits.sleep_seconds) == expected


def test_what_is_handed_in_takes_no_room_from_what_is_written() -> None:
    one = assignment("one", {"one": WRITES})
    data = {"one": work(WRITES, {"size": WRITE.format(times=60)})}
    assert grade_submission(data, one, files={"data.bin": bytes(10 * 2**20)}).score == 1
    (test,) = grade_submission({"one": work(WRITES, {"size": WRITE.format(times=90)})}, one).own_tests
    assert "All cells of a notebook together may write 64 MB of files" in test.message, test.message


def test_too_many_files_are_not_called_memory(tmp_path: Path) -> None:
    """Where no wall stops them, somebody looks."""
    account = Account(os.getpid(), str(tmp_path), None)
    (tmp_path / "large").write_bytes(b"x" * 2**16)
    assert account.exceeds(2**40, 2**12) == "files"
    assert account.exceeds(2**40, 2**20) == ""


def test_an_authors_tags_are_kept_and_a_learners_are_not(tmp_path: Path) -> None:
    """nbgrader doesn't run what its author has tagged so."""
    never, always = locked("never", "raise ValueError('slow')\nn = 0"), locked("always", "m = 4")
    never.metadata["tags"] = ["skip-execution"]
    cells = [answer("n", "n = None"), never, always, check_cell("test_n", 1, "assert n == m == 4")]
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "hw", {"one": cells})
    Course.open(tmp_path).ensure_assignment("hw", plain=True)
    folder = hand_in(tmp_path, "hw", "ada", {("one", "n"): "n = 4"})
    notebook = folder / "one.ipynb"
    notebook.write_text(notebook.read_text("utf-8").replace('"skip-execution"', '"mine"'), "utf-8")
    code, output = autograde(tmp_path)
    assert (code, "1 / 1" in output, "slow" in output) == (0, True, False), output


def test_outputs_may_be_many_and_text_may_not() -> None:
    cell = plain("x = 1")
    cell.outputs = [v4.new_output("stream", text="x" * 40 * 2**20)]
    assert len(cells_of(file_of([cell]))) == 1
    with pytest.raises(Unreadable, match="There is too much text in the cells of this notebook"):
        cells_of(file_of([plain("x" * (MAX_TEXT + 1))]))


def test_a_test_may_sleep_for_longer_than_it_may_compute() -> None:
    cells = [answer("n", "n = 0"), check_cell("t", 2, "import time; time.sleep(0.3); assert n == 1")]
    one = assignment("one", {"one": cells})
    done = grade_submission({"one": work(cells, {"n": "n = 1"})}, one, seed=1, limits=Limits(cell_seconds=0.2))
    assert done.score == 2

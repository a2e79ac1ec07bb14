"""Texts and names that no file, and no gradebook, can hold cost themselves only, and a sentence says what to do."""

import os
import shutil
from pathlib import Path

from cellcheck.gradebook.course import Course
from tests.assignments import sources
from tests.assignments.sources import answer, hand_in
from tests.assignments.sources import test as check_cell
from tests.assignments.test_settings import autograde, course_with

HALF = "\ud800"


def test_half_a_letter_in_an_answer(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    cells = [
        answer("n", "n = None"),
        check_cell("test_n", 1, "assert n == 4"),
        answer("why", "Why?", 2, "markdown"),
        answer("how", "how = 1", 2),
    ]
    sources.add(tmp_path, "hw", {"one": cells})
    Course.open(tmp_path).ensure_assignment("hw", plain=True)
    folder = hand_in(tmp_path, "hw", "ada", {("one", "n"): "n = 4", ("one", "why"): "HALF", ("one", "how"): "# HALF"})
    notebook = folder / "one.ipynb"
    notebook.write_text(notebook.read_text("utf-8").replace("HALF", "half a letter: \\ud800"), "utf-8")
    code, output = autograde(tmp_path)
    assert (code, "1 / 1" in output or "1 / 5" in output) == (0, True), output
    assert "half a letter: ?" in (tmp_path / "autograded" / "ada" / "hw" / "one.ipynb").read_text("utf-8")


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course")
    (root / "submitted" / "bob").rename(root / "submitted" / os.fsdecode(b"bo\xff"))
    code, output = autograde(root)
    output = " ".join(output.split())
    assert code == 1
    assert "The folder's name isn't text (UTF-8): rename it, and grade again." in output
    assert "2 / 2" in output  # ada's


def test_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course")
    (root / "submitted" / "ada" / "hw" / os.fsdecode(b"da\xffta.csv")).write_text("1")
    shutil.rmtree(root / "submitted" / "bob")
    code, output = autograde(root)
    assert (code, "2 / 2" in output) == (0, True), output

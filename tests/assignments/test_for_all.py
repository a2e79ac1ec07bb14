"""What goes wrong for a whole class, or in silence, is said in one sentence."""

import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.collecting.names import BLACKBOARD, TYPED, label
from cellcheck.files import remove_folder
from cellcheck.gradebook.course import Course
from cellcheck.running.handed_in import MAX_OTHER_BYTES, MAX_OTHER_FILES, left_out, other_files
from cellcheck.running.result import HandResult, Result
from cellcheck.tables import in_a_few_words
from tests.assignments import sources
from tests.assignments.sources import answer, hand_in, locked
from tests.assignments.sources import test as check_cell
from tests.assignments.test_settings import autograde, course_with


def test_a_locked_cell_that_stops_for_everybody_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    cells = [locked("setup", "import surely_not_there"), answer("n", "n = 1"), check_cell("test_n", 1, "assert n == 4")]
    sources.add(tmp_path, "hw", {"one": cells})
    Course.open(tmp_path).ensure_assignment("hw", plain=True)
    for student in ("ada", "bob", "cy"):
        hand_in(tmp_path, "hw", student, {("one", "n"): "n = 4"})
    code, output = autograde(tmp_path)
    assert code == 0
    assert (
        output.count("In all 3 submissions a locked cell of yours stopped. The cell setup: It stops with Module") == 1
    )


@pytest.mark.parametrize("folder", ["Kurs [2026]", "what?"])
def test_a_path_that_nbgrader_takes_for_a_pattern(folder: str, tmp_path: Path) -> None:
    root = tmp_path / folder
    course_with(tmp_path / "plain")
    shutil.rmtree(tmp_path / "plain" / "release")
    (tmp_path / "plain" / "gradebook.db").unlink()
    (tmp_path / "plain").rename(root)
    code, output = autograde(root)
    assert (code, "nbgrader can't work in a folder that has [, ], * or ? in its path" in output) == (2, True), output


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course")
    (root / "source" / "hw" / "data.csv").symlink_to("/mnt/not there/data.csv")
    code, output = autograde(root)
    assert (code, "data.csv is a link to /mnt/not there/data.csv, which isn't there" in output) == (2, True), output


def test_files_that_are_left_out_are_named(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course")
    folder = root / "submitted" / "ada" / "hw"
    with (folder / "big.bin").open("wb") as file:
        file.truncate(MAX_OTHER_BYTES + 2**20)  # takes no room on the disk
    (folder / "small.bin").write_bytes(b"1")
    assert other_files(folder) == {"small.bin": b"1"}
    (sentence,) = left_out(folder)
    assert sentence.endswith("when it is graded: big.bin (33 MB).")
    assert autograde(root)[0] == 0
    assert sentence in (root / "feedback" / "ada" / "hw" / "one.html").read_text("utf-8")
    assert left_out(root / "submitted" / "bob" / "hw") == ()
    for number in range(MAX_OTHER_FILES + 5):
        (folder / f"{number:03}.txt").write_text("1")
    assert left_out(folder)[0].endswith(": 200.txt, 201.txt, 202.txt, 4 more files.")


def test_a_folder_of_any_depth_is_removed(tmp_path: Path) -> None:
    here = os.getcwd()
    top = tmp_path / "top"
    top.mkdir()
    (top / "file").write_text("1")
    (top / "link").symlink_to(tmp_path)
    os.chdir(top)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    remove_folder(top)
    assert list(tmp_path.iterdir()) == []


def test_blackboards_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = course_with(tmp_path / "course")
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    for day, who in ((30, "bob"), (31, "ada")):  # the right answer is ada's
        shutil.copy(
            root / "submitted" / who / "hw" / "one.ipynb",
            downloads / f"hw_eve_attempt_2026-01-{day}-20-30-10_one.ipynb",
        )
    (downloads / "hw_eve_attempt_2026-01-31-20-30-10.txt").write_text("Here it is.")
    shutil.rmtree(root / "submitted")
    monkeypatch.chdir(root)
    done = CliRunner().invoke(cli.app, ["collect", str(downloads), "--lesson", "hw"])
    assert done.exit_code == 0, done.output
    folder = root / "submitted" / "eve" / "hw"
    assert (folder / "timestamp.txt").read_text("utf-8").startswith("2026-01-31 20:30:10")
    assert "2 / 2" in autograde(root)[1]
    typed = label(["Home work_a-b_attempt_2026-01-31-20-30-10.txt"])
    assert typed is not None
    assert typed.owner is not None
    assert (typed.owner.platform, typed.owner.name, typed.kind) == (BLACKBOARD, "a-b", TYPED)


def test_small_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Result("x", "hw", (), (), 0.1, by_hand=(HandResult("why", None, 2.0),))
    assert in_a_few_words(waiting) == "1 to grade by hand"
    root = course_with(tmp_path / "course")
    shutil.rmtree(root / "submitted" / "bob")
    assert autograde(root)[0] == 0
    monkeypatch.chdir(root)
    assert "Feedback for 1 learner, written again." in CliRunner().invoke(cli.app, ["feedback", "hw"]).output

"""`cellcheck handback`: pages go back to where the submissions came from."""

import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.collecting.collect import collect
from cellcheck.collecting.names import CANVAS, MOODLE, as_named
from tests.collecting.downloads import LESSON, download, notebook

MOODLES = {
    "Ada Lovelace": "Ada Lovelace_7_assignsubmission_file/deep/x.ipynb",
    "Bob Brown": "Bob Brown_8_assignsubmission_file_y.ipynb",
    "Cy Brown": "Cy Brown_9_assignsubmission_file_/z.zip",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def collected(root: Path, *names: str) -> None:
    """Collects a download, and gives everybody who is in it a page."""
    packed = download(root / "packed.zip", ("q.ipynb", notebook("q"))).read_bytes()
    entries = [(name, packed if name.endswith(".zip") else notebook(name)) for name in names]
    done = collect([download(root / "all.zip", *entries)], root / "submitted")
    assert len(done.placed) == len(names)
    for submission, _ in done.placed:
        page = root / "feedback" / submission.student / LESSON / f"{LESSON}.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"for {submission.student}")


def handed_back(*options: str, code: int = 0) -> tuple[dict[str, str], str]:
    done = CliRunner().invoke(cli.app, ["handback", LESSON, "--out", "back.zip", *options])
    assert done.exit_code == code, done.output
    with zipfile.ZipFile("back.zip") as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}, done.output


def test_moodle_finds_its_own_folders(root: Path) -> None:
    collected(root, *MOODLES.values())
    files, _ = handed_back("--to", "moodle")
    assert files == {
        f"Ada Lovelace_7_assignsubmission_file/{LESSON}.html": "for Ada_Lovelace",
        f"Bob Brown_8_assignsubmission_file_/{LESSON}.html": "for Bob_Brown",
        f"Cy Brown_9_assignsubmission_file_/{LESSON}.html": "for Cy_Brown",
    }
    for name in files:  # as importziplib.php reads it
        folder = name.split("/")[0].split("_", 4)
        assert (folder[1].isdigit(), folder[2:4]) == (True, ["assignsubmission", "file"])


def test_canvas_finds_its_own_numbers(root: Path) -> None:
    collected(root, "lovelaceada_LATE_41_1001_x.ipynb", "brownbob_42_1002_y-2.ipynb")
    files, _ = handed_back("--to", "canvas")
    assert files == {
        f"lovelaceada_LATE_41_1001_{LESSON}.html": "for lovelaceada",
        f"brownbob_42_1002_{LESSON}.html": "for brownbob",
    }
    for name in files:  # as Canvas reads it: the first two numbers between underscores
        numbers = [part for part in name.split("_") if part.isdigit()]
        assert len(numbers) >= 2


def test_everybody_has_a_folder(root: Path) -> None:
    collected(root, *MOODLES.values())
    files, output = handed_back()
    assert set(files) == {f"{name}/{LESSON}.html" for name in ("Ada_Lovelace", "Bob_Brown", "Cy_Brown")}
    assert "3 pages" in output


def test_who_has_no_place_there_is_named(root: Path) -> None:
    collected(root, MOODLES["Bob Brown"])
    page = root / "feedback" / "dee" / LESSON / f"{LESSON}.html"
    page.parent.mkdir(parents=True)
    page.write_text("for dee")
    files, output = handed_back("--to", "moodle", code=1)
    assert list(files.values()) == ["for Bob_Brown"]
    assert "Not in it: dee." in output


def test_without_pages_there_is_nothing_to_hand_back(root: Path) -> None:
    done = CliRunner().invoke(cli.app, ["handback", LESSON])
    assert done.exit_code != 0
    assert "no feedback pages" in str(done.exception)
    assert not list(root.glob("*.zip"))


def test_a_name_inside_a_learners_own_zip_file_is_nobodys() -> None:
    inner = "x.zip/Ada Lovelace_7_assignsubmission_file_x.ipynb"
    assert as_named(MOODLE, inner) == ""
    assert as_named(CANVAS, "brownbob_42_1002_y.zip/lovelaceada_41_1001_x.ipynb") == "brownbob_42_1002_"

"""`cellcheck collect` on the command line: the table, the doubts, and the exit codes."""

import shutil
from pathlib import Path

import pytest

from cellcheck import cli
from cellcheck.repository import Repository
from tests.collecting.downloads import LESSON, OTHER, download, notebook, tree
from tests.shell import Run


@pytest.fixture
def run(grader: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `cellcheck collect` on a wide terminal."""
    monkeypatch.setattr(cli.classes.out, "width", 200)
    return lambda *arguments: grader("collect", *arguments)


def test_into_the_course_that_one_stands_in(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = download(tmp_path / "m.zip", ("Ada [L]_7_assignsubmission_file_x.ipynb", notebook()))
    monkeypatch.chdir(tmp_path)
    ran = run(path)
    assert (ran.code, ran.out) == (2, "")
    assert "is not an nbgrader course: go to the folder that holds nbgrader_config.py." in ran.err
    shutil.copy(Repository.find(Path(__file__).parent).root / "nbgrader_config.py", tmp_path)
    ran = run(path)
    assert (ran.code, ran.err) == (0, "")
    assert [line.split() for line in ran.out.splitlines()[1:]] == [
        ["Ada", "[L]", "(7),", "Moodle", "Ada_L", LESSON, "collected"],
        ["1", "collected"],
    ]
    assert tree(tmp_path / "submitted") == {f"Ada_L/{LESSON}/{LESSON}.ipynb"}


def test_doubts_are_listed_and_the_rest_is_collected(run: Run, tmp_path: Path) -> None:
    path = download(
        tmp_path / "a.zip", ("ada/x.ipynb", notebook()), ("[red]bob/x.ipynb", b"{"), ("cy/x.ipynb", notebook("", OTHER))
    )
    ran = run(path, "--into", tmp_path / "in", "--lesson", "01")
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "1 collected, 2 in doubt"
    doubts = ran.err.splitlines()
    assert doubts[0].startswith("[red]bob/x.ipynb: This is not a notebook: it is not valid JSON (line 1).")
    assert doubts[1] == f"cy/x.ipynb: It is a notebook of lesson {OTHER}, not of {LESSON}."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["gone.zip"], "There is no gone.zip."),
        (["empty"], "There is no notebook in empty."),
        (["empty", "--lesson", "99"], "There is no lesson '99'."),
        (["empty", "--roster", "gone.csv"], "The roster gone.csv can't be read: No such file or directory."),
        ([], "Missing argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    ran = run(*arguments, "--into", "in")
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "in").exists()

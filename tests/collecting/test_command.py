"""`grader collect` on the command line: the table, the doubts, and the exit codes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.repository import Repository
from tests.collecting.downloads import LESSON, OTHER, download, notebook, tree

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `grader collect`, as a shell would, on a wide terminal."""
    monkeypatch.setattr(cli.classes.out, "width", 200)

    def collect(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["grader", "collect", *map(str, arguments)])
        code: Any = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return collect


def test_into_the_course_that_one_stands_in(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = download(tmp_path / "m.zip", ("Ada [L]_7_assignsubmission_file_x.ipynb", notebook()))
    monkeypatch.chdir(tmp_path)
    code, out, err = run(path)
    assert (code, out) == (2, "")
    assert "is not an nbgrader course: go to the folder that holds nbgrader_config.py." in err
    shutil.copy(Repository.find(Path(__file__).parent).root / "nbgrader_config.py", tmp_path)
    code, out, err = run(path)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["Ada", "[L]", "(7),", "Moodle", "Ada_L", LESSON, "collected"],
        ["1", "collected"],
    ]
    assert tree(tmp_path / "submitted") == {f"Ada_L/{LESSON}/{LESSON}.ipynb"}


def test_doubts_are_listed_and_the_rest_is_collected(run: Run, tmp_path: Path) -> None:
    path = download(
        tmp_path / "a.zip", ("ada/x.ipynb", notebook()), ("[red]bob/x.ipynb", b"{"), ("cy/x.ipynb", notebook("", OTHER))
    )
    code, out, err = run(path, "--into", tmp_path / "in", "--lesson", "01")
    assert code == 1
    assert out.splitlines()[-1] == "1 collected, 2 in doubt"
    assert err.splitlines()[0].startswith("[red]bob/x.ipynb: This is not a notebook: it is not valid JSON (line 1).")
    assert err.splitlines()[1] == f"cy/x.ipynb: It is a notebook of lesson {OTHER}, not of {LESSON}."


def test_a_roster_says_who_is_who(run: Run, tmp_path: Path) -> None:
    path = download(tmp_path / "c.zip", ("lovelaceada_41_9_x.ipynb", notebook()), ("who_42_9_x.ipynb", notebook()))
    (tmp_path / "r.csv").write_text("student,canvas_id\nada,41\n", "utf-8")
    code, _, err = run(path, "--into", tmp_path / "in", "--roster", tmp_path / "r.csv")
    assert (code, sorted(path.name for path in (tmp_path / "in").glob("[a-z]*"))) == (1, ["ada"])
    assert err == "who_42_9_x.ipynb: who (42) is not in the roster, or is there more than once.\n"


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
    code, out, err = run(*arguments, "--into", "in")
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
    assert not (tmp_path / "in").exists()

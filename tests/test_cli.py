"""The command line: exit codes, the JSON file, and errors that are one sentence."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cellcheck.batch import grade_files
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson
from tests.shell import Run
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

REPOSITORY = Repository.find(Path(__file__).parent)


def one_sentence(text: str) -> bool:
    return "Traceback" not in text and len(text.strip().splitlines()) == 1 and text.strip().endswith(".")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    (folder / "half [done].ipynb").write_text(HONEST[4].hand_in(released), "utf-8")
    (folder / "blank.ipynb").write_text(released, "utf-8")
    (folder / "broken.ipynb").write_text("{")
    return folder


# --- grade ------------------------------------------------------------------------------------------------------


def test_one_unreadable_file_among_good_ones(grader: Run, files: Path, tmp_path: Path) -> None:
    names = ["half [done].ipynb", "broken.ipynb", "missing.ipynb", "blank.ipynb"]
    target = tmp_path / "results.json"
    ran = grader("grade", *(files / name for name in names), "--json", target, "--seed", "5", "--jobs", "2")
    assert ran.code == 1
    assert "seed 5" in ran.out
    assert "Traceback" not in ran.out + ran.err
    written = json.loads(target.read_text("utf-8"))
    assert list(written) == ["version", "results", "errors"]
    assert written["version"] == 1
    half, blank = written["results"]  # in the order they were named, whichever was ready first
    assert half["notebook"] == str(files / "half [done].ipynb")
    assert blank["notebook"] == str(files / "blank.ipynb")
    for result in written["results"]:  # their form is held to the schema in tests/test_api.py
        assert "explain" not in [exercise["symbol"] for exercise in result["exercises"]]  # graded by hand
    exercises = load_lesson(LESSON).exercises
    assert half["score"] == sum(exercise.points for exercise in exercises[:6])
    assert half["max_score"] == sum(exercise.points for exercise in exercises)
    assert blank["score"] == 0
    broken, missing = written["errors"]
    assert broken["notebook"].endswith("broken.ipynb")
    assert "not valid JSON" in broken["message"]
    assert missing["message"] == "There is no such file."


def test_ctrl_c_keeps_what_is_graded(grader: Run, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = grade_files

    def interrupted(*arguments: Any) -> Iterator[Any]:
        yield next(outcomes(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr("cellcheck.batch.grade_files", interrupted)
    target = tmp_path / "results.json"
    ran = grader("grade", files / "blank.ipynb", files / "half [done].ipynb", "--json", target)
    assert ran.code == 1
    assert "not graded: The run was stopped." in " ".join(ran.out.split())
    written = json.loads(target.read_text())
    assert [Path(result["notebook"]).name for result in written["results"]] == ["blank.ipynb"]
    assert [error["message"] for error in written["errors"]] == ["The run was stopped."]


def test_graded_is_zero_whatever_the_marks(grader: Run, files: Path, tmp_path: Path) -> None:
    ran = grader("grade", files / "blank.ipynb", "--lesson", "01", "--json", tmp_path / "a.json")
    assert ran.code == 0
    seed = re.search(r"hidden cases drawn from seed (\d+)", ran.out)
    assert seed
    assert json.loads((tmp_path / "a.json").read_text())["errors"] == []


def test_a_json_file_that_cannot_be_written(grader: Run, files: Path, tmp_path: Path) -> None:
    ran = grader("grade", files / "broken.ipynb", "--json", tmp_path / "no" / "folder.json")
    assert ran.code == 2
    assert "folder.json" in ran.err
    assert one_sentence(ran.err)


# --- wrong usage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["grade"],
        ["grade", "a.ipynb", "--nonsense"],
        ["grade", "a.ipynb", "--jobs", "0"],
        ["grade", "a.ipynb", "--seed", "many"],
        ["grade", "a.ipynb", "--json", "."],
        ["autograde"],
        ["nonsense"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_two(grader: Run, arguments: list[str]) -> None:
    ran = grader(*arguments)
    assert ran.code == 2
    assert ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade", "a.ipynb", "--lesson", "99"], "There is no lesson '99'. These exist: "),
        (["autograde", "99"], "There is no lesson '99'. These exist: "),
        (["autograde", "01"], "is not an nbgrader course: go to the folder that holds nbgrader_config.py."),
        (["build"], "make a course with cellcheck new course FOLDER."),
        (["build", "--check"], "is not inside a course's repository"),
        (["demo"], "is not inside a course's repository"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_is_one_sentence(
    grader: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = grader(*arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert one_sentence(ran.err)
    assert ran.out == ""
    assert list(tmp_path.iterdir()) == []


def test_errors_inside_the_repository(grader: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY.root)
    ran = grader("build", "99")
    assert (ran.code, one_sentence(ran.err)) == (2, True)
    assert "There is no lesson '99'" in ran.err
    (tmp_path / "something").touch()
    ran = grader("demo", "--folder", tmp_path)
    assert (ran.code, one_sentence(ran.err)) == (2, True)
    assert "is not empty: name a new folder" in ran.err
    # A course without submissions.
    shutil.copy(REPOSITORY.root / "nbgrader_config.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = grader("autograde", "01")
    assert (ran.code, one_sentence(ran.err)) == (2, True)
    assert f"There are no submissions of {LESSON}" in ran.err


def test_text_in_brackets_is_no_style(grader: Run, tmp_path: Path) -> None:
    """A file or lesson called `[red]` is printed as it is."""
    ran = grader("grade", "a.ipynb", "--lesson", "[red]x[/red]")
    assert "'[red]x[/red]'" in ran.err
    ran = grader("grade", tmp_path / "[bold]a.ipynb")
    assert ran.code == 1
    assert "[bold]" in ran.out.replace("\n", "")


# --- build --check ----------------------------------------------------------------------------------------------


def test_build_check_says_what_is_out_of_step(grader: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from cellcheck.building import build

    monkeypatch.chdir(REPOSITORY.root)
    monkeypatch.setattr(build, "out_of_step", lambda repository, lesson: [])
    ran = grader("build", "--check")
    assert (ran.code, ran.out.splitlines()) == (0, [f"{name}: in step" for name in REPOSITORY.names()])
    monkeypatch.setattr(build, "out_of_step", lambda repository, lesson: [f"{lesson} is old{100 * '.'}"])
    ran = grader("build", "01", "--check")
    assert ran.code == 1
    assert ran.err == f"{LESSON} is old{100 * '.'}\nRun: cellcheck build\n"


# --- the two ways in --------------------------------------------------------------------------------------------


def test_python_m_grader_is_grader() -> None:
    script = Path(sys.executable).parent / "cellcheck"
    ways = [[str(script)], [sys.executable, "-m", "cellcheck"]]
    for arguments, code in (["--help"], 0), (["grade", "a.ipynb", "--lesson", "99"], 2):
        ran = [subprocess.run([*way, *arguments], capture_output=True, text=True, check=False) for way in ways]
        assert [done.returncode for done in ran] == [code, code]
        one, other = (re.sub(r"Usage: \S+( -m cellcheck)?", "Usage:", done.stdout + done.stderr) for done in ran)
        assert one.split() == other.split()
        assert "Traceback" not in one
        if code == 0:
            assert {"build", "demo", "grade", "autograde"} <= set(one.split())

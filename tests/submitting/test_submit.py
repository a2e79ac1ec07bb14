"""`submit()` without an exchange: one file, or one sentence."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import types
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import cellcheck
from cellcheck.learning import progress
from cellcheck.learning.offers import released
from cellcheck.repository import Repository
from cellcheck.submitting import submit as submitting
from cellcheck.submitting import zip_file as package
from cellcheck.submitting.not_submitted import NotSubmitted
from cellcheck.submitting.unsaved import not_in_the_file
from cellcheck.syllabus import lesson_names, load_lesson
from tests.submitting.small_notebooks import LESSON, SETUP, notebook

REPOSITORY = Repository.find(Path(__file__).parent)
NAME = f"{LESSON}.submission.zip"
ANSWER = "def mse_loss(params, batch):\n    return 3"


@dataclass
class Shell:
    """As much of IPython's shell as is asked."""

    ran: list[str] = field(default_factory=list)
    user_ns: dict[str, Any] = field(default_factory=dict)

    @property
    def history_manager(self) -> Any:
        return types.SimpleNamespace(input_hist_raw=["", *self.ran])


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    shell = Shell()
    monkeypatch.setattr(submitting, "_shell", lambda: shell)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setattr(submitting, "_asked_to_save", {})
    return shell


@pytest.fixture
def file(tmp_path: Path, shell: Shell) -> Path:
    """A learner's notebook, that VS Code says is this one."""
    path = tmp_path / "my answers.ipynb"
    path.write_bytes(notebook(ANSWER))
    shell.user_ns["__vsc_ipynb_file__"] = str(path)
    return path


def sentence(**arguments: Any) -> str:
    """The one sentence that submit() says instead of handing in."""
    with pytest.raises(NotSubmitted) as caught:
        cellcheck.submit(**arguments)
    (line,) = caught.value._render_traceback_()
    assert "\n" not in line
    assert line.endswith(".")
    return line


def test_it_writes_one_file_and_says_what_to_do(file: Path) -> None:
    receipt = cellcheck.submit()
    target = file.parent / NAME
    assert receipt.path == target
    assert sorted(file.parent.iterdir()) == sorted([file, target])
    with zipfile.ZipFile(target) as archive:
        assert sorted(archive.namelist()) == [f"{LESSON}.ipynb", "submission.json"]
        assert archive.read(f"{LESSON}.ipynb") == file.read_bytes()
        note = json.loads(archive.read("submission.json"))
    assert list(note) == ["format", "version", "lesson", "course", "sha256", "time"]  # nobody's name
    assert note["lesson"] == LESSON
    assert note["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    text = repr(receipt)
    assert text.startswith(f"Ready to hand in: {NAME}.\nIt is in {file.parent}, and holds the notebook as you saved it")
    assert "12 exercises are still blank (batched_dot, pick, mlp_predict_numpy, " in text
    assert "and 7 more)" in text
    assert text.endswith("Upload this file where your class hands in its work.")
    assert receipt._repr_html_().startswith('<div role="status"><p>Ready to hand in')


@pytest.mark.usefixtures("shell")
def test_it_says_what_is_missing_and_leads_to_the_file_and_to_the_next_lesson(tmp_path: Path) -> None:
    mine, after = (tmp_path / name / f"{name}.ipynb" for name in lesson_names()[:2])
    for path in (mine, after):
        path.parent.mkdir()
        shutil.copy(released()[path.stem], path)
    receipt = cellcheck.submit(path=mine)
    assert "13 exercises are still blank" in repr(receipt)
    assert "your answer in words is missing" in repr(receipt)
    assert repr(receipt).endswith(f"\nThe next lesson: {after.name}")
    addresses = re.findall(r'<a href="([^"]+)">', receipt._repr_html_())
    assert [(mine.parent / address).resolve() for address in addresses] == [receipt.path, after]
    shutil.copy(REPOSITORY.solution(mine.stem), mine)
    after.unlink()
    receipt = cellcheck.submit(path=mine)
    assert "; all 13 exercises are written." in repr(receipt)
    assert "words" not in repr(receipt)
    assert "next lesson" not in repr(receipt)
    assert "solved" not in repr(receipt)  # nobody has checked anything


@pytest.mark.usefixtures("shell")
def test_it_says_what_the_checks_have_found_right(tmp_path: Path) -> None:
    mine = tmp_path / LESSON / f"{LESSON}.ipynb"
    mine.parent.mkdir()
    shutil.copy(REPOSITORY.solution(LESSON), mine)
    exercises = load_lesson(LESSON).exercises
    for exercise in exercises[1:]:
        progress.remember(tmp_path, LESSON, exercise.symbol, exercise.points)
    still = f"By your checks, 12 of 13 exercises are solved; still open: {exercises[0].symbol}."
    assert still in repr(cellcheck.submit(path=mine))
    progress.remember(tmp_path, LESSON, exercises[0].symbol, exercises[0].points)
    assert repr(cellcheck.submit(path=mine)).endswith("\nBy your checks, 13 of 13 exercises are solved.")


@pytest.mark.usefixtures("shell")
def test_what_was_solved_and_never_saved_is_asked_for(tmp_path: Path) -> None:
    mine = tmp_path / LESSON / f"{LESSON}.ipynb"
    mine.parent.mkdir()
    shutil.copy(released()[LESSON], mine)
    solved = load_lesson(LESSON).exercises[0]
    progress.remember(tmp_path, LESSON, solved.symbol, solved.points)
    message = repr(cellcheck.submit(path=mine))
    assert "By your checks, 1 of 13 exercises is solved; still open: " in message
    assert f"It doesn't hold your answer to {solved.symbol}: save the notebook, then run this cell again." in message


def test_a_name_is_in_it_only_if_given(file: Path) -> None:
    cellcheck.submit(name="Ada Lovelace")
    note = package.made_before(file.parent / NAME)
    assert note.name == "Ada Lovelace"


def test_submitting_twice(file: Path) -> None:
    cellcheck.submit()
    before = (file.parent / NAME).read_bytes()
    assert "Nothing changed since " in repr(cellcheck.submit())
    assert (file.parent / NAME).read_bytes() == before
    file.write_bytes(notebook(ANSWER, "x = 1"))
    assert "It replaces the one of " in repr(cellcheck.submit())
    assert (file.parent / NAME).read_bytes() != before


def test_a_wrong_lesson(file: Path) -> None:
    message = sentence(lesson="02")
    assert message == f"This is a notebook of lesson {LESSON}, not of 02_tokenizer: nothing was handed in."
    assert "There is no lesson '99'" in sentence(lesson="99")
    assert not (file.parent / NAME).exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b"Dear teacher", "This is not a notebook"),
        (notebook(setup="x = 1"), "No lesson of this course fits"),
    ],
)
def test_no_notebook_of_this_course(file: Path, content: bytes, words: str) -> None:
    file.write_bytes(content)
    assert words in sentence()


def test_no_notebook_found(shell: Shell, tmp_path: Path) -> None:
    assert "name its file, as in submit(path='my_notebook.ipynb')" in sentence()
    assert "There is no such file." in sentence(path=tmp_path / "gone.ipynb")


def test_no_right_to_write(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = sentence(into=tmp_path / "no" / "folder")
    assert "can't be written (No such file or directory)" in message
    assert "submit(into='my_folder')" in message

    def refuse(path: Path, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(submitting, "write_whole", refuse)
    assert f"{tmp_path / NAME} can't be written (Permission denied)" in sentence()


def test_somebody_elses_file_stays(file: Path) -> None:
    theirs = file.parent / NAME
    theirs.write_text("my holiday pictures")
    assert "submit() did not write it: move it away first" in sentence()
    assert theirs.read_text() == "my holiday pictures"
    theirs.unlink()
    theirs.symlink_to(file.parent / "nowhere")
    assert "move it away first" in sentence()


# --- saved or not -----------------------------------------------------------------------------------------------


def test_it_asks_to_save_first_and_does_nothing(file: Path, shell: Shell) -> None:
    newer = "def mse_loss(params, batch):\n    return 4"
    shell.ran = [SETUP, ANSWER, newer, "cellcheck.submit()"]
    assert "Save the notebook first" in sentence()
    assert "(mse_loss) is not in my answers.ipynb yet" in sentence()
    assert not (file.parent / NAME).exists()
    file.write_bytes(notebook(newer))
    assert cellcheck.submit().path is not None


def test_what_was_overwritten_need_not_be_in_the_file(file: Path, shell: Shell) -> None:
    shell.ran = ["def mse_loss(a):\n    raise NotImplementedError", ANSWER + "  \n", "mse_loss(1, 2)", "x = 7"]
    assert cellcheck.submit().path is not None


def test_who_saved_after_being_asked_is_believed(file: Path, shell: Shell) -> None:
    """A cell that was run and then deleted is not in the file, and never will be."""
    shell.ran = ["def scratch():\n    return 1"]
    assert "(scratch)" in sentence()
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 10**9))
    assert cellcheck.submit().path is not None


def test_attempts_that_do_not_parse_count_too() -> None:
    broken = "%%time\ndef pick(values:\n    return"
    assert not_in_the_file([broken], notebook()) == ["pick"]
    assert not_in_the_file([broken], notebook(broken)) == []


# --- Colab ------------------------------------------------------------------------------------------------------


@pytest.fixture
def colab(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Colab's modules, as far as they are asked; `answer` is what the browser sends."""
    asked = types.SimpleNamespace(answer={"ipynb": json.loads(notebook(ANSWER))}, downloads=[])
    message, files = types.ModuleType("google.colab._message"), types.ModuleType("google.colab.files")
    vars(message)["blocking_request"] = lambda what, request="", timeout_sec=5: (
        asked.answer if what == "get_ipynb" else None
    )
    vars(files)["download"] = asked.downloads.append
    for name, module in (
        ("google.colab", types.ModuleType("google.colab")),
        ("google.colab._message", message),
        ("google.colab.files", files),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.chdir(tmp_path)
    return asked


def test_in_colab_the_browser_gives_the_notebook(colab: Any, tmp_path: Path) -> None:
    receipt = cellcheck.submit()
    assert colab.downloads == [str(tmp_path / NAME)]
    assert "Your browser is downloading it." in repr(receipt)
    with zipfile.ZipFile(tmp_path / NAME) as archive:
        assert json.loads(archive.read(f"{LESSON}.ipynb")) == json.loads(notebook(ANSWER))


@pytest.mark.parametrize("answer", [None, {}, {"ipynb": object()}])
def test_where_colab_does_not_answer_the_menu_does(colab: Any, answer: Any) -> None:
    colab.answer = answer
    assert sentence() == (
        "Colab did not hand over the notebook. Choose File > Download > Download .ipynb, and hand in that file."
    )


# --- surroundings -----------------------------------------------------------------------------------------------


def test_nothing_is_handed_in_while_grading(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert "is being graded" in sentence()


def test_it_needs_nothing_that_colab_lacks(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook())
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    code = (
        "import sys\n"
        "for name in ('nbgrader', 'nbformat', 'jupytext', 'rich', 'typer', 'yaml', 'nbclient', 'jupyter_server'):\n"
        "    sys.modules[name] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'nbgrader' else find(name, *a)\n"
        "import cellcheck\nprint(cellcheck.submit(path=sys.argv[1]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.ipynb")], capture_output=True, text=True, check=False
    )
    assert ran.stdout.startswith(f"Ready to hand in: {NAME}"), ran.stderr

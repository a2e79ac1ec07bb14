"""After a restart, before the set-up cell: one sentence says what to run, in a real kernel of a lesson's notebook."""

import os
from pathlib import Path
from typing import Any

import pytest

from cellcheck import lab
from tests.kernels import outputs_in_a_kernel

STARTUP = Path(lab.__file__).with_name("new_kernel.py")
CELLS = {
    "check": "check(pick)",
    "own": "def twice(x):\n    return y\ntwice(1)",
    "library": "import collections\ncollections.namedtuple('a', 'b')(1, 2)",
    "names": "print(sorted(name for name in globals() if 'set_up' in name or 'notebook' in name))",
    "set-up": 'import cellcheck\ncheck = cellcheck.checks("01_pytorch_basics")',
    "after": "check(pick)",
}


def ran(folder: Path, text: str) -> dict[str, list[Any]]:
    notebook = folder / "a.ipynb"
    notebook.write_text(text, "utf-8")
    env = {**os.environ, "PYTHONSTARTUP": str(STARTUP), "JPY_SESSION_NAME": str(notebook)}
    return outputs_in_a_kernel(CELLS, folder, env)


@pytest.fixture(scope="module")
def in_a_lesson(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return ran(tmp_path_factory.mktemp("lesson"), '"# @title Set-up: run this cell first."')


@pytest.mark.parametrize(("cell", "name"), [("check", "check"), ("own", "y")])
def test_it_says_to_run_the_set_up(in_a_lesson: dict[str, list[Any]], cell: str, name: str) -> None:
    (error,) = in_a_lesson[cell]
    assert error.ename == "NameError"
    (line,) = error.traceback
    assert line.startswith(f"`{name}` isn't there yet: the kernel has just started")


def test_other_errors_and_names_are_left_alone(in_a_lesson: dict[str, list[Any]]) -> None:
    (error,) = in_a_lesson["library"]
    assert "TypeError" in "".join(error.traceback)
    assert in_a_lesson["names"][0].text == "[]\n"


def test_the_set_up_cell_says_it_better(in_a_lesson: dict[str, list[Any]]) -> None:
    (error,) = in_a_lesson["after"]
    assert error.traceback[0].startswith("`pick` isn't there yet: run its cell above")


def test_in_another_notebook_nothing_changes(tmp_path: Path) -> None:
    (error,) = ran(tmp_path, "{}")["check"]
    assert "NameError" in "".join(error.traceback)
    assert "just started" not in "".join(error.traceback)


def test_jupyters_kernels_run_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Server:
        root_dir, base_url = str(tmp_path), "/"

        class web_app:  # noqa: N801
            @staticmethod
            def add_handlers(*_: object) -> None: ...

    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")  # the menu adds to it
    monkeypatch.setenv("PYTHONSTARTUP", "")  # whatever it is, it is as before when this ends
    del os.environ["PYTHONSTARTUP"]
    lab._load_jupyter_server_extension(Server)
    assert os.environ["PYTHONSTARTUP"] == str(STARTUP)
    monkeypatch.setenv("PYTHONSTARTUP", "mine.py")
    lab._load_jupyter_server_extension(Server)
    assert os.environ["PYTHONSTARTUP"] == "mine.py"

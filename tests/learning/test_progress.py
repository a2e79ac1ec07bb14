"""The record of what was solved: kept, never in the way, and only of what a person does."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from cellcheck.learning import progress
from cellcheck.tutoring.desk import Desk
from tests.learning.learners import LESSON, answer, own


def test_the_best_score_is_kept(tmp_path: Path) -> None:
    for symbol, score in (("pick", 0.5), ("pick", 1.0), ("pick", 0.25), ("train", 2.0)):
        progress.remember(tmp_path, LESSON, symbol, score)
    progress.remember(tmp_path, "05_causal_masks", "causal_mask", 2.0)
    assert progress.read(tmp_path) == {
        LESSON: {"pick": 1.0, "train": 2.0},
        "05_causal_masks": {"causal_mask": 2.0},
    }
    progress.forget(tmp_path, LESSON, ["pick", "not there"])
    assert progress.read(tmp_path)[LESSON] == {"train": 2.0}
    assert [path.name for path in tmp_path.iterdir()] == [progress.FILE]


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": 1, "best": []}',
        '{"version": 1, "best": {"01_pytorch_basics": 3}}',
        '{"version": 9, "best": {}}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_a_broken_record_is_none_and_the_next_score_makes_a_new_one(tmp_path: Path, broken: str) -> None:
    (tmp_path / progress.FILE).write_text(broken, "latin-1")
    assert progress.read(tmp_path) == {}
    progress.remember(tmp_path, LESSON, "pick", 1.0)
    assert progress.read(tmp_path) == {LESSON: {"pick": 1.0}}


def test_what_is_no_score_is_left_out(tmp_path: Path) -> None:
    text = '{"version": 1, "best": {"a": {"b": "x", "c": NaN, "d": -1, "e": true, "f": null, "g": 1.5, "h": Infinity}}}'
    (tmp_path / progress.FILE).write_text(text)
    assert progress.read(tmp_path) == {"a": {"e": 1.0, "g": 1.5}}


@pytest.mark.parametrize("obstacle", ["a folder in its place", "no folder"])
def test_where_nothing_can_be_written_nothing_is_said(tmp_path: Path, obstacle: str) -> None:
    folder = tmp_path if obstacle != "no folder" else tmp_path / "gone"
    if obstacle != "no folder":
        (tmp_path / progress.FILE).mkdir()
    progress.remember(folder, LESSON, "pick", 1.0)
    progress.forget(folder, LESSON, ["pick"])
    assert progress.read(folder) == {}
    assert not list(tmp_path.glob(f"{progress.FILE}.*"))


def test_the_record_stands_beside_the_lessons(tmp_path: Path) -> None:
    assert progress.folder_of(tmp_path / LESSON / "my copy.ipynb", LESSON) == tmp_path
    assert progress.folder_of(tmp_path / "downloads" / f"{LESSON}.ipynb", LESSON) == tmp_path / "downloads"


CHECK = """
import cellcheck, torch
check = cellcheck.checks("01_pytorch_basics")
def batched_dot(a, b):
    return a @ b.transpose(1, 2)
result = check(batched_dot)
print(float(result))
"""


TWICE = """
import cellcheck, torch
check = cellcheck.checks("01_pytorch_basics")
def tried(cell, symbol):
    get_ipython().run_cell(cell, store_history=True)
    try:
        check(symbol)
    except Exception:
        print(2.0)
tried(FIRST, "batched_dot")
tried(FIRST + "  # a remark", "batched_dot")
tried(FIRST.replace("return a", "return b"), "batched_dot")
tried(CLASS, "batched_dot")
tried(CLASS, "batched_dot")
"""
FIRST = "def batched_dot(a, b):\n    return a"
CLASS = "class batched_dot:\n    size = 3\n    def __init__(self, a, b):\n        pass"


def test_the_same_wrong_answer_counts_once_in_the_notebook_and_for_the_tutor(tmp_path: Path) -> None:
    path = own(tmp_path, LESSON)
    recorded_by_a_kernel(
        tmp_path, TWICE.replace("FIRST", repr(FIRST)).replace("CLASS", repr(CLASS)), JPY_SESSION_NAME=str(path)
    )
    assert progress.record(tmp_path).wrong == {LESSON: {"batched_dot": 3}}
    for text, count in ((FIRST, 3), (f"\n{FIRST}\n", 3), (f"{FIRST} + b", 4)):
        answer(path, batched_dot=text)
        assert Desk(tmp_path).check("batched_dot")["status"] != "passed"
        assert progress.record(tmp_path).wrong == {LESSON: {"batched_dot": count}}
    for _ in range(2):  # who knows whether it's the same
        progress.note(tmp_path, LESSON, "batched_dot", 0.0, "failed")
    assert progress.record(tmp_path).wrong == {LESSON: {"batched_dot": 6}}
    progress.forget(tmp_path, LESSON, ["batched_dot"])
    assert progress.record(tmp_path) == progress.Record()


def recorded_by_a_kernel(folder: Path, code: str, **env: str) -> progress.Scores:
    """Runs code in a kernel that a Jupyter server might have started, in a folder of its own."""
    surroundings = {k: v for k, v in os.environ.items() if k not in ("NBGRADER_EXECUTION", "JPY_SESSION_NAME")}
    manager, client = start_new_kernel(300, "python3", env=surroundings | env, cwd=str(folder))
    texts: list[str] = []
    try:
        reply = client.execute_interactive(
            code, timeout=300, output_hook=lambda message: texts.append(message["content"].get("text", ""))
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        assert "2.0" in "".join(texts)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return progress.read(folder)


SOLVED = {LESSON: {"batched_dot": 2.0}}


@pytest.mark.parametrize(
    ("where", "wanted"), [("jupyter", SOLVED), ("vs code", SOLVED), ("jupyter, while it is graded", {})]
)
def test_what_a_person_checks_is_recorded(tmp_path: Path, where: str, wanted: progress.Scores) -> None:
    path = str(own(tmp_path, LESSON))
    code = f"__vsc_ipynb_file__ = {path!r}{CHECK}" if where == "vs code" else CHECK
    env = {"JPY_SESSION_NAME": path} if "jupyter" in where else {}
    graded = {"NBGRADER_EXECUTION": "autograde"} if "graded" in where else {}
    assert recorded_by_a_kernel(tmp_path, code, **env, **graded) == wanted


def test_a_check_outside_a_notebook_is_not_recorded(tmp_path: Path) -> None:
    path = own(tmp_path, LESSON)
    env = os.environ | {"JPY_SESSION_NAME": str(path)}
    done = subprocess.run([sys.executable, "-c", CHECK], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert progress.read(tmp_path) == {}


def test_in_colab_nothing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_notebook", lambda: tmp_path / LESSON / "x.ipynb")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    assert progress.recorder(LESSON) is not None
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    assert progress.recorder(LESSON) is None


def test_it_needs_nothing_that_colab_lacks() -> None:
    """What `cellcheck.checks` brings in is the standard library, and what it has brought in before."""
    code = """
    import sys
    before = set(sys.modules)
    import cellcheck.learning.progress
    print(*sorted({name.split(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cellcheck"]

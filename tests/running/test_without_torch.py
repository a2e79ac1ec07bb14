"""Where PyTorch isn't installed: a lesson without tensors is checked and graded, and the others say what they need.

All of it happens in a process that can't find PyTorch, as if it were not there; the learner's process is another one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cellcheck.syllabus import lesson_names

ROOT = Path(__file__).parents[2]
(LESSON,) = [name for name in lesson_names() if name.startswith("09_")]

# Python imports it when it starts. What a finder doesn't find is not installed.
SITECUSTOMIZE = """
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] == "torch" else found(name, path, target)

PathFinder.find_spec = find_spec
"""

RIGHT = """
import numpy as np
def right(x, axis):
    exponentials = np.exp(x - x.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)
"""
# What a learner may write for `softmax`, and what is to be said of it.
WRONG = {
    "right(x, axis).tolist()": "should be a NumPy array of shape (4,), but it is a list",
    "-right(x, axis)": "Yours has the opposite sign everywhere.",
    "right(x, axis)[..., :1]": "should have the shape (4,), but it has (1,).",
    "right(x, axis).astype(np.float64)": "With float32 numbers, the result comes back as float64.",
    "right(x, axis) * np.nan": "has NaN where numbers are expected.",
}
SCRIPT = """
import json, sys
import cellcheck
from cellcheck.checking.cards import card, plain
from cellcheck.doctor import examine

name, solution, given, wrong = json.loads(sys.argv[1])
check = cellcheck.checks(name)
report = {"right": {}, "wrong": {}, "check": {}, "grade": {}}
for exercise in check.lesson.exercises:
    judge = check._judge(exercise.symbol)
    verdict = judge.verdict(judge.observe(exercise.references[0]))
    report["right"][exercise.symbol] = [verdict.score, exercise.points]
    for mistake in exercise.mistakes[:2]:
        verdict = check.verdict(exercise.symbol, mistake.implementation)
        report["wrong"][f"{exercise.symbol}: {mistake.name}"] = f"{exercise.symbol}: {verdict.diagnosis}"
        assert card(verdict)
result = cellcheck.grade_notebook(solution, seed=5)
report["graded"] = [result.score, result.max_score, list(result.repairs)]
for body in wrong:
    source = f"{given}\\ndef softmax(x, axis=-1):\\n    return {body}"
    exec(source)
    verdict = check.verdict("softmax", softmax)
    report["check"][body] = [verdict.score, verdict.message]
    assert verdict.message in plain(verdict) and "softmax" in card(verdict)
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    (found,) = [v for v in cellcheck.grade_notebook(notebook, lesson=name, seed=5).verdicts if v.symbol == "softmax"]
    report["grade"][body] = [found.score, found.message]
try:
    cellcheck.checks("01")
except cellcheck.GraderError as error:
    report["needed"] = [str(error), error._render_traceback_()]
report["doctor"] = ["".join(cells) for cells in zip(*(column.cells for column in examine()[0].columns))]
report["torch"] = "torch" in sys.modules
print("SAID", json.dumps(report))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script reports: it prints it after the word SAID."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE, "utf-8")
    solution = ROOT / "solutions" / LESSON / f"{LESSON}.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([LESSON, str(solution), RIGHT, list(WRONG)])],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning" not in done.stderr  # where learners' code is run, and where mistakes are
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("SAID ")]
    return dict(json.loads(line.removeprefix("SAID ")))


def test_torch_is_nowhere_to_be_found(report: dict[str, Any]) -> None:
    assert report["torch"] is False


def test_right_answers_get_full_marks_and_mistakes_their_names(report: dict[str, Any]) -> None:
    assert all(score == points for score, points in report["right"].values()), report["right"]
    assert {name: told for name, told in report["wrong"].items() if name != told} == {}
    score, most, repairs = report["graded"]
    assert (score, repairs) == (most, [])


@pytest.mark.parametrize("body", WRONG)
def test_wrong_answers_get_the_same_words_as_anywhere(report: dict[str, Any], body: str) -> None:
    score, message = report["check"][body]
    assert WRONG[body] in message
    assert score < 1.0
    assert report["check"][body] == report["grade"][body]


def test_lessons_that_need_torch_say_so_in_a_sentence(report: dict[str, Any]) -> None:
    sentence = (
        f"Lesson 01_pytorch_basics needs torch, which isn't installed in this Python, {sys.executable}. If another one "
        f"has it, choose that as the kernel; else install it: {sys.executable} -m pip install torch"
    )
    assert report["needed"] == [sentence, [sentence]]  # a notebook shows the second instead of a traceback
    (line,) = [line for line in report["doctor"] if line.startswith("torchmissing")]
    assert line.startswith("torchmissingneeded by 01_pytorch_basics, 02_tokenizer, ")
    assert "09_numpy_transformer" not in line

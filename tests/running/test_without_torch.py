"""Where PyTorch isn't installed: lessons without tensors are checked and graded, and the others say what they need.

All of it happens in processes that can't find PyTorch, as if it were not there; the learner's process is one of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from grader.syllabus import VARIABLE, lesson_names

ROOT = Path(__file__).parents[2]
WITHOUT_TENSORS = [name for name in lesson_names() if name.startswith("09_")]

# Python imports it when it starts. What a finder doesn't find is not installed.
SITECUSTOMIZE = """
from importlib.machinery import PathFinder

found = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] == "torch" else found(name, path, target)

PathFinder.find_spec = find_spec
"""

# A course of two lessons: one needs NumPy only, and one PyTorch. They share a library.
COURSE = {
    "rows/__init__.py": "",
    "rows/arrays.py": '''
        import numpy as np

        def centred(x):
            """The same rows with a mean of 0."""
            ### BEGIN SOLUTION
            return x - x.mean(axis=-1, keepdims=True)
            ### END SOLUTION

        def is_linear(f):
            """Whether `f` of a sum is the sum of two `f`."""
            ### BEGIN SOLUTION
            return bool(np.allclose(f(np.ones(3) + np.arange(3.0)), f(np.ones(3)) + f(np.arange(3.0))))
            ### END SOLUTION
    ''',
    "rows/tensors.py": "import torch\n",
    "rows_lessons/__init__.py": "",
    "rows_lessons/lesson_01/__init__.py": "",
    "rows_lessons/lesson_01/01_arrays.py": """
        # %% setup=true
        import numpy as np

        # %% exercise="centred"

        # %% exercise="is_linear"
    """,
    "rows_lessons/lesson_01/centred.py": """
        import numpy as np

        from grader.authoring import Case, Trial, aspects

        FLOAT32 = aspects.special("float32")
        INFINITE = aspects.special("infinities")

        def cases(generator):
            x = generator.standard_normal((3, 5))
            return [
                Case.of("on three rows", x=x),
                Case.of("on float32 rows", FLOAT32, x=x.astype(np.float32)),
                Case.of("on rows that begin with infinity", INFINITE, x=np.where(np.arange(5) == 0, np.inf, x)),
            ]

        TRIAL = Trial(
            module="rows.arrays", points=2, cases=cases,
            aspects=(aspects.shape(), aspects.values(), aspects.dtype(), INFINITE, aspects.untouched()),
        )
    """,
    "rows_lessons/lesson_01/centred.md": """
        # Mistakes

        ## over_columns
        - `axis=-1` → `axis=0`

        You centred the columns. Where are rows?
    """,
    "rows_lessons/lesson_01/is_linear.py": """
        from grader.authoring import Case, Trial, aspects
        from grader.authoring.patients import Patient

        def cases(generator):
            a = float(generator.uniform(2, 3))
            return [
                Case("with a product", {}, frozenset({"sound"}), lambda: Patient({"f": lambda x: a * x})),
                Case("with a square", {}, frozenset({"broken"}), lambda: Patient({"f": lambda x: a * x**2})),
            ]

        TRIAL = Trial(
            module="rows.arrays", points=1, cases=cases, aspects=aspects.tells_apart(sound="yes", broken="no")
        )
    """,
    "rows_lessons/lesson_01/is_linear.md": "",
    "rows_lessons/lesson_01/probes.py": """
        def _asked(symbol, inputs):
            return {"output": symbol(lambda x: inputs["patient"]("f", x))}

        PROBES = {"is_linear": _asked}
    """,
    "rows_lessons/lesson_02/__init__.py": "",
    "rows_lessons/lesson_02/02_tensors.py": '# %% setup=true\nimport torch\n\n# %% exercise="tensor"\n',
    "rows_lessons/lesson_02/tensor.py": "import rows.tensors\n",
}

RIGHT = """
def centred(x):
    return x - x.mean(-1)[:, None]

def is_linear(f):
    return bool(np.isclose(f(np.full(2, 2.0)), 2 * f(np.ones(2))).all())
"""
# What a learner may write for `centred`, and what is to be said of it.
WRONG = {
    "x - x.mean(axis=0)": "You centred the columns. Where are rows?",
    "(x - x.mean(axis=0)).tolist()": "You centred the columns. Where are rows?",
    "(x - x.mean(axis=-1, keepdims=True)).tolist()": "should be a NumPy array of shape (3, 5), but it is a list",
    "-(x - x.mean(axis=-1, keepdims=True))": "Yours has the opposite sign everywhere.",
    "x.mean(axis=-1)": "should have the shape (3, 5), but it has (3,).",
    "np.float64(x - x.mean(axis=-1, keepdims=True))": "should have the dtype float32, but it has float64.",
    "x / 0 - x / 0": "has NaN where numbers are expected.",
}
SMALL = """
import json, sys
import numpy as np
import grader
from grader.checking.cards import card, plain
from grader.doctor import examine

right, wrong = json.loads(sys.argv[1])

def notebook(source):
    cells = [{"cell_type": "code", "source": "import numpy as np\\n" + source, "metadata": {}, "outputs": []}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()

def marks(source):
    result = grader.grade_notebook(notebook(source), lesson="01", seed=5)
    return {verdict.symbol: [verdict.score, verdict.message] for verdict in result.verdicts}

check = grader.checks("01")
exec(right)
said = {"check": {}, "grade": {}, "right": [float(check(centred)), float(check(is_linear))]}
for body in wrong:
    exec(f"def centred(x):\\n    return {body}")
    verdict = check.verdict("centred", centred)
    said["check"][body] = [verdict.score, verdict.message]
    assert verdict.message in plain(verdict) and "centred" in card(verdict)
    said["grade"][body] = marks(f"def centred(x):\\n    return {body}")["centred"]
said["graded"] = [score for score, _ in marks(right).values()]
try:
    grader.checks("02")
except grader.GraderError as error:
    said["needed"] = [str(error), error._render_traceback_()]
said["doctor"] = ["".join(cells) for cells in zip(*(column.cells for column in examine()[0].columns))]
said["torch"] = "torch" in sys.modules
print("SAID", json.dumps(said))
"""

LESSON = """
import json, sys
import grader
from grader.checking.cards import card

name, solution = sys.argv[1:]
check = grader.checks(name)
said = {"right": {}, "wrong": {}}
for exercise in check.lesson.exercises:
    judge = check._judge(exercise.symbol)
    verdict = judge.verdict(judge.observe(exercise.references[0]))
    said["right"][exercise.symbol] = [verdict.score, exercise.points]
    for mistake in exercise.mistakes[:2]:
        verdict = check.verdict(exercise.symbol, mistake.implementation)
        said["wrong"][f"{exercise.symbol}: {mistake.name}"] = f"{exercise.symbol}: {verdict.diagnosis}"
        assert card(verdict)
result = grader.grade_notebook(solution, seed=5)
said["graded"] = [result.score, result.max_score, list(result.repairs)]
said["torch"] = "torch" in sys.modules
print("SAID", json.dumps(said))
"""


def said_without_torch(script: str, *arguments: str, folder: Path, lessons: Path) -> dict[str, Any]:
    """What a script prints after the word SAID, in a process that finds no PyTorch."""
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE, "utf-8")
    paths = os.pathsep.join([str(folder), str(lessons.parent), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | {"PYTHONPATH": paths, VARIABLE: str(lessons)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning" not in done.stderr  # where learners' code is run, and where mistakes are
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("SAID ")]
    return dict(json.loads(line.removeprefix("SAID ")))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is said of the small course."""
    root = tmp_path_factory.mktemp("course")
    for name, text in COURSE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text), "utf-8")
    folder = tmp_path_factory.mktemp("elsewhere")
    arguments = json.dumps([RIGHT, list(WRONG)])
    return said_without_torch(SMALL, arguments, folder=folder, lessons=root / "rows_lessons")


def test_torch_is_nowhere_to_be_found(small: dict[str, Any]) -> None:
    assert small["torch"] is False


def test_right_answers_get_full_marks_in_the_notebook_and_in_grading(small: dict[str, Any]) -> None:
    assert small["right"] == small["graded"] == [2.0, 1.0]


@pytest.mark.parametrize("body", WRONG)
def test_wrong_answers_get_the_same_words_as_anywhere(small: dict[str, Any], body: str) -> None:
    for where in ("check", "grade"):
        score, message = small[where][body]
        assert WRONG[body] in message
        assert score < 2.0
    assert small["check"][body] == small["grade"][body]


def test_a_lesson_that_needs_torch_says_so_in_a_sentence(small: dict[str, Any]) -> None:
    sentence = (
        "Lesson 02_tensors needs torch, which isn't installed here. If that is its right name, install it and try "
        "again: pip install torch"
    )
    assert small["needed"] == [sentence, [sentence]]  # a notebook shows the second instead of a traceback


def test_the_doctor_names_the_lessons_that_need_torch(small: dict[str, Any]) -> None:
    assert "torchmissingneeded by 02_tensors: pip install torch" in small["doctor"]


@pytest.mark.parametrize("lesson", WITHOUT_TENSORS)
def test_the_courses_own_lesson_without_tensors(lesson: str, tmp_path: Path) -> None:
    said = said_without_torch(
        LESSON,
        lesson,
        str(ROOT / "solutions" / lesson / f"{lesson}.ipynb"),
        folder=tmp_path,
        lessons=ROOT / "lessons",
    )
    assert said["torch"] is False
    assert all(score == points for score, points in said["right"].values()), said["right"]
    assert {name: told for name, told in said["wrong"].items() if name != told} == {}
    score, most, repairs = said["graded"]
    assert (score, repairs) == (most, [])

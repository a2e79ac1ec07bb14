"""The same everywhere: with another processor's arithmetic, and with more threads, nothing that is compared changes.

`ATEN_CPU_CAPABILITY` and `NPY_DISABLE_CPU_FEATURES` make PyTorch and NumPy compute as on an old processor. What an
author and a learner see is looked at here and, in a process of its own, there. Of pictures and verdicts that is a
sample by day, from the lessons that a change touches if it touches any.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from cellcheck.building.build import out_of_step
from cellcheck.checking.judge import Judge
from cellcheck.repository import Repository
from cellcheck.running.grade import grade
from cellcheck.syllabus import lesson_names, load_lesson, load_probes
from tests.nightly import drawn
from tests.processors import as_an_old_one
from transformer_course.lessons.lesson_01.demo import HONEST, LESSON

REPOSITORY = Repository.find(Path(__file__).parent)
SEED = 11


@cache
def names() -> dict[str, str]:
    """The pictures of all lessons, each with its lesson."""
    texts = {name: json.loads(REPOSITORY.solution(name).read_text("utf-8")) for name in REPOSITORY.names()}
    files = [
        (file, name) for name, text in texts.items() for cell in text["cells"] for file in cell.get("attachments", {})
    ]
    return {file.removesuffix(".png"): name for file, name in files}


@cache
def figure(name: str) -> Figure:
    drawing = getattr(REPOSITORY.part(names()[name], "pictures"), name)()
    assert isinstance(drawing, Figure)
    return drawing


def content(drawn: Figure) -> list[Any]:
    """What a figure is drawn from: its words, and the places of its lines, dots, images and boxes."""
    values: list[Any] = []
    for artist in drawn.findobj():
        if isinstance(artist, Text):
            values.append([artist.get_text()])
        elif isinstance(artist, Line2D):
            values.append(np.asarray(artist.get_xydata(), dtype=float).tolist())
        elif isinstance(artist, PathCollection):
            values.append(np.asarray(artist.get_offsets(), dtype=float).tolist())
        elif isinstance(artist, AxesImage):
            values.append(np.asarray(artist.get_array(), dtype=float).tolist())
        elif isinstance(artist, Patch):
            values.append(artist.get_patch_transform().transform(artist.get_path().vertices).tolist())
    return values


def marks() -> list[Any]:
    """Graded notebooks, as JSON."""
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    graded = [grade(learner.hand_in(released).encode(), SEED, name=learner.name) for learner in HONEST[2:4]]
    return [result.to_json() | {"seconds": 0} for result in graded]


def verdicts(lesson: str) -> list[Any]:
    """Those on what may be done about one exercise of a lesson."""
    exercise, *_ = load_lesson(lesson).exercises
    judge = Judge(exercise, load_probes(lesson)[exercise.symbol], SEED)
    answers = (exercise.references[0], *(mistake.implementation for mistake in exercise.mistakes))
    judged = [judge.verdict(judge.observe(answer)) for answer in answers]
    return [[verdict.score, verdict.status, verdict.diagnosis, verdict.message] for verdict in judged]


def seen(pictures: Sequence[str], lessons: Sequence[str]) -> dict[str, Any]:
    """All that must be the same, as plain data, with these pictures, and the verdicts of these lessons."""
    return {
        "computes": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "out of step": out_of_step(REPOSITORY, LESSON),
        "marks": marks(),
        "verdicts": {lesson: verdicts(lesson) for lesson in lessons},
        "pictures": {name: content(figure(name)) for name in pictures},
    }


@pytest.fixture(scope="module")
def there(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What is seen in a process that computes as an old processor does, with two threads."""
    mine = [item.callspec for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    pictures = [case.params["name"] for case in mine if "name" in case.params]
    lessons = [case.params["lesson"] for case in mine if "name" not in case.params]
    old = {
        **as_an_old_one(),
        "OMP_NUM_THREADS": "2",
        "OMP_WAIT_POLICY": "passive",  # a thread that has nothing to do uses no processor
        "PYTHONPATH": str(REPOSITORY.root),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_other_processors", json.dumps([pictures, lessons])],
        cwd=REPOSITORY.root,
        env=os.environ | old,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_it_really_computes_otherwise(there: dict[str, Any]) -> None:
    """Or the other tests would prove nothing."""
    assert (there["computes"], there["threads"]) == ("DEFAULT", 2)


def test_the_build_is_in_step_there(there: dict[str, Any]) -> None:
    assert there["out of step"] == []


def test_the_marks_are_the_same_there(there: dict[str, Any]) -> None:
    here = json.loads(json.dumps(marks()))
    assert len({result["score"] for result in here}) == 2
    assert here == there["marks"]


@drawn(3)
@pytest.mark.parametrize("lesson", lesson_names()[1:])
def test_the_verdicts_are_the_same_there(lesson: str, there: dict[str, Any]) -> None:
    assert json.loads(json.dumps(verdicts(lesson))) == there["verdicts"][lesson]


@drawn(8)
@pytest.mark.parametrize(("name", "lesson"), names().items(), ids=names())
def test_each_picture_is_drawn_from_the_same_numbers_there(name: str, lesson: str, there: dict[str, Any]) -> None:
    for one, other in zip(content(figure(name)), there["pictures"][name], strict=True):
        if one and isinstance(one[0], str):
            assert one == other
        else:
            np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    json.dump(seen(*json.loads(sys.argv[1])), sys.stdout)

"""A class gets the same marks and the same words on an idle machine, on a busy one, and beside the worst neighbours."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cellcheck.authoring.catalogue import MISTAKES, Catalogue
from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from cellcheck.syllabus import find_lesson, load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
LESSONS = ("03", "08", "10", "11")
EACH = 15
BUSY = 8  # processes that compute all the time
HOSTILE = {
    "forks": "import os\nfor _ in range(61):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass",
    "loops": "while True: pass",
    "threads": "import threading\ndef spin():\n    while True: pass\n"
    "for _ in range(40): threading.Thread(target=spin).start()",
    "memory": "import time\nkept = []\nwhile True: kept.append(bytearray(2**24))",
    "prints": "while True: print('x' * 2**20)",
}


def class_of(lesson: str) -> Iterator[Learner]:
    """The right answers, others that are right, and one mistake each in every exercise."""
    name = find_lesson(lesson)[1]
    yield Learner("right", name)
    yield Learner("otherwise", name, otherwise=True)
    for number in range(EACH - 2):
        yield Learner(f"slips {number}", name, types=dict(slips(name, number)))


def slips(lesson: str, number: int) -> Iterator[tuple[str, str]]:
    syllabus, _ = find_lesson(lesson)
    for exercise in load_lesson(lesson).exercises:
        catalogue = Catalogue(syllabus.place(lesson) / f"{exercise.symbol}.md", exercise.references[0])
        entries = catalogue.entries(MISTAKES)
        yield exercise.symbol, catalogue.text_of(entries[number % len(entries)])


def filled_in(learner: Learner, folder: Path) -> Path:
    path = folder / f"{learner.lesson} {learner.name}.ipynb"
    path.write_text(learner.hand_in(REPOSITORY.notebook(learner.lesson).read_text("utf-8")), "utf-8")
    return path


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("honest")
    return [filled_in(learner, folder) for lesson in LESSONS for learner in class_of(lesson)]


@pytest.fixture(scope="module")
def on_an_idle_machine(honest: Sequence[Path]) -> dict[str, Any]:
    return graded(honest)


def graded(notebooks: Sequence[Path]) -> dict[str, Any]:
    """What came of each notebook, but for how long it took."""
    into = notebooks[0].with_name("results.json")
    command = [sys.executable, "-m", "cellcheck", "grade", *map(str, notebooks), "--jobs", "2", "--seed", "7"]
    subprocess.run([*command, "--json", str(into)], check=False, capture_output=True)
    results = json.loads(into.read_text("utf-8"))["results"]
    return {Path(result["notebook"]).stem: {**result, "notebook": "", "seconds": 0} for result in results}


@contextlib.contextmanager
def busy_processes() -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def insist_on_equal(marks: dict[str, Any], expected: dict[str, Any]) -> None:
    differing = {name: (marks.get(name), expected[name]) for name in expected if marks.get(name) != expected[name]}
    assert not differing, json.dumps(differing, indent=1)[:5000]


def test_beside_busy_processes(honest: Sequence[Path], on_an_idle_machine: dict[str, Any]) -> None:
    assert len(on_an_idle_machine) == EACH * len(LESSONS)
    with busy_processes():
        insist_on_equal(graded(honest), on_an_idle_machine)


def test_beside_the_worst_neighbours(
    honest: Sequence[Path], on_an_idle_machine: dict[str, Any], tmp_path: Path
) -> None:
    lesson = load_lesson(LESSONS[0])
    first = lesson.exercises[0].symbol
    hostile = [filled_in(Learner(name, lesson.name, types={first: code}), tmp_path) for name, code in HOSTILE.items()]
    every = [*honest]
    for number, path in enumerate(hostile):
        every.insert(number * len(every) // len(hostile), path)
    insist_on_equal(graded(every), on_an_idle_machine)

"""A run that is killed, at any moment, goes on with --resume and ends with the gradebook of a run that was not."""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.demo.learners import Learner
from grader.demo.run import make_course
from grader.gradebook.course import Course
from grader.gradebook.journal import Journal
from grader.repository import Repository
from lessons.lesson_01.demo import HONEST, LESSON

STUDENTS = [replace(learner, name=f"{learner.name}{copy}") for copy in range(3) for learner in HONEST]
COMMAND = [sys.executable, "-m", "grader", "autograde", LESSON]
KILLS = 20


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class that has handed in, and nobody graded."""
    course, _ = make_course(Repository.find(Path(__file__).parent), tmp_path_factory.mktemp("resume") / "demo")
    course.ensure_assignment(LESSON)
    released = (course.root / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8")
    for learner in STUDENTS:
        folder = course.submission(learner.name, LESSON)
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_text(learner.hand_in(released), "utf-8")
    return course


def copy_of(course: Course, name: str) -> Path:
    root = course.root.with_name(name)
    shutil.copytree(course.root, root)
    return root


def marks(root: Path) -> list[tuple[object, ...]]:
    """All that the gradebook says about each learner's cells."""
    tables = """
        SELECT s.student_id, b.name, b.type, g.auto_score, g.manual_score, g.needs_manual_grade, c.auto_comment
        FROM submitted_notebook n JOIN submitted_assignment s ON n.assignment_id = s.id
        JOIN base_cell b ON b.notebook_id = n.notebook_id
        LEFT JOIN grade g ON g.cell_id = b.id AND g.notebook_id = n.id
        LEFT JOIN comment c ON c.cell_id = b.id AND c.notebook_id = n.id ORDER BY 1, 2, 3
    """
    with closing(sqlite3.connect(root / "gradebook.db")) as database:
        return database.execute(tables).fetchall()


def graded(root: Path) -> list[str]:
    """Who is in the journal, line by line."""
    try:
        lines = Journal(root, LESSON).path.read_text("utf-8").splitlines()[1:]
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            found.append(json.loads(line)["student"])
        except ValueError:
            continue  # the kill cut it in half
    return found


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            yield child
            yield from children(child)


def gone(pids: set[int]) -> bool:
    """Whether all of these end by themselves; one that is still importing, on a busy machine, takes its time."""
    deadline = time.monotonic() + 60
    while alive := {pid for pid in pids if Path(f"/proc/{pid}").exists()}:
        if time.monotonic() > deadline or not alive:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="module")
def straight(handed_in: Course) -> Path:
    """Graded in one go."""
    root = copy_of(handed_in, "straight")
    subprocess.run([*COMMAND, "--seed", "7"], cwd=root, check=True, capture_output=True)
    return root


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_run_that_is_killed_twenty_times_ends_with_the_same_gradebook(handed_in: Course, straight: Path) -> None:
    root = copy_of(handed_in, "killed")
    draw = random.Random(4)
    option = ["--seed", "7"]
    for number in range(KILLS):
        run = subprocess.Popen([*COMMAND, *option], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before, deadline = len(graded(root)), time.monotonic() + 60
        if number % 4 == 3:  # while it starts
            time.sleep(draw.uniform(0.05, 3.0))
        else:  # while it grades or writes: just after something was written down, or a little later
            while run.poll() is None and len(graded(root)) == before and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(draw.uniform(0.0, 0.2))
        started = set(children(run.pid)) if run.poll() is None else set()
        run.kill()
        run.wait()
        assert gone(started)
        if Journal(root, LESSON).go_on():
            option = ["--resume"]
    last = subprocess.run([*COMMAND, "--resume"], cwd=root, check=True, capture_output=True, text=True)
    assert marks(root) == marks(straight)
    assert sorted(graded(root)) == sorted(learner.name for learner in STUDENTS)  # each of them once
    assert "hidden cases drawn from seed 7" in last.stdout
    for learner in STUDENTS:
        name = Path("autograded", learner.name, LESSON, f"{LESSON}.ipynb")
        assert (root / name).read_bytes() == (straight / name).read_bytes()
    assert not list(root.glob("autograded/*/.*"))


def test_what_was_handed_in_anew_is_graded_again(straight: Path) -> None:
    ada, bea = (straight / "submitted" / learner.name / LESSON / f"{LESSON}.ipynb" for learner in STUDENTS[:2])
    ada.write_bytes(bea.read_bytes())
    run = subprocess.run([*COMMAND, "--resume"], cwd=straight, check=True, capture_output=True, text=True)
    assert f"{len(STUDENTS) - 1} of {len(STUDENTS)} are graded already" in run.stderr
    scores = {row[:2]: row[3] for row in marks(straight)}
    of = {name: [score for (who, _), score in scores.items() if who == name] for name, _ in scores}
    assert of[STUDENTS[0].name] == of[STUDENTS[1].name]


def test_ctrl_c_says_how_to_go_on(handed_in: Course) -> None:
    root = copy_of(handed_in, "interrupted")
    # The last one does not end before the signal comes, however busy the machine is.
    endless = Learner("zz", LESSON, types={"pick": "import time\ntime.sleep(600)"})
    (root / "submitted" / "zz" / LESSON).mkdir(parents=True)
    released = (root / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8")
    (root / "submitted" / "zz" / LESSON / f"{LESSON}.ipynb").write_text(endless.hand_in(released), "utf-8")
    run = subprocess.Popen(COMMAND, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while run.poll() is None and not graded(root):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "--resume goes on from here" in said
    assert "Traceback" not in said


def test_a_seed_and_a_resumed_run_contradict_each_other(straight: Path) -> None:
    run = subprocess.run([*COMMAND, "--resume", "--seed", "3"], cwd=straight, capture_output=True, text=True)
    assert run.returncode == 2
    assert "leave --seed out" in run.stderr

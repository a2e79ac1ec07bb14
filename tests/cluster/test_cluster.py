"""A class that is graded on a cluster: whatever happens to workers, everybody gets the marks of one machine, once."""

import logging
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from distributed import Client, LocalCluster, Worker
from rich.console import Console

from cellcheck.batch import Job
from cellcheck.cluster import client as clients
from cellcheck.cluster import worker
from cellcheck.cluster.client import connected
from cellcheck.demo.learners import Learner
from cellcheck.errors import GraderError
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.folders import Halt
from cellcheck.gradebook.report import Progress, watching
from cellcheck.running.result import Failure, Result
from tests.attacks.attacks import wait_until
from tests.gradebook.small_class import (
    FIRST,
    LESSON,
    REPOSITORY,
    SEED,
    content,
    copy_of,
    files,
    hand_in,
    journal,
    pages,
    small_course,
)
from tests.nightly import later
from tests.shell import Run

OTHER_LESSON = REPOSITORY.notebook("02_tokenizer").read_bytes()
RELEASED = REPOSITORY.notebook(LESSON).read_text("utf-8")
WRONG = Learner("bea", LESSON, types={FIRST: f"def {FIRST}(*arguments, **named):\n    return None"})
SLEEPY = "import time\ntime.sleep(600)"  # longer than any test


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Right, wrong and half-done work, and two files that can't be graded."""
    course = small_course(tmp_path_factory.mktemp("class") / "course")
    for learner in (Learner("ada", LESSON), WRONG, Learner("cy", LESSON, begins=1), Learner("dan", LESSON, begins=0)):
        hand_in(course, learner.name, learner.hand_in(RELEASED).encode())
    hand_in(course, "eve", b"{")
    hand_in(course, "fay", OTHER_LESSON)
    return course


@dataclass(frozen=True)
class Alone:
    """The same class, graded on one machine."""

    course: Course
    outcomes: Mapping[str, Result | Failure]
    output: str


@pytest.fixture(scope="module")
def alone(handed_in: Course) -> Alone:
    course, console = copy_of(handed_in, "alone"), StringIO()
    return Alone(course, grade(course, None, console), console.getvalue())


@pytest.fixture
def course(handed_in: Course, request: pytest.FixtureRequest) -> Course:
    """A copy of what was handed in."""
    return copy_of(handed_in, re.sub(r"\W", " ", request.node.name))


def grade(
    course: Course, cluster: LocalCluster | None, console: StringIO | None = None, *, resume: bool = False
) -> Mapping[str, Result | Failure]:
    """`cellcheck autograde --cluster`, without its tables."""
    file, job = console or StringIO(), Job(SEED, LESSON)
    with watching(Console(file=file, width=200), "grading") as tell:
        if cluster is None:
            return autograde_assignment(course, LESSON, job, tell, resume=resume).outcomes
        with connected(cluster.scheduler_address, lambda line: tell(Progress(notes=(line,)))) as grading:
            return autograde_assignment(course, LESSON, job, tell, resume=resume, grading=grading).outcomes


def on_workers(cluster: LocalCluster, function: Callable[..., Any], *arguments: Any, workers: Any = None) -> Any:
    with Client(cluster, set_as_default=False) as client:
        return client.run(function, *arguments, workers=workers)


def workers(cluster: LocalCluster) -> list[str]:
    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        return sorted(client.nthreads())


# --- as on one machine --------------------------------------------------------------------------------------------


def test_what_is_written_is_what_one_machine_writes(course: Course, alone: Alone, cluster: LocalCluster) -> None:
    console, here = StringIO(), alone.outcomes
    there = grade(course, cluster, console)
    assert {name for name, outcome in here.items() if isinstance(outcome, Failure)} == {"eve", "fay"}
    assert [isinstance(outcome, Result) and outcome.score for outcome in there.values()] == [
        isinstance(outcome, Result) and outcome.score for outcome in here.values()
    ]
    assert content(course.root) == content(alone.course.root)
    assert pages(course.root) == pages(alone.course.root)
    assert sorted(journal(course.root)) == ["ada", "bea", "cy", "dan"]
    assert sorted(console.getvalue().splitlines()) == sorted(alone.output.splitlines())
    for stream in cluster.scheduler.stream_comms.values():  # to a worker; Dask would keep a thousand messages
        assert "grade_some" not in str(stream.recent_message_log), "submissions stay in the scheduler's memory"


# --- stopped on the way -------------------------------------------------------------------------------------------


def busy_workers(cluster: LocalCluster) -> list[int]:
    """The workers' processes, once one is grading, and that one first."""
    with Client(cluster, set_as_default=False) as client:
        wait_until(lambda: any(client.run(lambda: bool(worker._runs)).values()))
        there = client.run(lambda: (os.getpid(), bool(worker._runs)))
        return [pid for pid, _ in sorted(there.values(), key=lambda answer: not answer[1])]


@pytest.mark.parametrize("which", ["one", pytest.param("all", marks=later)])
def test_workers_are_killed_in_the_middle(which: str, course: Course, alone: Alone, cluster: LocalCluster) -> None:
    """Whatever they were grading is graded by others; each submission arrives once."""
    killed: list[int] = []

    def kill() -> None:
        killed.extend(busy_workers(cluster)[: 1 if which == "one" else 2])
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = grade(course, cluster)
    killer.join()
    assert len(killed) == (1 if which == "one" else 2)
    assert {name for name, outcome in outcomes.items() if isinstance(outcome, Failure)} == {"eve", "fay"}
    assert content(course.root) == content(alone.course.root)
    assert pages(course.root) == pages(alone.course.root)
    assert sorted(journal(course.root)) == ["ada", "bea", "cy", "dan"]


def test_ctrl_c_stops_the_workers_and_resume_goes_on(course: Course, alone: Alone, cluster: LocalCluster) -> None:
    workers(cluster)
    hand_in(course, "zoe", Learner("zoe", LESSON, types={FIRST: SLEEPY}).hand_in(RELEASED).encode())

    with connected(cluster.scheduler_address, print) as grading:

        def interrupted(*arguments: Any) -> Any:
            """Ctrl-C comes once all others are graded."""
            left = {"ada", "bea", "cy", "dan", "eve", "fay"}
            with closing(grading(*arguments)) as groups:
                for group in groups:
                    left -= {path.parent.name for path, _ in group}
                    yield group
                    if not left:
                        raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            autograde_assignment(course, LESSON, Job(SEED, LESSON), lambda news: None, grading=interrupted)
    # The sleeper would have slept on for ten minutes: its process is ended, and its worker is free.
    wait_until(lambda: not any(on_workers(cluster, lambda: bool(worker._runs)).values()))
    assert sorted(journal(course.root)) == ["ada", "bea", "cy", "dan"]
    hand_in(course, "zoe", b"{")
    grade(course, cluster, resume=True)
    assert content(course.root) == content(alone.course.root)
    assert sorted(journal(course.root)) == ["ada", "bea", "cy", "dan"]


# --- who may not grade --------------------------------------------------------------------------------------------


def leave_only(course: Course, student: str) -> None:
    """Nobody else has handed in."""
    for folder in (course.root / "submitted").iterdir():
        if folder.name != student:
            shutil.rmtree(folder)


def without_namespaces(lesson: str | None) -> dict[str, str]:
    return {"namespaces": "the kernel says no"}


def take_walls_away() -> None:
    worker.missing_walls = without_namespaces


def put_walls_back() -> None:
    from cellcheck.running.protection import missing_walls

    worker.missing_walls = missing_walls


def other_code() -> None:
    worker.code_here = lambda lesson: "of last year"


def same_code() -> None:
    from importlib import reload

    reload(worker)


def test_a_worker_without_a_sandbox_is_refused(course: Course, cluster: LocalCluster) -> None:
    first, second = workers(cluster)
    console = StringIO()
    leave_only(course, "ada")
    on_workers(cluster, take_walls_away, workers=[first])
    try:
        outcomes = grade(course, cluster, console)
        assert isinstance(outcomes["ada"], Result)
        assert f"The worker {first} is not used: This machine lacks protections: namespaces" in console.getvalue()
        assert f"The worker {second}" not in console.getvalue()
        before = content(course.root), files(course.root)
        on_workers(cluster, take_walls_away, workers=[second])
        with pytest.raises(GraderError, match=r"No worker of the cluster at .* may grade; the lines above say why\."):
            grade(course, cluster, console)
        assert (content(course.root), files(course.root)) == before
    finally:
        on_workers(cluster, put_walls_back)


def test_a_worker_with_other_code_is_refused(course: Course, cluster: LocalCluster) -> None:
    first, _ = workers(cluster)
    console = StringIO()
    leave_only(course, "dan")
    on_workers(cluster, other_code, workers=[first])
    try:
        grade(course, cluster, console)
    finally:
        on_workers(cluster, same_code, workers=[first])
    assert f"The worker {first} is not used: its course or its grader is not the one here" in console.getvalue()


# --- what a long run leaves behind --------------------------------------------------------------------------------


def looked_at(dask_worker: Worker) -> bool:
    return bool(dask_worker.periodic_callbacks["profile"].is_running())


def look_again(dask_worker: Worker) -> None:
    worker._look_at_stacks(dask_worker, True)


def test_no_worker_remembers_its_stacks(course: Course, cluster: LocalCluster) -> None:
    """Dask would, for an hour. Whoever else uses the cluster gets it back."""
    leave_only(course, "dan")
    on_workers(cluster, look_again)
    grade(course, cluster)  # in these tests, workers don't come to rest
    assert not all(on_workers(cluster, looked_at).values())  # one has graded; the other may have come too late
    on_workers(cluster, look_again)
    wait_until(lambda: all(on_workers(cluster, looked_at).values()))


# --- one sentence -------------------------------------------------------------------------------------------------


def said_by_command(course: Course, monkeypatch: pytest.MonkeyPatch, grader: Run, *options: str) -> str:
    """What `cellcheck autograde` says of wrong usage."""
    monkeypatch.chdir(course.root)
    ran = grader("autograde", LESSON, *options)
    assert ran.code == 2
    assert ran.err.count("\n") == 1, ran.err
    assert "Traceback" not in ran.err
    return ran.err


def test_a_workers_death_brings_no_traceback(cluster: LocalCluster) -> None:
    """Dask and Tornado report one, and its submissions that are lost, though all of them are graded elsewhere."""
    with connected(cluster.scheduler_address, print):
        for name in ("distributed.client", "distributed.worker", "tornado.application"):
            assert not logging.getLogger(name).isEnabledFor(logging.ERROR), name


def test_nobody_answers(course: Course, nobody: str, monkeypatch: pytest.MonkeyPatch, grader: Run) -> None:
    monkeypatch.setattr(clients, "ANSWER_SECONDS", 0.5)
    assert f"Nobody answers at {nobody}." in said_by_command(course, monkeypatch, grader, "--cluster", nobody)
    output = said_by_command(course, monkeypatch, grader, "--cluster", "slurm://here")
    assert "slurm://here is not the address of a Dask scheduler; one looks like tcp://HOST:8786" in output
    output = said_by_command(course, monkeypatch, grader, "--cluster", "nbgrader_config.py")
    assert "nbgrader_config.py is not the address" in output
    output = said_by_command(course, monkeypatch, grader, "--cluster", nobody.replace("tcp", "tls"))
    assert "Dask knows of no certificates here" in output
    output = said_by_command(course, monkeypatch, grader, "--cluster", nobody, "--jobs", "2")
    assert "leave --jobs out" in output


def test_there_are_no_workers(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "WORKER_SECONDS", 0.2)
    monkeypatch.setattr(clients, "LOOK_SECONDS", 0.1)
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(GraderError, match=r"has no workers: start some, with dask worker tcp://") as caught,
    ):
        grade(course, empty)
    assert not isinstance(caught.value, Halt)


def test_the_extra_is_not_installed(course: Course, nobody: str, monkeypatch: pytest.MonkeyPatch, grader: Run) -> None:
    monkeypatch.delitem(sys.modules, "cellcheck.cluster.client", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    output = said_by_command(course, monkeypatch, grader, "--cluster", nobody)
    assert "needs the package distributed, which isn't installed: install the course with its extra `cluster`" in output

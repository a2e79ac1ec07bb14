"""A gradebook on a PostgreSQL server: it holds what a file of SQLite's would, whatever happens on the way."""

import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from itertools import count
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.batch import Job
from cellcheck.gradebook import autograde
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.database import Database
from tests.assignments import sources
from tests.gradebook.small_class import (
    FIRST,
    LESSON,
    STANDS,
    command,
    content,
    copy_of,
    files,
    grade,
    graded_at_once,
    journal,
    marks,
    result,
)
from tests.gradebook.test_resume import each_step
from tests.postgres import PASSWORD, Server
from tests.warm import PATH, run


def on(course: Course, address: str, name: str = "served") -> Course:
    """A copy of a course whose gradebook is somewhere else."""
    served = copy_of(course, name)
    config = served.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text('utf-8')}\nc.CourseDirectory.db_url = {address!r}\n", "utf-8")
    return Course.open(served.root)


@pytest.fixture
def address(server: Server) -> str:
    """A new database."""
    return server.new()


# --- the same contents --------------------------------------------------------------------------------------------


def test_it_holds_what_a_file_would(course: Course, address: str) -> None:
    served = on(course, address)
    for graded in (course, served):
        grade(graded, seed=1)
        with graded.gradebook() as book:
            entry = book.find_grade(f"test_{FIRST}", LESSON, LESSON, "bea")
            entry.manual_score, entry.extra_credit = 0.75, 0.5
            book.update_or_create_assignment(LESSON, duedate="2026-03-01 10:00:00 UTC")
            book.grant_extension(LESSON, "bea", hours=3)
            book.db.commit()
        grade(graded)
        grade(graded, resume=True)
    assert content(address) == content(course.root)
    assert files(served.root) == files(course.root)
    assert marks(served) == marks(course)
    assert not list(served.root.glob("gradebook*"))


def test_nbgraders_older_name_of_the_setting(course: Course, address: str) -> None:
    served = copy_of(course, "served")
    with (served.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.NbGrader.db_url = {address!r}\n")
    grade(Course.open(served.root))
    assert len(content(address)["submitted_assignment"]) == len(STANDS)


COMMANDS = (
    "autograde intro",
    "autograde intro --resume",
    "report intro --html class.html",
    "feedback intro",
    *(f"export intro --to {system}" for system in ("csv", "canvas", "moodle", "gradescope")),
    "handback intro --out pages.zip",
    "similar intro",
    "collect downloads --lesson intro",
    "grade submitted/ada/intro/variables.ipynb --lesson intro",
)


def test_every_command_says_the_same(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "class" / "course"
    root.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(root, "intro", {"variables": sources.VARIABLES})
    for who, edits in {"ada": {"honour": "honest = True", "why": "Because."}, "bob": {}}.items():
        path = root / "submitted" / who / "intro" / "variables.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(sources.work(sources.VARIABLES, edits))
    (root / "downloads" / "cy").mkdir(parents=True)
    shutil.copy(root / "submitted" / "ada" / "intro" / "variables.ipynb", root / "downloads" / "cy")
    filed = Course.open(root)
    served = on(filed, address)
    outputs: list[list[str]] = []
    for there in (filed, served):
        monkeypatch.chdir(there.root)
        done = [CliRunner().invoke(cli.app, line.split(), env={"COLUMNS": "200"}) for line in COMMANDS]
        assert [(line, one.exit_code) for line, one in zip(COMMANDS, done, strict=True) if one.exit_code] == []
        outputs.append([re.sub(r"\d+(\.\d+)? m?s\b", "", one.output) for one in done])
    assert outputs[0] == outputs[1]
    assert re.search(r"^ada,.*,0\.25,8,", outputs[1][COMMANDS.index("export intro --to csv")], re.MULTILINE)
    assert content(address) == content(root)
    assert not list(served.root.glob("gradebook*"))
    # and nbgrader itself, beside us
    listed = run(["nbgrader", "db", "student", "list"], served.root, PATH)
    assert (listed.code, listed.output.count("(")) == (0, 2), listed.output


def test_made_by_two_at_the_same_moment(course: Course, address: str) -> None:
    started = Barrier(2)
    failed: list[BaseException] = []

    def opened(there: Course) -> None:
        started.wait()
        try:
            with there.gradebook() as book:
                assert book.students == []
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=opened, args=(on(course, address, name),)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    rows = content(address)
    assert (len(rows["course"]), len(rows["alembic_version"])) == (1, 1)


# --- stopped on the way -------------------------------------------------------------------------------------------


def in_a_fork(work: Callable[[], object]) -> int:
    """Does it in a copy of this process; the signal that ended it, or 0."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) * -1


def kill_at(step: int) -> Callable[[], None]:
    """Kills this process before that step of its."""
    numbers = count()

    def killer() -> None:
        if next(numbers) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return killer


def test_killed_at_any_step(course: Course, server: Server, pytestconfig: pytest.Config) -> None:
    straight = copy_of(course, "straight")
    grade(straight)
    steps: list[None] = []
    counted = on(course, server.new(), "counted")
    with each_step(lambda: steps.append(None)):
        grade(counted)
    assert len(steps) > 100  # or they were not seen
    for step in range(7, len(steps), 5 if pytestconfig.getoption("--long") else len(steps) // 3):
        address = server.new()
        left = on(course, address, f"killed {step}")

        def work(left: Course = left, step: int = step) -> None:
            with each_step(kill_at(step)):
                grade(left)

        assert in_a_fork(work) == signal.SIGKILL
        server.wait_until(lambda: not server.others())
        grade(left, resume=True)
        assert content(address) == content(straight.root), step
        assert files(left.root) == files(straight.root), step
        assert sorted(journal(left.root)) == sorted(STANDS)


def test_a_connection_that_is_lost_stops_the_run(
    course: Course, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lock was lost with it: whoever went on writing over a new connection might not be the only one."""
    address = server.new()
    served = on(course, address)

    def cut(paths: Sequence[Path], job: Job, others: Callable[..., Any]) -> Generator[list[tuple[Path, Any]]]:
        for number, path in enumerate(paths):
            if number == 1:
                holder = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                assert server.does(holder) == [(True,)]
                server.wait_until(lambda: not server.does("SELECT pid FROM pg_locks WHERE locktype = 'advisory'"))
            yield [(path, result(path.parent.name, job.seed, str(path)))]

    with monkeypatch.context() as patch:
        patch.setattr(autograde, "grade_in_groups", cut)
        assert command(served, patch, "--seed", "7") == 1
    err = capsys.readouterr().err.strip()
    assert re.fullmatch(r"The gradebook can't be \w+: .*What has been graded is kept: .* --resume\.", err)
    assert marks(served) == {"ada": result("ada").score}
    assert command(served, monkeypatch, "--resume") == 0
    grade(course)
    assert content(address) == content(course.root)
    assert graded_at_once is autograde.grade_in_groups


# --- two graders --------------------------------------------------------------------------------------------------


def test_a_second_grader_is_refused_wherever_its_folder_is(
    course: Course, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = server.new()
    one, two = on(course, address, "one"), on(course, address, "two")
    grade(one)
    before = content(address)
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        with one.alone():
            os.write(tell, b"held")
            signal.pause()
    try:
        assert os.read(told, 4) == b"held"
        for arguments in ([], ["--resume"]):
            assert command(two, monkeypatch, *arguments) == 2
            err = capsys.readouterr().err
            assert re.fullmatch(
                r"Another grader is writing to this gradebook \(postgresql.*\)\. Run this again when it is done\.\n",
                err,
            )
            assert PASSWORD not in err
        assert not (two.root / "autograded").exists()
        assert content(address) == before
    finally:
        os.kill(child, signal.SIGKILL)  # the lock goes with its process
        os.waitpid(child, 0)
    server.wait_until(lambda: not server.others())
    assert command(two, monkeypatch, "--seed", "7") == 0
    assert command(one, monkeypatch, "--resume") == 0
    with Database(server.new(), "another", Path()).alone():  # another gradebook on the same server is nobody's business
        pass


# --- a server that doesn't take us --------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[Server], str], str]] = {
    "unreachable": (lambda server: "postgresql+psycopg://ada:secret@127.0.0.1:1/marks", "Connection refused"),
    "a password in another place": (
        lambda server: "postgresql+psycopg://ada@127.0.0.1:1/marks?password=secret",
        "127.0.0.1:1/marks (see",
    ),
    "no socket": (lambda server: "postgresql+psycopg://ada:secret@/marks?host=/nowhere", "No such file or directory"),
    "wrong password": (lambda server: server.address("postgres", "secret"), "password authentication failed"),
    "no database": (lambda server: server.address("nothing"), 'database "nothing" does not exist'),
    "no address": (lambda server: "marks at postgres, password secret", "isn't the address of a database"),
}


@pytest.mark.parametrize("why", WRONG)
def test_a_server_that_can_t_be_used_is_one_sentence(
    why: str, course: Course, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make, says = WRONG[why]
    served = on(course, make(server))
    assert command(served, monkeypatch) == 2
    err = capsys.readouterr().err
    assert says in err
    assert "nbgrader_config.py" in err
    assert err.count("\n") == 1
    assert "secret" not in err
    assert PASSWORD not in err
    assert not (served.root / "autograded").exists()


def test_a_driver_that_is_missing_is_named(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served = on(course, "postgresql+psycopg://ada:secret@host/marks")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert command(served, monkeypatch) == 2
    err = capsys.readouterr().err
    assert "needs the package psycopg, which isn't installed: pip install" in err
    assert err.count("\n") == 1
    assert "secret" not in err

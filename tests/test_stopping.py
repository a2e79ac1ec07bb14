"""Ctrl-C, twice: whatever hangs, the grader's process ends at once, and with it all that it has started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from tests.attacks.attacks import wait_until
from tests.gradebook.small_class import FIRST, LESSON

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process does with signals")
ROOT = Path(__file__).parents[1]
RELEASED = Repository.find(ROOT).notebook(LESSON).read_text("utf-8")

SAYS = "\nStopping. Press Ctrl-C again to end this at once.\n"
STUCK = """
import ctypes, sys, threading
from concurrent.futures import ThreadPoolExecutor
from cellcheck import cli

def loops():
    print("ready", flush=True)
    while True:
        pass

def keeps_the_lock():
    sys.setswitchinterval(600)
    library = ctypes.PyDLL(None)
    library.write(1, b"ready\\n", 6)
    library.pause()

@cli.app.command()
def hang(how: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(globals()[how]).result()

sys.argv = ["cellcheck", "hang", sys.argv[1]]
cli.main()
"""


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A process that Ctrl-C reaches."""
    run = subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # whatever runs in the background ignores it
    )
    try:
        yield run
    finally:
        run.kill()
        run.communicate()


def listens(run: subprocess.Popen[str]) -> bool:
    """Whether the process does anything about Ctrl-C but end."""
    lines = Path(f"/proc/{run.pid}/status").read_text("ascii").splitlines()
    caught = int(next(line for line in lines if line.startswith("SigCgt")).split()[1], 16)
    return bool(caught & 1 << signal.SIGINT - 1)


@pytest.mark.parametrize("how", ["loops", "keeps_the_lock"])
def test_the_second_ctrl_c_ends_what_hangs(how: str) -> None:
    """A thread that never returns: whoever leaves in an orderly way waits for it."""
    with running("-c", STUCK, how) as run:
        assert run.stdout.readline() == "ready\n"
        assert listens(run)
        run.send_signal(signal.SIGINT)
        wait_until(lambda: not listens(run))
        if how == "loops":
            assert run.stderr.readline() + run.stderr.readline() == SAYS
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        assert run.communicate(timeout=300) == ("", "")
        assert run.returncode == -signal.SIGINT


def test_the_first_ctrl_c_is_python_s_own() -> None:
    """It says what the second would do, and a command that can end does."""
    code = STUCK.replace("while True:\n        pass", "signal.raise_signal(signal.SIGINT)")
    with running("-c", "import signal" + code, "loops") as run:
        err = run.communicate(timeout=300)[1]
        assert run.returncode not in (0, -signal.SIGINT)
        assert SAYS in err


def test_an_error_that_ctrl_c_has_caused_blames_no_file() -> None:
    """PyTorch, stopped while it loads, ends in a SystemError, and an exercise's file imports it."""
    code = STUCK.replace("while True:\n        pass", "pass").replace(
        "@cli.app.command()",
        """
@cli.app.command()
def load() -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise GraderError("a.py stops with SystemError: bad call flags. Correct it there.") from None

@cli.app.command()""",
    )
    program = f"import signal\nfrom cellcheck.errors import GraderError{code}".replace('"hang", sys.argv[1]', '"load"')
    with running("-c", program) as run:
        assert run.communicate(timeout=300) == ("", SAYS)
        assert run.returncode == 130


HANGING_END = """
import sys
from cellcheck import cli
from cellcheck.running import zygotes

def never(*_):
    print("hangs", flush=True)
    while True:
        pass

def forked(zygote, *arguments, fork=zygotes.Zygote.fork):
    process = fork(zygote, *arguments)
    if not zygote.setting.judging:
        print(zygote._process.process.pid, process[0], flush=True)
    return process

zygotes.end_work_of = never
zygotes.Zygote.fork = forked
cli.main()
"""


def descendants(pid: int) -> set[int]:
    """A process's children, and theirs."""
    children: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):  # a process belongs to the thread that started it
        with suppress(OSError):  # the thread has ended
            children += map(int, thread.read_text("ascii").split())
    return {*children, *(process for child in children for process in descendants(child))}


def lives(pid: int) -> bool:
    """Whether a process runs: one that has ended may stay in the list until somebody asks how."""
    return Path(f"/proc/{pid}/exe").exists()


def test_learners_processes_end_with_the_grader(tmp_path: Path) -> None:
    """Also when it has no time to end them."""
    endless = Learner("zz", LESSON, types={FIRST: "import time\nwhile True:\n    time.sleep(1)"})
    notebook = tmp_path / f"{LESSON}.ipynb"
    notebook.write_text(endless.hand_in(RELEASED), "utf-8")
    with running("-c", HANGING_END, "grade", str(notebook)) as run:
        # A warm process that was forked from another is not the grader's child: its number must be told.
        warm_and_its_child = {int(pid) for pid in run.stdout.readline().split()}
        run.send_signal(signal.SIGINT)
        assert "hangs\n" in run.stdout
        started = descendants(run.pid) | warm_and_its_child
        assert len(started) >= 3  # those two, and the process that reads notebooks
        assert all(lives(pid) for pid in warm_and_its_child)
        run.send_signal(signal.SIGINT)
        run.wait(300)
        assert run.returncode == -signal.SIGINT
        wait_until(lambda: not any(lives(pid) for pid in started))

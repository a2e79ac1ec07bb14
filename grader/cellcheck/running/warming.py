"""Processes that get warm, and do not know their lesson yet. One of several does the imports; the others are its twins.

To import PyTorch and the like takes a second of a core and a few hundred megabytes; a fork takes milliseconds, and
what it does not change it shares.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, Protocol, Self

from cellcheck.sandbox.groups import Group, NoGroups, home
from cellcheck.sandbox.kernel import own_handle

AHEAD: list[Warm] = []
"""One that was started before anybody could know what for; whoever needs one first takes it."""
START_SECONDS = 120.0  # importing torch on a busy machine
END_SECONDS = 10.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Handle(Protocol):
    """A process, as `subprocess.Popen` has one."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


class NoChild:
    """A process that somebody else has forked; `handle` is its pidfd. How it ended is for its parent to know."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self._handle = handle

    def poll(self) -> int | None:
        """0 when it has ended."""
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end.

        Raises:
            subprocess.TimeoutExpired: when it takes longer than `timeout` seconds.
        """
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return 0

    def kill(self) -> None:
        """Ends it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _has_ended(self, timeout: float | None) -> bool:
        poll = select.poll()  # the grader may hold more files than `select.select` can count
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(None if timeout is None else 1000 * timeout))

    def __del__(self) -> None:
        os.close(self._handle)


def start(control: socket.socket, log: IO[bytes]) -> Handle:
    """Starts a zygote, which takes its orders on `control`, and writes to `log` why it could not."""
    return subprocess.Popen(
        [sys.executable, "-m", "cellcheck.running.zygote"],
        stdin=control.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd="/",
        env=environment(),
        start_new_session=True,
    )


def environment() -> dict[str, str]:
    """Nothing of this process's environment but what Python itself needs."""
    passed = {name: os.environ[name] for name in ("PYTHONPATH", "MPLCONFIGDIR") if name in os.environ}
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": os.path.expanduser("~"),  # matplotlib's list of fonts; a child gets another home
        "MPLBACKEND": "agg",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **dict.fromkeys(_THREADS, "1"),
        **passed,
    }


class Warm:
    """A process that is getting warm, from outside."""

    def __init__(self, process: Handle | None, control: socket.socket, log: IO[bytes], light: bool = False) -> None:
        self.control = control
        self.light = light
        """Whether it has not imported what only cells need."""
        self.control.settimeout(START_SECONDS)
        self._said = log
        self._process = process
        self._group: Group | None = None
        self._has_orders = False

    @classmethod
    def started(cls) -> Self:
        """One that does its imports itself."""
        control, theirs = socket.socketpair()
        log = tempfile.TemporaryFile()  # noqa: SIM115 (read only if it does not start)
        with theirs:
            return cls(start(theirs, log), control, log)

    def twin(self, light: bool = False) -> Warm:
        """Another one, which forks off as soon as this one is warm. There are none of a process that has its orders.

        A light one forks off as soon as PyTorch is there, if it is asked for before any other.
        """
        if (handle := own_handle()) < 0:  # nobody could wait for its end
            return Warm.started()
        os.close(handle)
        control, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [json.dumps({"do": "twin", "light": light}).encode()], [theirs.fileno()])
        return Warm(None, control, os.fdopen(os.dup(self._said.fileno()), "rb"), light)

    @property
    def process(self) -> Handle:
        """The process, which may have to get warm before it can be told.

        Raises:
            OSError: when it is gone.
        """
        if self._process is None:
            answer, descriptors = self._heard(1)
            self._process = NoChild(int(answer["pid"]), descriptors[0])
        return self._process

    def grouped(self) -> Group | None:
        """The control group that it is in from now on, and its children with it; None where there are none.

        What it has filled before is not counted there.

        Raises:
            OSError: when the kernel does not allow it.
        """
        with contextlib.suppress(NoGroups):
            self._group = Group(home())
            self._group.enter(self.process.pid)
        return self._group

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        """Sends an order and returns the answer.

        Raises:
            OSError: when the process is gone.
        """
        self._has_orders = True
        _ = self.process  # a twin speaks first
        self.control.sendall(json.dumps(order).encode())
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next answer.

        Raises:
            OSError: when the process is gone.
        """
        return self._heard(0)[0]

    def _heard(self, descriptors: int) -> tuple[dict[str, Any], list[int]]:
        text, descriptors_sent, *_ = socket.recv_fds(self.control, 1 << 16, descriptors)
        if not text:
            raise ConnectionError("it ended")
        answer: dict[str, Any] = json.loads(text)
        return answer, descriptors_sent

    def last_words(self) -> str:
        """The last line of what it said on its standard error."""
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it gave no reason"

    def kill(self) -> None:
        """Ends it, and all its children: it sees to them when nobody talks to it any more."""
        self.control.close()
        if self._process is not None:  # else it is a twin that nobody has met: it ends when it is forked
            if not self._has_orders:  # it may still be importing, and has nobody to see to
                self._process.kill()
            try:
                self._process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._group is not None:
            self._group.remove()
        self._said.close()


def start_ahead() -> None:
    """Starts the first process, which imports what takes longest."""
    AHEAD.append(Warm.started())
    atexit.register(_end_ahead)


def _end_ahead() -> None:
    while AHEAD:
        AHEAD.pop().kill()


def first() -> Warm:
    """A process that does its imports itself: the one that was started ahead, or a new one."""
    return AHEAD.pop() if AHEAD else Warm.started()

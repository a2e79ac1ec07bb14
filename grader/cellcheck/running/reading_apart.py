"""Reads learners' files in processes of their own, with little time and memory: a file that goes wrong costs itself.

One small process without torch is started when it is first needed. It forks for each file, so that a crash, a structure
that eats all memory, or a parser that never ends is the end of that fork alone. Both ends are here: `read_apart` asks,
`main` is the process.
"""

import atexit
import contextlib
import gc
import hashlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from cellcheck.running.channel import Channel, Closed, by
from cellcheck.running.plain_cells import MAX_BYTES, Unreadable

CPU_SECONDS = 10  # an honest notebook takes a hundredth of one
WALL_SECONDS = 120.0  # on a machine that is very busy
MEMORY_BYTES = 2 * 2**30  # beside what the process has to begin with
MAX_ANSWER = 2**27
KEPT = 64  # answers: whoever grades a file soon writes down what came of it, and reads it once more
KEPT_BYTES = 2**19  # of one answer, at most; an honest notebook's has a third of that
MODULE = "cellcheck.running.reading_apart"
TOO_HARD = (
    "This file can't be read: it takes more time or memory than any notebook of this course. Open it in Jupyter, "
    "clear all outputs, delete what does not belong to it, save it, and submit it again."
)
_WORK = {
    "cells": ("cellcheck.running.plain_cells", "cells_of"),
    "cleaned": ("cellcheck.running.cleaning", "cleaned"),
    "outputs": ("cellcheck.running.outputs", "outputs_of"),
}
"""What can be done: a module, and its function from bytes to plain data."""


def read_apart(work: str, data: bytes) -> Any:
    """What the function that `work` names makes of the bytes, in a process of its own.

    Raises:
        Unreadable: what the function raised, or that it did not come to an end.
    """
    try:
        answer: dict[str, Any] = json.loads(_READER.ask(work, data))
    except (TimeoutError, Closed, ValueError, RecursionError):
        raise Unreadable(TOO_HARD) from None
    if "unreadable" in answer:
        raise Unreadable(answer["unreadable"])
    return answer["found"]


class _Reader:
    """The process that forks, from outside."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self._lately: OrderedDict[bytes, bytes] = OrderedDict()  # the last answers, by what they are about

    def ask(self, work: str, data: bytes) -> bytes:
        """The answer, as JSON. Nobody is asked about a file that was read just before.

        Raises:
            TimeoutError: when it does not come.
        """
        key = hashlib.sha256(work.encode() + b"\n" + data).digest()
        with self.lock:
            earlier = self._lately.get(key)
        if earlier is not None:
            return earlier
        try:
            answer = self._ask(work, data)
        except Closed:  # it would take as long again
            answer = json.dumps({"unreadable": TOO_HARD}).encode()
        if len(answer) <= KEPT_BYTES:
            with self.lock:
                self._lately[key] = answer
                if len(self._lately) > KEPT:
                    self._lately.popitem(last=False)
        return answer

    def _ask(self, work: str, data: bytes) -> bytes:
        ours, theirs = socket.socketpair()
        channel = Channel(ours.detach())
        patience = by(time.monotonic() + WALL_SECONDS)
        try:
            with theirs:
                self._send(work, theirs)
            channel.put(data, patience)
            return channel.take(patience, MAX_ANSWER)
        finally:
            channel.close()

    def _send(self, work: str, theirs: socket.socket) -> None:
        with self.lock:
            for attempt in (1, 2):
                if self.process is None or self.process.poll() is not None:
                    self._start()
                try:
                    socket.send_fds(self.control, [work.encode()], [theirs.fileno()])
                    return
                except OSError:  # somebody ended it
                    self._end()
                    if attempt == 2:
                        raise

    def _start(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", MODULE],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",  # where no module of a learner's lies
                start_new_session=True,
            )

    def close(self) -> None:
        with self.lock:
            self._end()

    def _end(self) -> None:
        if self.process is not None:
            self.control.close()
            self.process.kill()
            self.process.wait()
            self.process = None


_READER = _Reader()
atexit.register(_READER.close)


def main() -> None:
    """Forks for each socket that comes, until none comes any more."""
    control = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader
    importlib.import_module(_WORK["cells"][0])
    gc.collect()
    gc.freeze()
    while True:
        work, descriptors, *_ = socket.recv_fds(control, 100, 1)
        if not work or not descriptors:
            return
        module, name = _WORK[work.decode()]
        function = getattr(importlib.import_module(module), name)  # once, here: the forks have it then
        if os.fork() == 0:
            try:
                control.close()
                _serve(function, Connection(descriptors[0]))
            finally:
                os._exit(0)
        os.close(descriptors[0])


def _serve(function: Any, channel: Connection) -> None:
    """The life of a fork: one file in, one answer out."""
    data = channel.recv_bytes(MAX_BYTES + 1)
    import resource  # not there on Windows, where this module is imported and nothing is forked

    begun = 0
    with contextlib.suppress(OSError):
        begun = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, begun + MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))
    try:
        answer = {"found": function(data)}
    except Unreadable as error:
        answer = {"unreadable": str(error)}
    channel.send_bytes(json.dumps(answer).encode())


if __name__ == "__main__":
    main()

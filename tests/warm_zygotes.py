"""Zygotes for tests, forked where PyTorch is imported already.

A zygote spends four seconds on importing PyTorch and the like before it knows what it is for. Here a single process
does that, in surroundings as empty as a zygote's, and each zygote begins as a fork of it. The attacks start theirs as
the grader does.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from cellcheck.running import warming, zygote

ROOT = Path(__file__).parents[1]
cold = warming.start


class Mother:
    """The process that zygotes are forked from, from outside. It starts when it is first needed."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="zygotes-"))
        self.address = str(self.folder / "mother")
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()

    def ready(self) -> str:
        """The address that zygotes can be ordered at from now on."""
        with self.lock:  # several threads grade at a time
            if self.process is None:
                self._start()
        return self.address

    def _start(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(self.address)
            listening.listen(64)
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_zygotes"],
                stdin=listening.fileno(),
                cwd=ROOT,
                env=warming.environment() | {"PYTHONPATH": str(ROOT)},
            )

    def stop(self) -> None:
        """Ends it when its zygotes have ended, so that what all of them used is counted with this process's."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            Path(self.address).unlink()
        self.folder.rmdir()


def start(address: str, control: socket.socket, stderr: IO[bytes]) -> warming.Handle:
    """In place of the grader's own `start`."""
    wanted = warming.environment()
    if any(Path(place, "sitecustomize.py").exists() for place in wanted.get("PYTHONPATH", "").split(os.pathsep)):
        return cold(control, stderr)  # a fresh Python would see it
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as mother:
        mother.connect(address)
        socket.send_fds(mother, [json.dumps(wanted).encode()], [control.fileno(), stderr.fileno()])
        pid = int(mother.recv(100))
        return warming.NoChild(pid, os.pidfd_open(pid))


def main() -> None:
    """Forks for everybody who asks."""
    listening = socket.socket(fileno=os.dup(0))
    zygote.warm()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        while True:
            asking, _ = listening.accept()
            _reap(os.WNOHANG)
            text, descriptors, *_ = socket.recv_fds(asking, 1 << 16, 2)
            pid = os.fork()
            if pid == 0:
                listening.close()
                asking.close()
                _become(json.loads(text), *descriptors)
            asking.send(str(pid).encode())
            for descriptor in (*descriptors, asking.detach()):
                os.close(descriptor)
    finally:
        _reap(0)


def _reap(options: int) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def _become(environment: Mapping[str, str], control: int, stderr: int) -> None:
    """The life of a fork: all is as a fresh Python would have it."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        os.chdir("/")
        for descriptor, place in ((control, 0), (stderr, 2)):
            os.dup2(descriptor, place)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        own = [place for place in sys.path if place]
        sys.path[:] = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *own]
        zygote.main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()

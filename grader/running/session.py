"""The parent's side of the border: starts the learner's process, asks it, and stops it when it must."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grader.running.channel import Channel, Closed
from grader.running.wire import MAX_MESSAGE, BadMessage, decode, encode

START_SECONDS = 120.0  # importing torch on a busy machine


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell_seconds: float = 20.0
    probe_seconds: float = 10.0
    """For all cases of one exercise together."""
    memory_bytes: int = 8 * 2**30
    """Address space, torch's own mappings included."""
    file_bytes: int = 64 * 2**20


class Stopped(Exception):
    """The learner's process is gone: it ran too long, or it ended by itself."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class Session:
    """One learner's process. After `Stopped`, `restart` makes a fresh one that knows what the old one had learnt."""

    def __init__(self, lesson: str, modules: list[str], limits: Limits) -> None:
        self.lesson = lesson
        self.modules = modules
        self.limits = limits
        self._history: list[dict[str, Any]] = []
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._scratch = tempfile.TemporaryDirectory(prefix="submission-")
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        with contextlib.suppress(OSError):
            self._scratch.cleanup()

    def run(self, source: str) -> dict[str, Any] | None:
        """Runs a cell; returns the error's description, or None when it went well.

        Raises:
            Stopped: when it did not come back.
        """
        message = {"do": "run", "source": source}
        answer = self._ask(message, self.limits.cell_seconds)
        self._history.append(message)  # what a cell did before its error stays
        error = answer.get("error")
        return error if isinstance(error, dict) else None

    def probe(self, symbol: str, inputs: dict[str, Any], seconds: float) -> dict[str, Any]:
        """What the learner's symbol does on one case: `{"seen": ...}`, `{"absent": True}` or `{"imported": True}`.

        Raises:
            Stopped: when no answer came.
        """
        answer = self._ask({"do": "probe", "symbol": symbol, "inputs": inputs}, seconds)
        if "error" in answer:  # the learner's code got around the probe's own net
            return {"seen": {"error": answer["error"]}}
        return answer

    def restore(self, symbol: str, module: str, source: str) -> None:
        """Hands over the course's text of a symbol that has been answered for."""
        message = {"do": "restore", "symbol": symbol, "module": module, "source": source}
        self._ask(message, self.limits.cell_seconds)
        self._history.append(message)

    def restart(self) -> None:
        """A fresh process, in which everything that came back is done again.

        Raises:
            Stopped: when what came back before does not come back again.
        """
        self._stop()
        self._start()
        for message in self._history:
            self._ask(message, self.limits.cell_seconds)

    def _start(self) -> None:
        # Nothing of this process's environment goes in but what Python itself needs.
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": self._scratch.name,
            "IPYTHONDIR": self._scratch.name,
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR", self._scratch.name),
            "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": "1",
            "LC_ALL": "C.UTF-8",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grader.running.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._scratch.name,
            env=environment,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._channel = Channel(os.dup(self._process.stdout.fileno()), os.dup(self._process.stdin.fileno()))
        self._process.stdin.close()
        self._process.stdout.close()
        beginning = {
            "do": "begin",
            "lesson": self.lesson,
            "modules": self.modules,
            "memory_bytes": self.limits.memory_bytes,
            "file_bytes": self.limits.file_bytes,
        }
        self._ask(beginning, START_SECONDS)

    def _stop(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._channel.close()
        self._process = None

    def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        try:
            self._channel.put(encode(message), deadline)
            answer = decode(self._channel.take(deadline, MAX_MESSAGE))
        except TimeoutError as error:
            raise Stopped("timeout") from error
        except (Closed, BadMessage) as error:
            raise Stopped("crashed") from error
        if not isinstance(answer, dict):
            raise Stopped("crashed")
        return answer

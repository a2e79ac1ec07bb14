"""The learner's process: runs cells in IPython, and answers probes with plain data.

It holds no secret: no seed, no reference, no gradebook. It is told what to do one message at a time:

- `{"do": "begin", "lesson", "modules", ...limits}`: make ready; the course's modules of this lesson are blanked
- `{"do": "run", "source"}`: run a cell -> `{"ok"}` or `{"error"}`
- `{"do": "probe", "symbol", "inputs"}`: call the learner's symbol on a case -> `{"seen"}`, `{"absent"}`, ...
- `{"do": "restore", "symbol", "module", "source"}`: the course's text of a symbol that has been answered for
"""

from __future__ import annotations

import os
import resource
import sys
from multiprocessing.connection import Connection
from typing import Any

from grader.running.wire import decode, encode


class Child:
    """State of the learner's process: an IPython shell and the earlier symbols handed over so far."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        class Shell(InteractiveShell):  # type: ignore[misc]
            def enable_gui(self, gui: object = None) -> None:
                """There are no windows here, and `%matplotlib inline` asks for none."""

        no_history = Config({"HistoryManager": {"enabled": False}})
        self.shell: Any = Shell.instance(user_ns={"__name__": "__main__"}, config=no_history)
        self.earlier: dict[str, Any] = {}
        self.probes: dict[str, Any] = {}

    def begin(self, lesson: str, modules: list[str], memory_bytes: int, file_bytes: int) -> dict[str, Any]:
        import matplotlib

        import grader
        from grader.probes import load_probes
        from grader.running.blanks import blank_modules

        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        matplotlib.use("agg")
        self.probes = load_probes(lesson)
        blank_modules(modules)
        # A check inside a learner's own cell must not bring the references in.
        setattr(grader, "checks", lambda lesson: _silent_check)  # noqa: B010 (its type says Checker)
        sys.path.insert(0, os.getcwd())
        return {"ok": True}

    def run(self, source: str) -> dict[str, Any]:
        from grader.probes.observe import describe_error

        result = self.shell.run_cell(source, store_history=True, silent=False)
        error = result.error_before_exec or result.error_in_exec
        if error is None:
            return {"ok": True}
        return {"error": describe_error(error)}

    def probe(self, symbol: str, inputs: dict[str, Any]) -> dict[str, Any]:
        from grader.checking.earlier import bound
        from grader.probes.observe import observe

        if symbol not in self.shell.user_ns:
            return {"absent": True}
        learners = self.shell.user_ns[symbol]
        if str(getattr(learners, "__module__", "")).split(".")[0] == "course":
            return {"imported": True}
        with bound(learners, self.earlier):
            return {"seen": observe(self.probes[symbol], learners, inputs)}

    def restore(self, symbol: str, module: str, source: str) -> dict[str, Any]:
        from grader.running.blanks import restore

        self.earlier[symbol] = restore(module, source, symbol)
        return {"ok": True}


def _silent_check(symbol: object) -> None:
    """Stands for `check` while a submission is graded."""


def main() -> None:
    """Answers messages on standard input and output until they end; the learner's code gets neither."""
    channel_in, channel_out = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    incoming = Connection(channel_in, writable=False)
    outgoing = Connection(channel_out, readable=False)

    import torch

    torch.set_num_threads(1)
    child = Child()
    while True:
        try:
            message = decode(incoming.recv_bytes())
        except EOFError:
            return
        action = message.pop("do")
        try:
            answer = getattr(child, action)(**message)
        except BaseException as error:  # learner code may raise anything, KeyboardInterrupt included
            from grader.probes.observe import describe_error

            answer = {"error": describe_error(error)}
        outgoing.send_bytes(encode(answer))


if __name__ == "__main__":
    main()

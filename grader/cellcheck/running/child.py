"""The learner's process: runs cells in IPython, and answers probes with plain data.

It holds no secret: no seed, no reference, no gradebook. It is told what to do one message at a time:

- `{"do": "file", "name", "data", "more"}`: put a file, or the next piece of it, into the working folder -> `{"ok"}`
- `{"do": "run", "source"}`: run a cell -> `{"ok", "value", "shown"}` or `{"error"}`. The value is that of its last
  line, where it is a number; `shown` says that the line showed something else. Either has `"refused": True` where a
  command in the cell, such as `!pip install einops`, ended with an error
- `{"do": "probe", "symbol", "cases", "patients"}`: call the learner's symbol on each case -> one `{"seen"}` a case,
  or one `{"absent"}` or `{"imported"}`. Before that, any number of questions to the case's patient,
  `{"ask", "arguments"}`, each of which is answered with `{"value"}` or `{"raised"}`
- `{"do": "restore", "symbol", "module", "source"}`: the course's text of a symbol that has been answered for.
  It comes in a message of its own: what a message holds, the learner's code can find

An `{"error"}` ends the answers to any message.
"""

import builtins
import io
import math
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import cellcheck
import cellcheck.variants  # a cell may ask for its draw, and finds no files of ours
from cellcheck.authoring.calls import Probe, in_order
from cellcheck.authoring.observe import describe_error, observe, snapshot
from cellcheck.authoring.patients import Ask, answer_in
from cellcheck.authoring.traces import process_put_back
from cellcheck.checking.earlier import bound
from cellcheck.running.blanks import restore
from cellcheck.running.wire import MAX_MESSAGE, MAX_TEXT, decode, encode

MAX_PRINTED = 10_000_000  # characters a cell


class OutputLimit(RuntimeError):
    """A cell printed more than anybody could read."""


class NobodyToAsk(RuntimeError):
    """A cell called `input()`."""


class _Shell(InteractiveShell):  # type: ignore[misc]
    """IPython without a terminal, a history, or windows."""

    def enable_gui(self, gui: object = None) -> None:
        """There are no windows here, and `%matplotlib inline` asks for none."""

    failed: BaseException | None = None
    refused = False
    """Whether a command ended with an error."""

    def system(self, cmd: str) -> None:
        """Runs a line `!command`, which IPython would give a terminal: none can be opened here.

        As in a notebook, a command that fails stops nothing.
        """
        if cmd.rstrip().endswith("&"):
            raise OSError("Background processes not supported.")
        command = self.var_expand(cmd, depth=1)
        with subprocess.Popen(
            command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as running:
            assert running.stdout is not None
            try:
                # What it leaves behind in the background may keep the pipe open: nobody waits for that.
                while (ready := select.select([running.stdout], [], [], 0.1)[0]) or running.poll() is None:
                    piece = os.read(running.stdout.fileno(), 2**16) if ready else None
                    if piece == b"":
                        break
                    sys.stdout.write((piece or b"").decode("utf-8", "replace"))
            except BaseException:  # it may print without end
                running.kill()
                raise
        self.user_ns["_exit_code"] = running.returncode
        self.refused |= running.returncode != 0

    def should_run_async(self, raw_cell: str, **options: Any) -> bool:
        """Whether it awaits something. IPython compiles each cell to find out, and most have none of the words."""
        return ("await" in raw_cell or "async" in raw_cell) and bool(super().should_run_async(raw_cell, **options))

    def showtraceback(self, exc_tuple: Any = None, *args: object, **kwargs: object) -> None:
        """Keeps the error for the grader; nobody reads it here.

        That of a cell within a cell (`%%capture`, `%run`) comes along here and nowhere else.
        """
        self.failed = exc_tuple[1] if exc_tuple else sys.exc_info()[1]

    def _format_exception_for_storage(self, exception: BaseException, *args: object, **kwargs: object) -> list[str]:
        """Formats no traceback for the history: of an endless recursion that takes longer than a cell may run."""
        return []

    def showsyntaxerror(self, *args: object, **kwargs: object) -> None:
        """The same."""
        self.failed = sys.exc_info()[1]


class _Output(io.TextIOBase):
    """Takes what is printed, and forgets it; counts, so that printing without end comes to an end."""

    encoding = "utf-8"
    printed = 0

    def write(self, text: str) -> int:
        self.printed += len(text)
        if self.printed > MAX_PRINTED:
            raise OutputLimit(f"more than {MAX_PRINTED:,} characters were printed")
        return len(text)

    def writable(self) -> bool:
        return True


class Child:
    """State of the learner's process. Made once in the zygote; each forked child goes on from there."""

    def __init__(
        self, probes: Mapping[str, Probe], library: frozenset[str], packages: Sequence[str], *, plain: bool = False
    ) -> None:
        config = Config({"HistoryManager": {"enabled": False}})
        self.shell: Any = _Shell.instance(user_ns={"__name__": "__main__"}, config=config)
        self.shell.db = {}  # where `%cd` and others take notes: what is on disk can't be written to
        # What IPython makes and imports for the first cell: no fork need do it again. Nothing of this cell stays.
        self.shell.run_cell("0", silent=True)
        _ = self.shell.logger
        self.probes = probes
        self.library = library
        self.packages = packages
        self.earlier: dict[str, Any] = {}
        self.output = _Output()
        # A check inside a learner's own cell must not bring the references in, and nothing is handed in from here.
        # In a plain notebook nobody asks for an exercise: a test that only checks would give full points to everybody.
        setattr(cellcheck, "checks", _no_checks if plain else lambda *_, **__: _silent_check)  # noqa: B010 (its type says Checker)
        setattr(cellcheck, "submit", lambda *_, **__: None)  # noqa: B010
        builtins.input = _no_input
        sys.path.insert(0, "")  # as in a notebook: the working folder
        # pip would try again and again, and there is no network.
        os.environ["NBGRADER_EXECUTION"] = "autograde"  # as nbgrader says while it grades
        os.environ.update(PIP_RETRIES="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")

    def serve(self, descriptor: int) -> None:
        """Answers messages until they end."""
        self.channel = channel = Connection(descriptor)
        sys.stdout = sys.stderr = self.output
        while True:
            try:
                message = decode(channel.recv_bytes(), MAX_MESSAGE)
            except EOFError:
                return
            action = message.pop("do")
            try:
                for answer in getattr(self, action)(**message):
                    channel.send_bytes(_packed(answer))
            except BaseException as error:  # learner code may raise anything, KeyboardInterrupt included
                channel.send_bytes(encode({"error": describe_error(error)}))

    def file(self, name: str, data: np.ndarray, more: bool) -> Iterator[dict[str, Any]]:
        """Writes a file into the working folder, or goes on with it."""
        path = Path(name)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError("a file outside of the working folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if more else "wb") as file:
            file.write(data.tobytes())
        yield {"ok": True}

    def run(self, source: str) -> Iterator[dict[str, Any]]:
        """Runs a cell."""
        self.output.printed = 0
        self.shell.failed, self.shell.refused = None, False
        result = self.shell.run_cell(source, store_history=True, silent=False)
        error = result.error_before_exec or result.error_in_exec or self.shell.failed
        refused = {"refused": True} if self.shell.refused else {}
        if error is not None:
            yield {"error": describe_error(error), **refused}
        else:
            value = _number(result.result)
            yield {"ok": True, "value": value, "shown": value is None and result.result is not None, **refused}

    def probe(self, symbol: str, cases: list[dict[str, Any]], patients: bool) -> Iterator[dict[str, Any]]:
        """Calls the learner's symbol on each case; where there are patients, with a way to ask them."""
        self.output.printed = 0
        learners = self.shell.user_ns.get(symbol, self)
        if learners is self:
            yield {"absent": True}
        elif _home(learners) in self.library:
            yield {"imported": True}
        else:
            asking = {"patient": self._asking()} if patients else {}
            with process_put_back():
                for inputs in cases:
                    yield {"seen": self._seen(symbol, learners, {**inputs, **asking})}

    def _seen(self, symbol: str, learners: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """What one case shows: there is an answer to each question, whatever the learner's code does."""
        try:
            with bound(learners, self.earlier):
                return observe(self.probes.get(symbol, in_order), learners, inputs)
        except BaseException as error:  # KeyboardInterrupt, or what `bound` met on its way
            return {"error": describe_error(error)}

    def _asking(self) -> Ask:
        """A way to ask the case's patient, which is in another process."""
        channel = self.channel

        def ask(way: str, *arguments: Any) -> Any:
            channel.send_bytes(encode({"ask": way, "arguments": snapshot(list(arguments))}, MAX_TEXT))
            return answer_in(decode(channel.recv_bytes(), MAX_MESSAGE))

        return ask

    def restore(self, symbol: str, module: str, source: str) -> Iterator[dict[str, Any]]:
        """Hands over the course's text of a symbol that has been answered for."""
        self.earlier[symbol] = restore(module, source, symbol, self.packages)
        yield {"ok": True}


def _packed(answer: dict[str, Any]) -> bytes:
    """The answer as it crosses the border; one that can't is an error of its own."""
    try:
        return encode(answer, MAX_TEXT)
    except Exception as error:
        why = {"error": describe_error(error)}
        return encode({"seen": why} if "seen" in answer else why)


def _number(value: Any) -> float | None:
    """The number of points that a test's last line shows; None where it shows something else, or nothing.

    `True` is none: what it says is that all is well. `False` is 0.
    """
    try:
        tensor = getattr(
            sys.modules.get("torch"), "Tensor", np.ndarray
        )  # where there is no torch, there are no tensors
        if isinstance(value, np.ndarray | np.generic | tensor) and math.prod(value.shape) == 1:
            value = value.item()
        if isinstance(value, bool):
            return None if value else 0.0
        if isinstance(value, int | float | Decimal | Fraction):
            return float(value)
        return None if value is None else float(repr(value))
    except BaseException:  # a learner's object may raise anything
        return None


def _home(symbol: Any) -> str:
    """The package that a symbol says it comes from."""
    try:
        return str(symbol.__module__).split(".")[0]
    except BaseException:  # a learner's object may raise anything
        return ""


def _silent_check(symbol: object) -> None:
    """Stands for `check` while a submission is graded."""


def _no_checks(*_: object, **__: object) -> None:
    raise RuntimeError("check belongs to a lesson, and this assignment isn't one")


def _no_input(prompt: object = "") -> str:
    raise NobodyToAsk("input() has nobody to ask while a notebook is graded")

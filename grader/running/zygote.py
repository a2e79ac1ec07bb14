"""The warm process that learners' processes are forked from: one a core, single-threaded, without a secret.

It is started once for a lesson, imports everything a lesson needs (of the course, this lesson's symbols are blank),
walls itself in, and then waits on its control socket, standard input. A process that judges is another one of the same
kind, which has the lesson whole, and no learner's code in it:

- `{"do": "twin"}` with one open socket: forks a process like this one, which takes its orders on that socket and first
  says there `{"pid"}`, with its pidfd
- `{"setting", "scratch"}` says which lesson it is for and what nobody may see (a `Setting`), and where its children may
  write -> `{"missing": {...}}`, the protections that this machine lacks; or `{"refused": "..."}`
- `{"do": "fork", "ahead", "scratch", ...limits}` with one open socket: forks a child that serves that socket ->
  `{"pid"}`. `ahead` is null, or what a process that judges prepares for it
- `{"do": "end"}`: kills the last child and all it started -> `{"status"}`, how it ended

When the control socket closes, it ends, and its children with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import pkgutil
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Protocol

from grader.authoring.calls import probes_in
from grader.running.blanks import blank_modules
from grader.running.child import Child
from grader.sandbox import kernel
from grader.sandbox.sight import CannotHide
from grader.sandbox.walls import Unsafe, Walls
from grader.travelling import SECRET

_HEAVY = ("numpy", "pandas", "seaborn", "matplotlib.pyplot", "tqdm.auto", "safetensors.numpy", "IPython")


class Serving(Protocol):
    """What a forked child goes on with."""

    def serve(self, descriptor: int) -> None:
        """The life of a child: answers messages until they end."""


class Judging(Serving, Protocol):
    """`grader.running.judging.Judging`."""

    def prepare(self, *, apart: Callable[[Callable[[], Iterable[bytes]]], list[bytes]], **ahead: Any) -> None:
        """What is to be done before the next child is forked; `apart` does some of it in a process like a child's."""


def main() -> None:
    """Serves the control socket until it closes."""
    gc.disable()  # what is imported stays, and looking for garbage in it takes a fifth of the time
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or the kernel forgets what ended children have used
    control = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    warm()
    while True:
        text, descriptors, *_ = socket.recv_fds(control, 1 << 16, 1)
        if not text:
            return
        order = json.loads(text)
        if order.get("do") != "twin":
            break
        control = _twin(control, socket.socket(fileno=descriptors[0]))
    setting = order["setting"]
    hidden = setting.pop("hidden")
    judging = _for_judging(**setting) if setting.pop("judging") else None
    child = judging or _for_lesson(**setting)
    solutions = _solutions(*setting["library"], setting["lessons"])
    try:
        walls = Walls.build([*solutions, *map(Path, hidden)], order["scratch"])
    except (CannotHide, Unsafe) as error:
        _say(control, {"refused": str(error)})
        return
    os.dup2(nowhere, 2)
    os.close(nowhere)
    gc.freeze()  # or the collector would touch, and so copy, every page after a fork
    gc.enable()
    _say(control, {"missing": walls.missing})
    try:
        _serve(control, child, walls, judging)
    finally:
        kernel.end_children()  # a child ends with this process, but its own children may not


def _twin(own: socket.socket, its: socket.socket) -> socket.socket:
    """Forks a process like this one; returns the socket to take orders on, in both of them.

    It is nobody's child, so that whoever ends its own children, as a zygote does, does not end its twin.
    """
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        its.close()
        return own
    if os.fork():
        os._exit(0)
    own.close()
    os.setsid()
    handle = kernel.own_handle()
    socket.send_fds(its, [json.dumps({"pid": os.getpid()}).encode()], [handle])
    os.close(handle)
    return its


def _serve(control: socket.socket, child: Serving, walls: Walls, judging: Judging | None) -> None:
    """Takes orders until the control socket closes."""
    pid = 0
    while True:
        text, descriptors, *_ = socket.recv_fds(control, 1 << 16, 1)
        if not text:
            return
        order = json.loads(text)
        if order.pop("do") == "end":
            _say(control, {"status": _end(pid)})
            pid = 0  # the number may soon be somebody else's
            continue
        ahead = order.pop("ahead")
        if judging is not None:
            judging.prepare(**ahead, apart=partial(_apart, walls, control, order))
        pid = walls.fork()
        if pid == 0:
            control.close()
            _become(child, walls, descriptors[0], order)
        os.close(descriptors[0])
        _say(control, {"pid": pid})


def warm() -> None:
    """Imports what lessons need; PyTorch where it is installed, since only some of them do without."""
    if importlib.util.find_spec("torch") is not None:
        _warm_torch()
    for name in _HEAVY:
        importlib.import_module(name)
    import matplotlib

    matplotlib.use("agg")


def _for_lesson(
    lesson: str,
    root: str,
    lessons: str,
    probes: list[str],
    companions: list[str],
    library: list[str],
    blanked: list[str],
    optimises: bool,
) -> Child:
    """Imports the library with the lesson's blanks, and makes the shell that the learner's cells will run in.

    Raises:
        ImportError: when the probes bring something along that knows answers.
    """
    if root and not any(os.path.realpath(place or "/") == os.path.realpath(root) for place in sys.path):
        sys.path.insert(0, root)
    blank_modules(blanked)
    for package in library:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            try:
                importlib.import_module(module.name)
            except NotImplementedError:  # a later lesson's, made with what is blank in this one
                continue
            except ModuleNotFoundError as error:  # other lessons', which need a package that is not installed
                if (error.name or "").split(".")[0] in (*library, lessons):
                    raise
    for companion in companions:
        importlib.import_module(companion)
    _warm_optimisers(optimises)
    own = {symbol: probe for name in probes for symbol, probe in probes_in(importlib.import_module(name)).items()}
    child = Child(own, frozenset(library), (*library, lessons), plain=not lesson)
    known = [
        name for name in sys.modules if lesson and name.startswith(f"{lessons}.") and SECRET & set(name.split("."))
    ]
    if known:
        raise ImportError(f"{', '.join(probes)} brings {known[0]} along, which knows the answers of {lesson}")
    return child


def _for_judging(lesson: str, root: str, lessons: str, optimises: bool, **_: Any) -> Judging:
    """Imports the lesson whole. By name: a process for learners' code must not reach what judges."""
    _warm_optimisers(optimises)
    os.environ["GRADER_LESSONS"] = os.path.join(root, lessons)
    judging: Judging = importlib.import_module("grader.running.judging").Judging(lesson)
    return judging


def _warm_torch() -> None:
    """Also does what is slow the first time. No gradients: their threads would not survive a fork."""
    import torch

    torch.set_num_threads(1)
    with torch.no_grad():
        for dtype in (torch.float32, torch.float64):
            x = torch.nn.functional.linear(torch.ones(2, 3, 4, dtype=dtype), torch.ones(4, 4, dtype=dtype))
            torch.softmax(x @ x.transpose(-2, -1), dim=-1)


def _warm_optimisers(wanted: bool) -> None:
    """The first one that is made imports as much as PyTorch itself does."""
    if wanted and "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.optim.Adam([torch.zeros(1, requires_grad=True)])


def _solutions(*packages: str) -> list[Path]:
    """The folders that hold solutions and references: all that is needed of them is imported already."""
    named = [name for name in ("grader", *packages) if name]
    return [Path(folder) for name in named for folder in importlib.import_module(name).__path__]


def _become(child: Serving, walls: Walls, channel: int, order: dict[str, Any]) -> None:
    """The life of a forked child; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader
        os.setsid()
        walls.shut(**order)
        child.serve(channel)
        code = 0
    finally:
        os._exit(code)  # no exit handler of a learner's, and none of the zygote's


def _apart(
    walls: Walls, control: socket.socket, order: dict[str, Any], work: Callable[[], Iterable[bytes]]
) -> list[bytes]:
    """The messages that `work` gives in a child of its own. It is the course's work: no learner's code is in it."""
    ours, theirs = Pipe(duplex=False)
    pid = walls.fork()
    if pid == 0:
        code = 1
        try:
            control.close()
            ours.close()
            os.setsid()
            walls.shut(**order)
            for message in work():
                theirs.send_bytes(message)
            code = 0
        finally:
            os._exit(code)
    theirs.close()
    messages = []
    with contextlib.suppress(EOFError):
        while True:
            messages.append(ours.recv_bytes())
    ours.close()
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise RuntimeError("what is right could not be seen")
    return messages


def _end(pid: int) -> int:
    if pid == 0:
        return 0
    try:
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except (ProcessLookupError, ChildProcessError):
        return 0
    finally:
        kernel.end_children()  # none are left where the child was the first of a namespace of its own


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode())


if __name__ == "__main__":
    main()
    os._exit(0)  # taking it apart, module by module, would keep whoever waits for its end waiting

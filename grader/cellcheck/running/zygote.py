"""The warm process that learners' processes are forked from: one a core, single-threaded, without a secret.

It is started once for a lesson, imports everything a lesson needs (of the course, this lesson's symbols are blank),
walls itself in, and then waits on its control socket, standard input. A process that judges is another one of the same
kind, which has the lesson whole, and no learner's code in it:

- `{"do": "twin", "light"}` with one open socket: forks a process like this one, which takes its orders on that socket
  and first says there `{"pid"}`, with its pidfd. A `light` one is forked as soon as PyTorch is there: judging needs
  nothing of what only cells import, and gets ready meanwhile
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
import select
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cellcheck.authoring.calls import probes_in
from cellcheck.running.blanks import blank_modules
from cellcheck.sandbox import kernel
from cellcheck.sandbox.sight import CannotHide
from cellcheck.sandbox.walls import Unsafe, Walls
from cellcheck.travelling import SECRET

if TYPE_CHECKING:
    from cellcheck.running.child import Child

_OF_CELLS = ("pandas", "seaborn", "matplotlib.pyplot", "tqdm.auto", "cellcheck.running.child")


Work = Callable[[], Iterable[bytes]]


class Serving(Protocol):
    """What a forked child goes on with."""

    def serve(self, descriptor: int) -> None:
        """The life of a child: answers messages until they end."""


class JudgingService(Serving, Protocol):
    """`cellcheck.running.judging.Judging`."""

    def prepare(self, *, apart: Callable[[Sequence[Work]], list[bytes]], **ahead: Any) -> None:
        """What is to be done before the next child is forked; `apart` does some of it in processes like a child's."""


def main() -> None:
    """Serves the control socket until it closes."""
    gc.disable()  # what is imported stays, and looking for garbage in it takes a fifth of the time
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or the kernel forgets what ended children have used
    control = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    _warm_torch()
    control, order = _ordered(control)
    if order is None:
        return
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


def _ordered(control: socket.socket) -> tuple[socket.socket, dict[str, Any] | None]:
    """Makes twins until it is told what it is for: the socket that this came on, and the order.

    None when nobody has an order any more. While there is nothing else to do, it imports what cells need, unless it is
    light.
    """
    light = whole = False
    while True:
        if not (light or whole or select.select([control], [], [], 0)[0]):
            _warm_for_cells()
            whole = True
        text, descriptors, *_ = socket.recv_fds(control, 1 << 16, 1)
        if not text:
            return control, None
        order = json.loads(text)
        if order.get("do") != "twin":
            return control, order
        if not (light or whole or order["light"]):
            _warm_for_cells()
            whole = True
        own = _twin(control, socket.socket(fileno=descriptors[0]))
        if own is not control:
            control, light = own, order["light"]


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


def _serve(control: socket.socket, child: Serving, walls: Walls, judging: JudgingService | None) -> None:
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
    """Imports what lessons need."""
    _warm_torch()
    _warm_for_cells()


def _warm_for_cells() -> None:
    """Imports what only cells need, and what runs them."""
    for name in _OF_CELLS:
        with contextlib.suppress(ModuleNotFoundError):  # a course does without some of it
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
    _warm_for_cells()
    from cellcheck.running.child import Child

    if root and not any(os.path.realpath(place or "/") == os.path.realpath(root) for place in sys.path):
        sys.path.insert(0, root)
    blank_modules(blanked)
    for package in library:
        _import_all(package, {*library, lessons.split(".")[0]}, leaving_out=lessons)
    for companion in companions:
        importlib.import_module(companion)
    _warm_optimisers(optimises)
    own = {symbol: probe for name in probes for symbol, probe in probes_in(importlib.import_module(name)).items()}
    child = Child(own, frozenset(library), (*library, lessons), plain=not lesson)
    leaks = [
        name for name in sys.modules if lesson and name.startswith(f"{lessons}.") and SECRET & set(name.split("."))
    ]
    if leaks:
        raise ImportError(f"{', '.join(probes)} brings {leaks[0]} along, which knows the answers of {lesson}")
    return child


def _import_all(package: str, ours: Collection[str], leaving_out: str) -> None:
    """Imports a package and the modules in it, except for the package of lessons, which knows the answers."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if module.name == leaving_out:
            continue
        try:
            importlib.import_module(module.name)
        except NotImplementedError:  # a later lesson's, made with what is blank in this one
            continue
        except ModuleNotFoundError as error:  # other lessons', which need a package that is not installed
            if (error.name or "").split(".")[0] in ours:
                raise
            continue
        if module.ispkg:
            _import_all(module.name, ours, leaving_out)


def _for_judging(lesson: str, root: str, lessons: str, optimises: bool, **_: Any) -> JudgingService:
    """Imports the lesson whole. By name: a process for learners' code must not reach what judges."""
    _warm_optimisers(optimises)
    os.environ["CELLCHECK_LESSONS"] = os.path.join(root, *lessons.split("."))
    judging: JudgingService = importlib.import_module("cellcheck.running.judging").Judging(lesson)
    return judging


def _warm_torch() -> None:
    """PyTorch, where it is installed, since some lessons do without; and what is slow the first time that it is done.

    No gradients: their threads would not survive a fork.
    """
    if importlib.util.find_spec("torch") is None:
        return
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
    named = [name for name in ("cellcheck", *packages) if name]
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


def _apart(walls: Walls, control: socket.socket, order: dict[str, Any], works: Sequence[Work]) -> list[bytes]:
    """The messages that each of `works` gives in a child of its own. It is the course's work: no learner's code is in
    it.

    They work side by side, unless they would share a folder.
    """
    if order["scratch"] is not None:
        return [message for work in works for message in _heard(*_begun(walls, control, order, work))]
    return [message for child in [_begun(walls, control, order, work) for work in works] for message in _heard(*child)]


def _begun(walls: Walls, control: socket.socket, order: dict[str, Any], work: Work) -> tuple[int, Connection]:
    """A child that works, and the pipe that its messages come on."""
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
    return pid, ours


def _heard(pid: int, ours: Connection) -> list[bytes]:
    """A child's messages, once it has ended."""
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

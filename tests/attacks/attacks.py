"""What an attack is, how it is carried out against the real engine, and what must be true afterwards.

A notebook of an attack has cells of the attacker's own and answers to a few symbols. It knows the prelude below; what
it finds out it tells through an exception, since a cell's error comes back in the result.
"""

import contextlib
import inspect
import json
import os
import resource
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cellcheck.errors import GraderError
from cellcheck.running import zygotes
from cellcheck.running.grade import Result, grade
from cellcheck.running.limits import Limits
from cellcheck.running.session import Session
from cellcheck.running.setting import setting_of
from cellcheck.syllabus import load_lesson

LESSON = "01_pytorch_basics"
EXERCISES = load_lesson(LESSON).exercises
POINTS = {exercise.symbol: exercise.points for exercise in EXERCISES}
# Seconds that are to run out, and seconds that never do, however busy the machine is.
SMALL = Limits(cell_seconds=1.0, probe_seconds=1.0, cpu_seconds=6.0, memory_bytes=2**29, file_bytes=2**23, processes=24)
ROOMY = replace(SMALL, cell_seconds=30.0, probe_seconds=30.0, cpu_seconds=120.0)
PATIENT = replace(ROOMY, memory_bytes=2**30, processes=64)

MARK = "canary-"  # an attacker knows what it looks for; what follows is secret
CANARY = MARK + secrets.token_hex(16)
SEED = 2_954_337_821  # too long to be met by chance
_MASK = 1_618_033_988

PRELUDE = """
import builtins, contextlib, ctypes, errno, gc, glob, importlib, inspect, linecache, os, re, resource, select, signal
import socket, struct, subprocess, sys, threading, time, types
libc = ctypes.CDLL(None, use_errno=True)
def everything():
    gc.unfreeze()  # what was there before the fork can be found too
    return gc.get_objects()
def tell(what):
    raise ValueError("told: " + str(what)[:250])
def spy(*texts):
    for text in texts:
        text = text.decode("latin-1") if isinstance(text, bytes) else str(text)
        found = re.search(MARK + "[0-9a-f]{32}", text)
        if found:
            tell(found[0])
def read(path):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(2**20)
    return b""
def done(what, attempt):
    try:
        attempt()
    except BaseException:
        return
    tell("done " + what)
def burn(seconds):
    while time.process_time() < seconds: pass  # of this process, which was just forked
    os._exit(0)
def frames():
    frame = sys._getframe()
    while frame:
        yield frame
        frame = frame.f_back
def writable_memory():
    for line in open("/proc/self/maps"):
        where, rights, *_, name = (line + " -").split()[:6]
        start, end = (int(part, 16) for part in where.split("-"))
        if rights.startswith("rw") and end - start < 2**28:
            with open("/proc/self/mem", "rb", 0) as file, contextlib.suppress(OSError):
                file.seek(start)
                yield file.read(end - start)
def grader_object(kind):
    for frame in frames():
        for thing in list(frame.f_locals.values()):
            if type(thing).__name__ == kind:
                return thing
    raise LookupError(kind)
def call(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *arguments) < 0:
        raise OSError(ctypes.get_errno())
def refused(what, number, *arguments):
    if libc.syscall(ctypes.c_long(number), *arguments) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        tell(f"{what} {number}: {os.strerror(ctypes.get_errno())}")
def channels():
    for fd in range(3, 256):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                yield fd
def send(message):
    for fd in channels():
        os.set_blocking(fd, True)
        while message:
            message = message[os.write(fd, message):]
def packed(text, blob=b"\\x08\\0\\0\\0\\0\\0\\0\\0{}      "):
    body = struct.pack(">I", len(text)) + text + blob
    return struct.pack("!i", len(body)) + body
"""


def setup(course: Path) -> str:
    """The first cell: the lesson's, and what attackers know."""
    return (
        f"import cellcheck\nimport numpy as np\nimport torch\nfrom torch import nn\n"
        f'check = cellcheck.checks("{LESSON}")\n'
        f"COURSE, MARK, MASKED, MASK = {str(course)!r}, {MARK!r}, {SEED ^ _MASK}, {_MASK}\n{PRELUDE}"
    )


def answer(symbol: str) -> str:
    """A right answer."""
    source = inspect.getsource(load_lesson(LESSON)[symbol].references[0])
    return "\n".join(line for line in source.splitlines() if "### " not in line)


@dataclass(frozen=True)
class Attack:
    """A notebook, and what is to come of it.

    `cells` come first, then the answers `types`, then an honest one to `pick` unless `types` has another. Symbols that
    are not in `deserves` deserve nothing.
    """

    name: str
    cells: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    deserves: Mapping[str, float] = field(default_factory=lambda: {"pick": POINTS["pick"]})
    status: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = ROOMY
    hurts_itself: bool = False
    """It may get less than it deserves: who breaks the pipe to the grader is not heard any more."""

    def __str__(self) -> str:
        return self.name

    def notebook(self, course: Path) -> bytes:
        """The file that is handed in."""
        answers = dict(self.types) | ({} if "pick" in self.types else {"pick": answer("pick")})
        cells = [code(setup(course)), *map(code, self.cells)]
        for symbol, source in answers.items():
            cells += [code(source, symbol), code(f"check({symbol})", f"test_{symbol}")]
        return notebook(cells)


def code(source: str, grade_id: str = "", **metadata: object) -> dict[str, object]:
    """A code cell."""
    marks = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": "code", "source": source, "metadata": marks | metadata, "outputs": [], "execution_count": None}


def notebook(cells: list[dict[str, object]], **more: object) -> bytes:
    """The bytes of a notebook."""
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | more).encode()


HONEST = Attack("honest")


def carry_out(attack: Attack, course: Path) -> Result:
    """Grades the attack's notebook, and holds the result and the machine to what must always be true."""
    before = files(course)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = grade(attack.notebook(course), SEED, limits=attack.limits)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 2**19  # KB: the grader itself stays small
    assert_deserved(attack, result)
    assert_nothing_told(result)
    assert_nothing_left(course, before)
    assert_next_is_served(course)
    return result


def assert_deserved(attack: Attack, result: Result) -> None:
    """Every exercise has what the work in it is worth."""
    scores = {verdict.symbol: verdict.score for verdict in result.verdicts if verdict.score}
    most = {symbol: score for symbol, score in attack.deserves.items() if score}
    assert scores == most or (attack.hurts_itself and scores.items() <= most.items()), result
    statuses = {verdict.symbol: verdict.status for verdict in result.verdicts if verdict.symbol in attack.status}
    assert statuses == attack.status, result
    assert result.max_score == sum(POINTS.values())


def assert_nothing_told(result: Result) -> None:
    """No secret in any part of the result: verdicts, evidence, repairs; and no deed that should have failed."""
    everything = f"{result!r} {json.dumps(result.to_json())}"
    assert CANARY not in everything
    assert str(SEED) not in everything
    assert "told: " not in everything, everything


def files(course: Path) -> dict[str, bytes]:
    """Everything in the course's folder and in the temporary one beside it."""
    everything = (path for path in course.parent.rglob("*") if "torchinductor" not in str(path))  # the grader's own
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in everything}


def assert_nothing_left(course: Path, before: dict[str, bytes]) -> None:
    """No file changed or left, no process left, the zygote alive and back in the pool."""
    after = files(course)
    assert after == before, {name for name in {*after, *before} if after.get(name) != before.get(name)}
    for zygote in zygotes._POOL.idle:
        assert zygote._process.process.poll() is None
        assert family(zygote._process.process.pid) == []
    assert len(learners(zygotes._POOL.idle)) == 1


def family(pid: int) -> list[str]:
    """All that lives of a process's children, and whoever shares its user namespace."""
    left = []
    namespace = None
    with contextlib.suppress(OSError):  # not ours to see, or no /proc
        namespace = os.readlink(f"/proc/{pid}/ns/user")
    for path in Path("/proc").glob("[0-9]*"):
        try:
            numbers = (path / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            inside = namespace not in (None, os.readlink("/proc/self/ns/user"))
            near = inside and os.readlink(path / "ns/user") == namespace
        except OSError:  # it ended, or is somebody else's
            continue
        if path.name != str(pid) and (int(numbers[1]) == pid or near):
            left.append(path.name)
    return left


def assert_next_is_served(course: Path) -> None:
    """The same zygote serves the next submission right away."""
    (zygote,) = learners(zygotes._POOL.idle)
    with Session(setting_of(LESSON), PATIENT) as session:
        assert session.run("assert 1 + 1 == 2") is None
    assert learners(zygotes._POOL.idle) == [zygote]


def assert_honest_work_has_its_marks(course: Path) -> None:
    """After all that, the same zygote gives full marks; each attack has an honest answer in it too."""
    (zygote,) = learners(zygotes._POOL.idle)
    assert_deserved(HONEST, grade(HONEST.notebook(course), SEED, limits=PATIENT))
    assert learners(zygotes._POOL.idle) == [zygote]


def learners(there: Iterable[zygotes.Zygote]) -> list[zygotes.Zygote]:
    """The warm processes that learners' code runs in forks of; others judge."""
    return [zygote for zygote in there if not zygote.setting.judging]


@contextlib.contextmanager
def at_work(source: str, course: Path) -> Iterator[zygotes.Zygote]:
    """The zygote in whose child a cell runs that never ends; it must be gone when this is over."""

    def grading() -> None:
        with pytest.raises(GraderError):
            grade(Attack("at work", (source,)).notebook(course), SEED, limits=PATIENT)

    thread = threading.Thread(target=grading, daemon=True)
    thread.start()
    wait_until(lambda: bool(learners(zygotes._POOL.lent)))
    (zygote,) = learners(zygotes._POOL.lent)
    yield zygote
    thread.join(300)
    assert not thread.is_alive()


def wait_until(true: Callable[[], bool]) -> None:
    """Five minutes at most: it takes less than a second where nobody else works."""
    ends = time.monotonic() + 300
    while not true():
        assert time.monotonic() < ends, "it did not come about"
        time.sleep(0.02)

"""The parent's side of the zygotes: started when needed, lent to one submission at a time, kept warm in between."""

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.running.limits import Limits
from cellcheck.running.setting import Setting
from cellcheck.running.usage import Account
from cellcheck.running.warming import Warm, first
from cellcheck.sandbox.place import NOBODY
from cellcheck.sandbox.sight import CannotHide, Sight

MAX_IDLE = 8
"""A submission of a lesson takes two while it is graded: one for the learner's code, and one that judges."""


class Zygote:
    """One warm process for one lesson; see `cellcheck.running.zygote`."""

    def __init__(self, setting: Setting) -> None:
        self.setting = _with_all_hidden(setting)
        self.borrower = 0
        """The thread that it is lent to."""
        self._over = False
        self._open()

    def _open(self) -> None:
        self._process = _POOL.started(self.setting.judging)
        self._base = tempfile.mkdtemp(prefix="submissions-")
        try:
            answer = self._process.ask({"setting": self.setting.to_json(), "scratch": self._base})
        except (OSError, ValueError):
            answer = {"refused": f"The process that runs submissions did not start: {self._process.last_words()}"}
        if "refused" in answer:
            self._kill()
            raise GraderError(answer["refused"])
        self.missing: dict[str, str] = answer["missing"]
        if "namespaces" not in self.missing:  # each child has a /tmp of its own
            os.rmdir(self._base)
        elif hasattr(os, "geteuid") and os.geteuid() == 0 and "user" not in self.missing:
            os.chown(self._base, NOBODY, NOBODY)
        try:
            group = self._process.grouped()
        except OSError as error:
            self._kill()
            raise GraderError(f"The kernel refused a control group for submissions ({error}). Try again.") from error
        self.account = Account(self._process.process.pid, self._base, group)

    def fork(self, limits: Limits, ahead: Mapping[str, Any] | None = None) -> tuple[int, int]:
        """Forks a child; returns its process id and the file descriptor that it can be talked to on.

        `ahead` is what a process that judges is to prepare before it forks.

        Raises:
            GraderError: when there is no zygote any more, and a new one does not start.
        """
        try:
            return self._fork(limits, ahead)
        except OSError:  # somebody ended it, or the machine was out of memory
            if self._over:
                raise GraderError("The grading was stopped.") from None
            self._kill()
            self._open()
        try:
            return self._fork(limits, ahead)
        except OSError:
            last_words = self._process.last_words()
            raise GraderError(f"The process that runs submissions starts, and ends at once: {last_words}") from None

    def _fork(self, limits: Limits, ahead: Mapping[str, Any] | None) -> tuple[int, int]:
        if self.account.group is not None:
            # A page that a child inherited and changes is copied, and the kernel takes the copy for one of its own.
            self.account.group.begin(limits.memory_bytes + self.account.inherited, limits.processes + 1)
        ours, theirs = socket.socketpair()
        scratch = None
        if "namespaces" in self.missing:
            scratch = tempfile.mkdtemp(dir=self._base)
            shutil.chown(scratch, os.stat(self._base).st_uid, os.stat(self._base).st_gid)
        order = {"do": "fork", "ahead": ahead, "scratch": scratch, **{name: asdict(limits)[name] for name in _SHUT}}
        with ours, theirs:
            socket.send_fds(self._process.control, [json.dumps(order).encode()], [theirs.fileno()])
            return int(self._process.answer()["pid"]), ours.detach()

    def end(self) -> int:
        """Kills the last child with all that it started; returns how it ended (a negative number is a signal)."""
        try:
            return int(self._process.ask({"do": "end"})["status"])
        except OSError:  # the zygote is gone, and its children with it
            return -signal.SIGKILL
        finally:
            if "namespaces" in self.missing:
                empty(self._base)

    def close(self) -> None:
        """Ends the process and its children, for good."""
        self._over = True
        self._kill()

    def _kill(self) -> None:
        self._process.kill()
        if os.path.isdir(self._base):
            empty(self._base)
            os.rmdir(self._base)


def empty(folder: str) -> None:
    """Removes all that is in a folder, whatever somebody made of it: folders without rights, a million levels."""
    for entry in list(os.scandir(folder)):
        with contextlib.suppress(OSError, RecursionError):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)  # before `chmod` follows a link out of here
    if left := [os.path.join(folder, name) for name in os.listdir(folder)]:
        for command in (["chmod", "--recursive", "u+rwX"], ["rm", "--recursive", "--force"]):
            subprocess.run([*command, "--", *left], check=False, stderr=subprocess.DEVNULL)


def in_sight(paths: Iterable[str | Path]) -> tuple[str, ...]:
    """Those of the folders and files that learners' code would see unless they are hidden: in Python's folders, say.

    Most are not: what is neither Python's nor the system's is out of sight anyway.

    Raises:
        GraderError: when one of them can't be hidden, since Python needs it.
    """
    try:
        return tuple(Sight(paths).matters())
    except CannotHide as error:
        raise GraderError(str(error)) from None


def _with_all_hidden(setting: Setting) -> Setting:
    """A setting with all that must be hidden: so two that look alike can share a process, wherever their files are.

    Beside what the run keeps to itself that is the working folder, the course's, and the folder that this program was
    checked out to. Where course and program are installed, their folder is Python's own; the packages in it are hidden
    all the same.

    Raises:
        GraderError: when some of it can't be hidden.
    """
    checkouts = {Path(__file__).resolve().parents[2], *([Path(setting.root)] if setting.root else [])}
    ours = {folder for folder in checkouts if (folder / "pyproject.toml").is_file()}
    return replace(setting, hidden=in_sight({*map(Path, setting.hidden), *ours, Path.cwd()}))


@lru_cache(maxsize=64)
def _as_it_was(setting: Setting, folder: str) -> Setting:
    """`_with_all_hidden`, for a working folder, as it was the first time: to look at all paths takes milliseconds.

    For a process that is there already: its walls stand as they were built.
    """
    return _with_all_hidden(setting)


_SHUT = ("memory_bytes", "file_bytes", "cpu_seconds", "processes")


class _Pool:
    """Idle zygotes, the one used last in front."""

    def __init__(self) -> None:
        self.used = False
        """Whether this process ever had a zygote."""
        self.inherited = False
        """Whether this process was forked from one that had."""
        self._empty()

    def _empty(self) -> None:
        self.idle: list[Zygote] = []
        self.lent: list[Zygote] = []
        self.warming: list[Warm] = []
        self.lock = threading.Lock()

    def forget(self) -> None:
        """In a process that was just forked: the zygotes are its parent's, which goes on speaking with them."""
        self.inherited = self.used
        self._empty()

    def refuse_if_inherited(self) -> None:
        if self.inherited:  # its copy of torch may hang, too: the threads that torch had started are gone
            raise GraderError(
                "This process was forked from one that had graded already, so it can't grade. Start it by "
                "multiprocessing's method spawn instead, or have several notebooks graded at a time by jobs."
            )

    def warm(self, count: int, judging: int) -> None:
        with self.lock:
            self.used = True
            wanted = count + judging - len(self.idle) - len(self.lent) - len(self.warming)
            judging -= sum(process.light for process in self.warming)
            for _ in range(wanted):
                if self.warming:  # light ones first: they need not wait for what the others import
                    self.warming.append(self.warming[0].twin(light=judging > 0))
                    judging -= 1
                else:
                    self.warming.append(first())

    def started(self, judging: bool) -> Warm:
        with self.lock:
            self.used = True
            if self.warming:  # the first comes last: with its orders it makes no twins any more
                chosen = [process for process in self.warming if process.light == judging] or self.warming
                return self.warming.pop(self.warming.index(chosen[-1]))
        return first()

    def take(self, setting: Setting) -> Zygote | None:
        wanted = _as_it_was(setting, os.getcwd())
        with self.lock:
            idle = next((zygote for zygote in self.idle if zygote.setting == wanted), None)
            if idle is not None:
                self.idle.remove(idle)
        return idle

    def give_back(self, zygote: Zygote) -> None:
        with self.lock:
            if zygote not in self.lent:  # ended while it was out
                return
            self.lent.remove(zygote)
            self.idle.insert(0, zygote)
            leaving = self.idle[MAX_IDLE:]
            del self.idle[MAX_IDLE:]
        for old in leaving:
            old.close()

    def close(self) -> None:
        with self.lock:
            leaving, self.idle, self.lent = [*self.idle, *self.lent], [], []
            unused, self.warming = self.warming, []
        for zygote in leaving:
            zygote.close()
        for process in unused:
            process.kill()

    def close_idle(self) -> None:
        with self.lock:
            leaving, self.idle = self.idle, []
            unused, self.warming = self.warming, []
        for zygote in leaving:
            zygote.close()
        for process in unused:
            process.kill()

    def lend(self, zygote: Zygote) -> None:
        zygote.borrower = threading.get_ident()
        with self.lock:
            self.lent.append(zygote)

    def end(self, zygote: Zygote) -> None:
        with self.lock:
            if zygote in self.lent:
                self.lent.remove(zygote)
        zygote.close()


_POOL = _Pool()
atexit.register(_POOL.close)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_POOL.forget)


def warm_up(count: int, judging: int = 0) -> None:
    """Starts processes ahead until there are `count` for learners' code, and beside them some for judging.

    They get warm while this one still reads its own modules.

    Raises:
        GraderError: in a process that was forked from one that had graded.
    """
    _POOL.refuse_if_inherited()
    _POOL.warm(count, judging)


def end_work_of(threads: Collection[int]) -> None:
    """Ends the zygotes that these threads are using: what they were doing is over. Other threads' work goes on."""
    for zygote in [zygote for zygote in _POOL.lent if zygote.borrower in threads]:
        _POOL.end(zygote)


def end_idle() -> None:
    """Ends the zygotes that nobody has borrowed: whoever needs one later waits until it is warm."""
    _POOL.close_idle()


@contextlib.contextmanager
def borrowed(setting: Setting) -> Iterator[Zygote]:
    """A zygote for this lesson, nobody else's while the context lasts.

    Raises:
        GraderError: when it can't be started, and in a process that was forked from one that had graded.
    """
    _POOL.refuse_if_inherited()
    zygote = _POOL.take(setting) or Zygote(setting)
    _POOL.lend(zygote)
    try:
        yield zygote
    except BaseException:
        _POOL.end(zygote)  # whatever state it is in
        raise
    _POOL.give_back(zygote)

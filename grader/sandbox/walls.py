"""The walls in the order in which they are built: what the zygote does once, what each child does for itself.

Each wall that can't be built is written down with the reason; who may do without it is not decided here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.sandbox import fences, kernel, place

NAMES = {
    "user": "an account without rights",
    "namespaces": "no network, no other process in sight",
    "files": "only Python's own files in sight",
    "landlock": "writing in the scratch folder only",
    "seccomp": "no dangerous system calls",
}
"""Each protection, and what it gives."""

_READABLE = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys/devices/system/cpu")
_WRITABLE = ("/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass
class Walls:
    """The walls around the children of one zygote. `missing` says which there are not, and why."""

    missing: dict[str, str] = field(default_factory=dict)
    _filter: Any = None
    _covered: list[str] = field(default_factory=list)

    @classmethod
    def build(cls, hidden: Sequence[Path]) -> Walls:
        """Takes this process out of the sight of everything but Python; called once, after all imports.

        The folders `hidden` are left out of what is shown.
        """
        walls = cls()
        if sys.platform != "linux":
            walls.missing = dict.fromkeys(NAMES, f"there is none on {sys.platform}")
            return walls
        kernel.adopt_orphans()
        walls._leave(hidden)
        if not fences.landlock_version():
            walls.missing["landlock"] = "the kernel or the Python package landlock is missing"
        reason = fences.seccomp_missing()
        if reason:
            walls.missing["seccomp"] = reason
        else:
            walls._filter = fences.system_call_filter(alone="namespaces" not in walls.missing)
        return walls

    def _leave(self, hidden: Sequence[Path]) -> None:
        reason = _rehearsed(lambda: _move_and_fork(hidden))
        if not reason:
            self._covered = _move(hidden)
            return
        self.missing["namespaces"] = self.missing["files"] = reason
        if os.geteuid() == 0:
            reason = _rehearsed(_read_as_nobody)
            if reason:
                self.missing["user"] = reason
            else:
                _become_nobody()

    def fork(self) -> int:
        """`os.fork`, the child in namespaces of its own where there are any."""
        if "namespaces" in self.missing:
            return os.fork()
        # With shared memory of its own too: what one submission leaves there, the next would find.
        return kernel.fork_into("pid", "mount", "ipc")

    def shut(self, scratch: str | None, memory_bytes: int, file_bytes: int, cpu_seconds: float, processes: int) -> None:
        """Closes the walls around this child; there is no way back. The working folder is then an empty one.

        `scratch` is the folder to work in where the child can't have a /tmp of its own.
        """
        if sys.platform == "linux":
            kernel.end_with_parent()
            kernel.no_new_privileges()
        inside = "namespaces" not in self.missing
        if inside:
            place.fresh_folders(file_bytes, self._covered)
            scratch = "/tmp"
        assert scratch is not None
        os.chdir(scratch)
        fences.be_the_first_to_go()
        os.environ.update(HOME=scratch, TMPDIR=scratch, IPYTHONDIR=scratch, MPLCONFIGDIR=scratch)
        fences.limit(memory_bytes, file_bytes, cpu_seconds, processes)
        if sys.platform != "linux":
            return
        if "landlock" not in self.missing:
            python = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
            writable = _WRITABLE if inside else (scratch, *_WRITABLE[2:])
            fences.restrict_files([*_READABLE, *python], writable, listable="/" if inside else None)
        kernel.drop_capabilities()
        if "seccomp" not in self.missing:
            self._filter.load()


def _rehearsed(change: Callable[[], None]) -> str:
    """Why this process can't do what follows; empty when it can.

    Tried in a process of its own: who has moved halfway can't come back.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            change()
        except OSError as error:
            os.write(writing, f"{error.filename or 'the kernel'} says: {error.strerror}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        reason = file.read()
    os.waitpid(pid, 0)
    return reason


def _move_and_fork(hidden: Sequence[Path]) -> None:
    covered = _move(hidden)
    if kernel.fork_into("pid", "mount", "ipc") == 0:
        place.fresh_folders(2**20, covered)
    else:
        os.wait()


def _read_as_nobody() -> None:
    """Somebody else may not read a Python in the home of root, and much is imported only when it is needed."""
    _become_nobody()
    for module in ("os", "torch", "numpy", "IPython"):
        if module in sys.modules:
            open(str(sys.modules[module].__file__), "rb").close()


def _move(hidden: Sequence[Path]) -> list[str]:
    covered: list[str] = []
    root = os.geteuid() == 0
    if root:  # the small root is made while everything can still be read
        kernel.unshare("mount")
        covered = place.enter(hidden)
        _become_nobody()
    user, group = os.geteuid(), os.getegid()
    kernel.unshare("user", "net", "ipc", "uts", *(() if root else ("mount",)))
    _stay(user, group)
    return covered if root else place.enter(hidden)


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(place.NOBODY, place.NOBODY, place.NOBODY)
    os.setresuid(place.NOBODY, place.NOBODY, place.NOBODY)
    kernel.own_proc_files()


def _stay(user: int, group: int) -> None:
    """In its new user namespace this process keeps its numbers, and can take no others."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")

"""The walls in the order in which they are built: what the zygote does once, what each child does for itself.

Each wall that can't be built is written down with the reason; who may do without it is not decided here.
"""

import os
import select
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from cellcheck.sandbox import fences, kernel, place, sight
from cellcheck.sandbox.reasons import why_no_namespaces

NAMES = {
    "user": "an account without rights",
    "namespaces": "no network, no other process in sight",
    "files": "only Python's own files in sight",
    "landlock": "writing in the scratch folder only",
    "seccomp": "no dangerous system calls",
}
"""Each protection, and what it gives."""

_DEVICES = tuple(f"/dev/{name}" for name in sight.DEVICES)
# What says how large the machine is. The rest of /proc tells of other processes: a seed on a command line, say.
_MACHINE = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/sys/devices/system/cpu")


class Unsafe(Exception):
    """Too little is left of the walls; the text is a sentence for the person who grades."""


@dataclass
class Walls:
    """The walls around the children of one zygote. `missing` says which there are not, and why."""

    missing: dict[str, str] = field(default_factory=dict)
    _filter: Any = None
    _rules: Any = None
    _covered: list[str] = field(default_factory=list)
    _kept: int = 0
    _zygote: int = -1
    _others: int = 0

    @classmethod
    def build(cls, hidden: Sequence[Path], scratch: str) -> Self:
        """Takes this process out of the sight of everything but Python; called once, after all imports.

        The folders `hidden` are left out of what is shown. Where a child can't have a /tmp of its own, it works
        somewhere below `scratch`.

        Raises:
            sight.CannotHide: when one of `hidden` would stay in sight.
            Unsafe: when learners' code would run as root.
        """
        walls = cls()
        if sys.platform != "linux":
            walls.missing = dict.fromkeys(NAMES, f"there is none on {sys.platform}")
            return walls
        seen = sight.Sight(hidden)
        kernel.adopt_orphans()
        if not fences.landlock_version():
            walls.missing["landlock"] = "the kernel or the Python package landlock is missing"
        if reason := fences.seccomp_missing():
            walls.missing["seccomp"] = reason
        walls._leave(seen)
        walls._zygote = kernel.own_handle()
        if "landlock" not in walls.missing:
            walls._rules = walls._file_rules(seen, scratch)
        if "seccomp" not in walls.missing:
            walls._filter, unknown = fences.system_call_filter(alone="namespaces" not in walls.missing)
            if unknown:  # the others are refused all the same
                walls.missing["seccomp"] = f"the installed libseccomp can't refuse {', '.join(unknown)}: update it"
        return walls

    def _leave(self, seen: sight.Sight) -> None:
        reason = _rehearsed(lambda: _move_and_fork(seen))
        if not reason:
            self._covered = _move(seen)
            return
        self.missing["namespaces"] = self.missing["files"] = why_no_namespaces(reason)
        if os.geteuid() != 0:
            self._others = fences.processes_of_mine()
        elif not _rehearsed(_read_as_nobody):
            _become_nobody()
        elif not {"landlock", "seccomp"} & self.missing.keys() and not _rehearsed(lambda: _read_as_nobody(all_of=True)):
            # Python is in root's home. These two walls leave of "every file" what Python needs, and no more.
            self._kept = _become_nobody(all_of=True)
        else:
            raise Unsafe(
                f"Learners' code would run as root here, since only root may read the Python in {sys.base_prefix}. "
                "Run the grader as an ordinary user, with a Python that everybody may read."
            )

    def _file_rules(self, seen: sight.Sight, scratch: str) -> Any:
        if "namespaces" in self.missing:
            return fences.file_rules((*seen.without_hidden(), *_MACHINE), (scratch, *_DEVICES))
        return fences.file_rules((*seen.needed, "/etc"), _DEVICES, listable="/")

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
            self._check_on_zygote()
            kernel.no_new_privileges()
        inside = "namespaces" not in self.missing
        if inside:
            place.fresh_folders(file_bytes, self._covered)
            scratch = "/tmp"
        assert scratch is not None
        os.chdir(scratch)
        fences.be_the_first_to_go()
        os.environ.update(HOME=scratch, TMPDIR=scratch, IPYTHONDIR=scratch, MPLCONFIGDIR=scratch, USER="learner")
        tempfile.tempdir = scratch  # whatever it was when somebody asked for it last
        fences.limit(memory_bytes, file_bytes, cpu_seconds, processes + self._others)
        if sys.platform != "linux":
            return
        if self._rules is not None:
            own = ("/proc",) if inside else (f"/proc/{os.getpid()}",)
            fences.allow(self._rules, own, place.FRESH if inside else ())
            fences.apply_file_rules(self._rules)
        if fences.landlock_version() >= 6 and "landlock" not in self.missing:
            kernel.leave_others_alone()
        kernel.drop_capabilities(but=self._kept)
        if self._filter is not None:
            self._filter.load()

    def _check_on_zygote(self) -> None:
        """Whoever lost its parent before it asked to end with it ends now."""
        if self._zygote >= 0:
            if select.select([self._zygote], [], [], 0)[0]:
                os._exit(1)
            os.close(self._zygote)


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


def _move_and_fork(seen: sight.Sight) -> None:
    covered = _move(seen)
    if kernel.fork_into("pid", "mount", "ipc") == 0:
        place.fresh_folders(2**20, covered)
    else:
        os.wait()


def _read_as_nobody(all_of: bool = False) -> None:
    """Somebody else may not read a Python in the home of root, and much is imported only when it is needed."""
    _become_nobody(all_of)
    for module in ("os", "torch", "numpy", "IPython"):
        if module in sys.modules:
            open(str(sys.modules[module].__file__), "rb").close()


def _move(seen: sight.Sight) -> list[str]:
    covered: list[str] = []
    root = os.geteuid() == 0
    if root:  # the small root is made while everything can still be read
        kernel.unshare("mount")
        covered = place.enter(seen)
        _become_nobody()
    user, group = os.geteuid(), os.getegid()
    kernel.unshare("user", "net", "ipc", "uts", *(() if root else ("mount",)))
    _stay(user, group)
    return covered if root else place.enter(seen)


def _become_nobody(all_of: bool = False) -> int:
    """Returns the capabilities that it still has: none, or with `all_of` the one to read all files."""
    if all_of:
        kernel.keep_capabilities()
    os.setgroups([])
    os.setresgid(place.NOBODY, place.NOBODY, place.NOBODY)
    os.setresuid(place.NOBODY, place.NOBODY, place.NOBODY)
    capabilities = kernel.may_read_all() if all_of else 0
    kernel.own_proc_files()
    return capabilities


def _stay(user: int, group: int) -> None:
    """In its new user namespace this process keeps its numbers, and can take no others."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")

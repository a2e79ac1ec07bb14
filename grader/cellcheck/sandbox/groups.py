"""Control groups: the kernel's own limits on the memory and the number of all processes of a submission together.

Both kinds of hierarchy will do: version 2 with one tree, and version 1 with a tree for each controller. The grader
looks after the groups from outside; the processes in them need no rights to them, and must have none.
"""

import contextlib
import errno
import itertools
import os
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PREFIX = "grader-"  # then the grader's process id, and what the group is for
_PATIENCE = 1.0  # seconds for killed processes to be gone
_CONTROLLERS = {1: ("memory", "pids", "cpuacct"), 2: ("memory", "pids")}  # version 2 counts processor time without one
_SHARES = "cpu"
"""Where it is there too, each group gets the same share of a busy machine, however many processes are in it."""
_HINT = "systemd-run --user --scope --property=Delegate=yes gives a program one of its own"
_serial = itertools.count()


class NoGroups(Exception):
    """This machine has no control groups that the grader may use. The text says why; it has no full stop."""


@dataclass(frozen=True)
class Home:
    """Where groups can be made: in version 1 a folder for each controller, in version 2 just one, called "memory"."""

    version: int
    folders: dict[str, Path]


class Group:
    """A new group with nobody in it yet. It serves one submission after the other."""

    def __init__(self, home: Home) -> None:
        """Makes the group.

        Raises:
            OSError: when the kernel does not allow it.
        """
        self._version = home.version
        self._limits = (0, 0)
        name = f"{_PREFIX}{os.getpid()}-{next(_serial)}"
        self._folders = {controller: folder / name for controller, folder in home.folders.items()}
        try:
            for folder in self._folders.values():
                folder.mkdir()
        except OSError:
            self.remove()
            raise

    def enter(self, pid: int) -> None:
        """Puts a process into the group, along with all that it starts from now on. What it holds already is free.

        It may take the kernel 20 ms, so it is done once for many submissions: their processes are born in the group.

        Raises:
            OSError: when the kernel does not allow it.
        """
        for folder in self._folders.values():
            _write(folder / "cgroup.procs", pid)

    def begin(self, memory_bytes: int, processes: int) -> None:
        """Sets limits, and counts from 0 again. `processes` includes threads, and whoever is there already.

        `memory_bytes` is for everything that the processes fill together: shared memory, files in memory, what is
        swapped out, and what the kernel needs to look after them.

        Raises:
            OSError: when the kernel does not allow it.
        """
        if self._limits != (memory_bytes, processes):
            self._limit(memory_bytes, processes)
            self._limits = (memory_bytes, processes)
        self._seconds, self._kills = self._all_seconds(), self._all_kills()

    def _limit(self, memory_bytes: int, processes: int) -> None:
        memory = self._folders["memory"]
        if self._version == 2:
            swap, most = memory / "memory.swap.max", 0
            _write(memory / "memory.max", memory_bytes)
        else:
            swap, most = memory / "memory.memsw.limit_in_bytes", memory_bytes  # memory and swap together
            if swap.exists():
                _write(swap, -1)  # it may never be below the other
            _write(memory / "memory.limit_in_bytes", memory_bytes)
        if swap.exists():
            _write(swap, most)
        _write(self._folders.get("pids", memory) / "pids.max", processes)

    def processor_seconds(self) -> float:
        """The processor time used in the group since `begin`, by processes that have ended too."""
        return self._all_seconds() - self._seconds

    def has_overflowed(self) -> bool:
        """Whether the kernel has killed a process here since `begin`, because the group's memory was full."""
        return self._all_kills() > self._kills

    def _all_seconds(self) -> float:
        if self._version == 2:
            return _numbers(self._folders["memory"] / "cpu.stat")["usage_usec"] / 1e6
        return int((self._folders["cpuacct"] / "cpuacct.usage").read_text("ascii")) / 1e9

    def _all_kills(self) -> int:
        file = "memory.events" if self._version == 2 else "memory.oom_control"
        return _numbers(self._folders["memory"] / file)["oom_kill"]

    def remove(self) -> None:
        """Removes the group once its processes are gone. If they stay too long, a later grader will do it."""
        deadline = time.monotonic() + _PATIENCE
        for folder in self._folders.values():
            while not _is_removed(folder) and time.monotonic() < deadline:
                time.sleep(0.005)


def home() -> Home:
    """Where this process can make groups. That is tried out once.

    Raises:
        NoGroups: when it can't.
    """
    tree = _tried()
    if isinstance(tree, NoGroups):
        raise tree
    return tree


@cache
def _tried() -> Home | NoGroups:
    try:
        tree = find()
        sweep(tree)
        _rehearse(tree)
    except NoGroups as reason:
        return reason
    except (OSError, KeyError, ValueError) as error:
        return NoGroups(f"an attempt to make one failed: {error}")
    return tree


def sweep(home: Home) -> None:
    """Removes the groups of graders that were killed."""
    for folder in home.folders.values():
        for group in folder.glob(f"{_PREFIX}*-*"):
            if not os.path.exists(f"/proc/{group.name.split('-')[1]}"):
                _is_removed(group)


def _rehearse(home: Home) -> None:
    group = Group(home)
    try:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as guest:
            group.enter(guest.pid)
        group.begin(memory_bytes=2**26, processes=8)
    finally:
        group.remove()


# --- where groups can be made -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tree:
    """A mounted hierarchy. `root` is the group that is seen at `where`."""

    where: Path
    root: str
    version: int
    options: frozenset[str]

    def own(self, place: str) -> Path:
        """The folder of the group `place`."""
        below = os.path.relpath(place, self.root)
        if below.startswith(".."):
            raise NoGroups(f"the grader's own group can't be seen below {self.where}")
        return self.where / below


def find(root: Path = Path("/")) -> Home:
    """Where groups might be made. `root` is the machine's root folder.

    In version 2, this process may be moved to a group of its own below the one that it is in.

    Raises:
        NoGroups: when there is no such place.
    """
    trees = _trees(root)
    places = _places(root)
    unified = next((tree for tree in trees if tree.version == 2), None)
    if unified and (set(_CONTROLLERS[2]) <= _words(unified.where / "cgroup.controllers") or len(trees) == 1):
        return Home(2, {"memory": _version_2(unified, places[""])})
    folders = {}
    for controller in _CONTROLLERS[1]:
        tree = next((tree for tree in trees if tree.version == 1 and controller in tree.options), None)
        if tree is None or controller not in places:
            raise NoGroups(f"the controller {controller} isn't there" if trees else "none are mounted")
        folder = tree.own(places[controller])
        _must_be_writable(tree, folder)
        folders[controller] = folder
    shares = next((tree for tree in trees if tree.version == 1 and _SHARES in tree.options), None)
    if shares is not None and _SHARES in places:
        with contextlib.suppress(NoGroups):
            folder = shares.own(places[_SHARES])
            if folder not in folders.values() and _is_writable(shares, folder):  # often it is mounted with another one
                folders[_SHARES] = folder
    return Home(1, folders)


def _version_2(tree: _Tree, place: str) -> Path:
    """A folder in which groups have the controllers.

    Below a group that has processes of its own there are no controllers, except at the machine's root.
    """
    own, needed = tree.own(place), set(_CONTROLLERS[2])
    if needed <= _words(own / "cgroup.subtree_control"):
        _must_be_writable(tree, own)
        return own
    if needed <= _words(own / "cgroup.controllers") and _is_writable(tree, own):
        if not (own / "cgroup.type").exists():  # the machine's root
            _enable(own)
            return own
        if _make_room(own):
            return own
    if own != tree.where and needed <= _words(own.parent / "cgroup.subtree_control"):
        _must_be_writable(tree, own.parent)
        return own.parent
    if not needed <= _words(own / "cgroup.controllers"):
        raise NoGroups(f"{own} hasn't got the controllers memory and pids. {_HINT}")
    _must_be_writable(tree, own)
    raise NoGroups(f"the grader shares the group {own} with other programs. {_HINT}")


def _make_room(own: Path) -> bool:
    """Moves this process and those that it has started into a group below; not if somebody else is there too."""
    below = own / f"{_PREFIX}{os.getpid()}-own"
    for _ in range(10):  # what they start meanwhile must follow
        here = list(map(int, _words(own / "cgroup.procs")))
        if not all(map(_is_family, here)):
            return False
        below.mkdir(exist_ok=True)
        for pid in here:
            with contextlib.suppress(ProcessLookupError):
                _write(below / "cgroup.procs", pid)
        try:
            _enable(own)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
        else:
            return True
    return False


def _is_family(pid: int) -> bool:
    """Whether this is the grader's process, or one that it has started, or that has ended since."""
    while pid > 1 and pid != os.getpid():
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[1])
        except OSError:
            return True
    return pid == os.getpid()


def _enable(folder: Path) -> None:
    wanted = [*_CONTROLLERS[2], *({_SHARES} & _words(folder / "cgroup.controllers"))]
    _write(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in wanted))


def _must_be_writable(tree: _Tree, folder: Path) -> None:
    if "ro" in tree.options:
        raise NoGroups(f"{tree.where} is mounted read-only, as is usual in a container")
    if not _is_writable(tree, folder):
        raise NoGroups(f"this account may not write to {folder}{f'. {_HINT}' if tree.version == 2 else ''}")


def _is_writable(tree: _Tree, folder: Path) -> bool:
    """Whether groups can be made in a folder, and processes moved to them from there."""
    return "ro" not in tree.options and os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _trees(root: Path) -> list[_Tree]:
    trees = []
    for line in _lines(root / "proc/self/mountinfo"):
        mount, _, kind = line.partition(" - ")
        fields, (system, _, options) = mount.split(), kind.split(maxsplit=2)
        if system in ("cgroup", "cgroup2"):
            where = root / fields[4].lstrip("/")
            both = frozenset([*fields[5].split(","), *options.split(",")])
            trees.append(_Tree(where, fields[3], 2 if system == "cgroup2" else 1, both))
    return trees


def _places(root: Path) -> dict[str, str]:
    """Which group this process is in, for each controller; "" stands for version 2."""
    fields = [line.split(":", 2) for line in _lines(root / "proc/self/cgroup")]
    return {controller: place for _, controllers, place in fields for controller in controllers.split(",")}


def _write(path: Path, value: object) -> None:
    path.write_text(str(value), "ascii")


def _is_removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _numbers(path: Path) -> dict[str, int]:
    """Of a file with lines such as `oom_kill 0`."""
    return {name: int(number) for name, number in map(str.split, path.read_text("ascii").splitlines())}


def _words(path: Path) -> set[str]:
    return {word for line in _lines(path) for word in line.split()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []

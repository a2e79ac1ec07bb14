"""What a submission uses, as Linux tells it in /proc. Elsewhere all of this is 0, and waiting counts as working.

Where there is a control group, the kernel counts the processor time, and stops what outgrows it between two looks.

It is what all its processes use together, those included that have ended or have left their parents: the zygote has
one submission at a time, and adopts whom it leaves behind.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cellcheck.sandbox.groups import Group

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_HANDLE = 208 * 2**10  # what the kernel lets a socket hold that nobody reads; a pipe holds less
_MAX_FILES = 10_000


@dataclass(frozen=True)
class KeptWaiting:
    """What the kernel tells of those who would work if they could."""

    seconds: Mapping[int, float] = field(default_factory=dict)
    """For a processor, by thread, since it began."""
    busy: bool = False
    """Whether one of them works, waits for a processor, or for a disk, just now."""
    counted: bool = False
    """Whether this kernel tells `seconds` at all: where it doesn't, they are 0."""
    stolen: float = 0.0
    """Seconds that a host has given to other machines, since this one began."""

    def since(self, before: KeptWaiting) -> float:
        """How long they were kept waiting since then, all together."""
        waited = sum(max(0.0, time - before.seconds.get(thread, 0.0)) for thread, time in self.seconds.items())
        return waited + max(0.0, self.stolen - before.stolen)


class Account:
    """What the children of one zygote use."""

    def __init__(self, zygote: int, scratch: str, group: Group | None) -> None:
        self._zygote = zygote
        self._scratch = scratch
        self.inherited = sum(_status(zygote, _OWN))
        """Bytes that the zygote holds, and that its children may each change a copy of free of charge."""
        self.group = group
        """The control group that the zygote and its children are in."""

    def processor_seconds(self) -> float:
        """The processor time of all processes, those that have ended included."""
        with contextlib.suppress(OSError):  # another thread has ended all this, and the group is gone
            if self.group is not None:
                return self.group.processor_seconds()
        return sum(map(_processor_seconds, self.everyone()))

    @property
    def counts_time(self) -> bool:
        """Whether this machine tells how much processor time somebody uses."""
        return self.group is not None or os.path.exists(f"/proc/{self._zygote}/stat")

    def kept_waiting(self) -> KeptWaiting:
        """How long each thread has been kept waiting for a processor, and whether one waits for something now."""
        seconds, busy = {}, False
        for pid in self.everyone():
            for thread in _threads(pid):
                seconds[thread] = _run_delay(pid, thread)
                busy = busy or _state(pid, thread) in _BUSY
        return KeptWaiting(seconds, busy, os.path.exists("/proc/self/schedstat"), _stolen())

    def exceeds(self, memory_bytes: int, file_bytes: int) -> str:
        """What all processes together have filled more of than they may: "memory", or "files". Else nothing.

        Memory is what is theirs alone: of what they share with each other each has its part, and of what they share
        with the zygote nothing counts. What a socket or a pipe may hold counts as if it held it.
        """
        if self.has_overflowed():
            return "memory"
        everyone = list(self.everyone())
        held = _HANDLE * sum(map(_handles, everyone))
        most = sum(sum(_status(pid, _OWN)) for pid in everyone) - self.inherited + held
        if most > memory_bytes:
            filled, part = [_filled(pid) for pid in everyone], _filled(self._zygote)
            # A page that nobody has changed has the same part in each, whoever else was forked from the same process.
            shared = min(self.inherited, sum(min(theirs, part) for theirs in filled))
            if sum(filled) - shared + held > memory_bytes:
                return "memory"
        full = os.path.isdir(self._scratch) and _disk(self._scratch, everyone, file_bytes) > file_bytes
        return "files" if full else ""

    def has_overflowed(self) -> bool:
        """Whether the kernel had to end a process of the submission to keep it within its memory."""
        with contextlib.suppress(OSError):
            return self.group is not None and self.group.has_overflowed()
        return False

    def everyone(self) -> Iterator[int]:
        """The process ids of all that belongs to the submission."""
        for child in _children(self._zygote):
            yield from _family(child)


def _family(pid: int) -> Iterator[int]:
    """The process, its children, and theirs."""
    yield pid
    for child in _children(pid):
        yield from _family(child)


def _children(pid: int) -> Iterator[int]:
    for thread in _threads(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
            yield from map(int, file.read().split())


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:  # it is gone, or this isn't Linux
        return []


_BUSY = ("R", "D")


def _state(pid: int, thread: int) -> str:
    try:
        with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _run_delay(pid: int, thread: int) -> float:
    """Seconds, where the kernel counts them."""
    try:
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _stolen() -> float:
    """Seconds that all processors of this machine had to wait for its host."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            return int(file.readline().split()[8]) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


def _processor_seconds(pid: int) -> float:
    """With what the children had used whom it has waited for. Who has ended unheeded is still there to be asked."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            numbers = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, numbers[11:15])) / _TICKS


_OWN = ("RssAnon", "RssShmem", "VmSwap")
_PARTS = ("Pss_Anon", "Pss_Shmem", "SwapPss")


def _filled(pid: int) -> int:
    """Bytes that a process has filled, and its part of what it shares. More than that where it won't be looked at."""
    return sum(_numbers(f"/proc/{pid}/smaps_rollup", _PARTS) or _status(pid, _OWN))


def _status(pid: int, names: tuple[str, ...]) -> list[int]:
    return _numbers(f"/proc/{pid}/status", names)


def _numbers(path: str, names: tuple[str, ...]) -> list[int]:
    """Of a file with lines such as `RssAnon: 12 kB` the bytes in the lines `names`; none where it can't be read."""
    try:
        lines = Path(path).read_text("ascii", "replace").splitlines()
    except OSError:
        return []
    fields = (line.split() for line in lines)
    return [int(field[1]) * 2**10 for field in fields if field and field[0].rstrip(":") in names]


def _handles(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _disk(folder: str, everyone: list[int], most: int) -> int:
    """Bytes on disk below a folder, also in files that have lost their names but are open. Stops beyond `most`."""
    used, files, folders = 0, 0, [folder]
    while folders and used <= most:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                files += 1
                if files > _MAX_FILES:
                    return most + 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                with contextlib.suppress(OSError):
                    used += 512 * entry.stat(follow_symlinks=False).st_blocks
    return used + sum(_nameless(pid) for pid in everyone)


def _nameless(pid: int) -> int:
    """Bytes in files without a name that a process holds open."""
    used = 0
    with contextlib.suppress(OSError):
        for handle in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                file = os.stat(f"/proc/{pid}/fd/{handle}")
                used += 512 * file.st_blocks if file.st_nlink == 0 else 0
    return used

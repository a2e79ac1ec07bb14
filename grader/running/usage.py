"""What a process uses, as Linux tells it in /proc. Elsewhere all of this is 0, and the wall clock alone decides."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def processor_seconds(pid: int) -> float:
    """The processor time that a process has used so far."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            numbers = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(numbers[11]) + int(numbers[12])) / _TICKS


def memory_bytes(pid: int, inherited: int) -> int:
    """The memory that a process and all that it started have filled, beside what each of them inherited."""
    return sum(max(0, filled_bytes(member) - inherited) for member in _family(pid))


def filled_bytes(pid: int) -> int:
    """The memory that a process has filled itself: no files, no code. What it shares with its parent counts too."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE


def _family(pid: int) -> Iterator[int]:
    """The process, its children, and theirs."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text("ascii").split()
        except OSError:  # gone meanwhile
            continue
        for child in map(int, children):
            yield from _family(child)

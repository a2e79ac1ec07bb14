"""What one submission may use."""

from dataclasses import dataclass

WALL_FACTOR = 3.0  # a busy machine may take this much longer than the processor time that it gives

REPLY_SECONDS = 2.0
"""Processor time that one answer of a patient may take; an honest question takes a hundredth of it."""
VERDICT_SECONDS = 20.0
"""The same for judging what an exercise's symbol gave back; with all mistakes still to be looked up it takes two."""
JUDGING_BYTES = 2**30
"""Address space of the process that does both, beside what it has to begin with."""


@dataclass(frozen=True)
class Limits:
    """Seconds are processor time; waiting without work may take `WALL_FACTOR` times as long."""

    cell_seconds: float = 10.0
    probe_seconds: float = 10.0
    """For all cases of one exercise together."""
    cpu_seconds: float = 120.0
    """For the whole submission; an evening's worth of loops ends here."""
    memory_bytes: int = 4 * 2**30
    """For each process, address space beside what Python and torch take; for all together, what they have filled."""
    file_bytes: int = 64 * 2**20
    """For all files together, where the kernel can count them; else for each."""
    processes: int = 64
    """Threads included."""

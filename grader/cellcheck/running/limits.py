"""What one submission may use."""

from dataclasses import dataclass

SLEEP_FACTOR = 3.0
"""For each second of work, three of sleep are allowed. Being kept waiting, by a busy machine or by us, is free."""
GIVE_UP_SECONDS = 3600.0
"""By the clock on the wall: whoever neither works nor sleeps for so long isn't graded at all."""
TOO_BUSY = "It could not be graded: for an hour, the machine was too busy with other things. Grade it again."

REPLY_SECONDS = 2.0
"""Processor time that one answer of a patient may take; an honest question takes a hundredth of it."""
VERDICT_SECONDS = 20.0
"""The same for judging what an exercise's symbol gave back; with all mistakes still to be looked up it takes two."""
JUDGING_BYTES = 2**30
"""Address space of the process that does both, beside what it has to begin with."""


@dataclass(frozen=True)
class Limits:
    """Seconds are processor time, but for those of sleep."""

    cell_seconds: float = 10.0
    probe_seconds: float = 10.0
    """For all cases of one exercise together."""
    cpu_seconds: float = 120.0
    """For the whole submission; an evening's worth of loops ends here."""
    sleep_seconds: float = 60.0
    """For the whole submission, each time that it is run."""
    memory_bytes: int = 4 * 2**30
    """For each process, address space beside what Python and torch take; for all together, what they have filled."""
    file_bytes: int = 64 * 2**20
    """For all files together, where the kernel can count them; else for each."""
    processes: int = 64
    """Threads included."""

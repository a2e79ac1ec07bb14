"""A check that always comes back: an answer that never ends is stopped, and so is one that somebody interrupts.

Only a notebook's own check needs this: where a class is graded, learners' code has a process of its own.
"""

import contextlib
import signal
import sys
import threading
import time
import types
from collections.abc import Iterator
from typing import Any

WORKING_SECONDS = 10.0
"""Processor time of the thread that runs the cell: a busy machine takes nothing away from anybody."""
SLEEPING_SECONDS = 60.0
"""By the clock on the wall, with hardly any processor time."""
_TICK = 0.25


class TookTooLong(KeyboardInterrupt):
    """An answer was stopped. Like Ctrl-C, no `except Exception` of a learner's holds it up."""

    def __init__(self, asleep: bool) -> None:
        super().__init__()
        self.asleep = asleep


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """Stops what runs within when it takes too long, where that can be done: in a main thread, by a signal.

    Raises:
        TookTooLong: in the middle of what runs.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    began, began_working = time.monotonic(), time.thread_time()

    def look(_: int, frame: types.FrameType | None) -> None:
        worked, waited = time.thread_time() - began_working, time.monotonic() - began
        asleep = waited > SLEEPING_SECONDS and worked < waited / 50
        if worked > WORKING_SECONDS or asleep:
            _insist(frame)
            raise TookTooLong(asleep)

    before, tracing = signal.signal(signal.SIGALRM, look), sys.gettrace()
    signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
        sys.settrace(tracing)


def _insist(frame: types.FrameType | None) -> None:
    """From here on, a learner's bare `except:` that catches the end of an answer is ended in its first line."""

    def in_a_line(_: types.FrameType, event: str, arg: object) -> Any:
        stopped = sys.exception()
        if event == "line" and isinstance(stopped, TookTooLong):
            raise stopped
        return in_a_line

    sys.settrace(lambda *_: None)  # without one, no frame's own is called
    while frame is not None:
        if frame.f_globals.get("__name__") == "__main__":
            frame.f_trace = in_a_line
        frame = frame.f_back


def stopped_message(stopped: KeyboardInterrupt, line: str) -> str:
    """What to say to somebody whose answer was stopped in this line, or in none of theirs."""
    where = f", in the line `{line}`" if line else ""
    if not isinstance(stopped, TookTooLong):
        return f"You stopped it{where}."
    if stopped.asleep:
        return f"It has been waiting for {SLEEPING_SECONDS:g} seconds{where}. What does it wait for?"
    return f"It is still running after {WORKING_SECONDS:g} seconds{where}. Does the loop ever end?"

"""Ctrl-C as a request: the step that is running ends, the run is saved, and nothing is lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Request:
    """Whether somebody has asked the run to stop."""

    made = False


@contextmanager
def stop_on_request() -> Iterator[Request]:
    """Meanwhile the first Ctrl-C (in a notebook, the stop button) only sets
    `request.made`; a second one interrupts as usual.

    Outside the main thread no signal arrives, so nothing changes there.
    """
    request = Request()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def ask(number: int, frame: FrameType | None) -> None:
        request.made = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, before)

"""The parent's end of the pipes to a learner's process: every wait comes to an end.

The learner's code may stop reading, send half a message, or leave a process behind that keeps the pipe open. None of
that may hold up the grader, so nothing here blocks. Messages are framed as `multiprocessing.connection` frames them.
"""

import contextlib
import os
import select
import struct
import time
from collections.abc import Callable

_LENGTH = struct.Struct("!i")
_CHUNK = 1 << 16


Patience = Callable[[], float]
"""Asked whenever there is nothing to do but wait: it says when to be asked again (`time.monotonic`), or raises what
ends the waiting."""


def by(deadline: float) -> Patience:
    """A patience that waits until that moment, and then raises a TimeoutError."""

    def patience() -> float:
        if time.monotonic() >= deadline:
            raise TimeoutError
        return deadline

    return patience


class Closed(Exception):
    """The other end is gone, or sends something that isn't a message."""


class Channel:
    """Sends and receives messages on a socket's file descriptor, which it owns.

    What arrived before somebody lost patience is kept: one may go on waiting for the rest.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._arrived = bytearray()
        os.set_blocking(descriptor, False)

    def close(self) -> None:
        """Closes the socket."""
        with contextlib.suppress(OSError):
            os.close(self.descriptor)

    def forget(self, most: int) -> None:
        """Forgets what has arrived and was not asked for: the next answer is not to be taken for another's.

        Raises:
            Closed: when the other end is gone, or has sent more than `most` bytes.
        """
        forgotten = len(self._arrived)
        self._arrived.clear()
        while select.select([self.descriptor], [], [], 0)[0]:
            try:
                part = os.read(self.descriptor, _CHUNK)
            except OSError as error:
                raise Closed(str(error)) from error
            forgotten += len(part)
            if not part or forgotten > most:
                raise Closed("the other end is gone, or never stops")

    def put(self, message: bytes, patience: Patience) -> None:
        """Sends a message, as long as there is patience.

        Raises:
            Closed: when there is no other end.
        """
        left = memoryview(_LENGTH.pack(len(message)) + message)
        while left:
            _wait([], [self.descriptor], patience)
            try:
                left = left[os.write(self.descriptor, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed(str(error)) from error

    def take(self, patience: Patience, most: int) -> bytes:
        """Receives a message of at most `most` bytes, as long as there is patience.

        Raises:
            Closed: when the other end is gone, or announces more than `most`.
        """
        self._wait_for(_LENGTH.size, patience)
        (length,) = _LENGTH.unpack_from(self._arrived)
        if not 0 <= length <= most:
            raise Closed(f"a message of {length} bytes")
        self._wait_for(_LENGTH.size + length, patience)
        message = bytes(self._arrived[_LENGTH.size : _LENGTH.size + length])
        del self._arrived[: _LENGTH.size + length]
        return message

    def _wait_for(self, size: int, patience: Patience) -> None:
        while len(self._arrived) < size:
            _wait([self.descriptor], [], patience)
            try:
                part = os.read(self.descriptor, max(size - len(self._arrived), _CHUNK))
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed(str(error)) from error
            if not part:
                raise Closed("the other end is gone")
            self._arrived += part


def _wait(reading: list[int], writing: list[int], patience: Patience) -> None:
    ready = select.select(reading, writing, [], 0)  # what is there needs no patience
    while not (ready[0] or ready[1]):
        ready = select.select(reading, writing, [], max(patience() - time.monotonic(), 0))

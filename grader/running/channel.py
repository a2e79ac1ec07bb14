"""The parent's end of the pipes to a learner's process: every wait has a deadline.

The learner's code may stop reading, send half a message, or leave a process behind that keeps the pipe open. None of
that may hold up the grader, so nothing here blocks. Messages are framed as `multiprocessing.connection` frames them.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import time

_LENGTH = struct.Struct("!i")
_CHUNK = 1 << 16


class Closed(Exception):
    """The other end is gone, or sends what is no message."""


class Channel:
    """Sends and receives messages on two file descriptors, which it owns."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming = incoming
        self.outgoing = outgoing
        os.set_blocking(incoming, False)
        os.set_blocking(outgoing, False)

    def close(self) -> None:
        """Closes both pipes."""
        for descriptor in (self.incoming, self.outgoing):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def put(self, message: bytes, deadline: float) -> None:
        """Sends a message.

        Raises:
            TimeoutError: when the other end has not taken it by `deadline` (`time.monotonic`).
            Closed: when there is no other end.
        """
        left = memoryview(_LENGTH.pack(len(message)) + message)
        while left:
            _wait([], [self.outgoing], deadline)
            try:
                left = left[os.write(self.outgoing, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed(str(error)) from error

    def take(self, deadline: float, most: int) -> bytes:
        """Receives a message of at most `most` bytes.

        Raises:
            TimeoutError: when it is not there in full by `deadline` (`time.monotonic`).
            Closed: when the other end is gone, or announces more than `most`.
        """
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline))
        if not 0 <= length <= most:
            raise Closed(f"a message of {length} bytes")
        return self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        read = bytearray()
        while len(read) < size:
            _wait([self.incoming], [], deadline)
            try:
                part = os.read(self.incoming, min(size - len(read), 1 << 20))
            except BlockingIOError:
                continue
            if not part:
                raise Closed("the other end is gone")
            read += part
        return bytes(read)


def _wait(reading: list[int], writing: list[int], deadline: float) -> None:
    ready = select.select(reading, writing, [], max(deadline - time.monotonic(), 0.0))
    if not (ready[0] or ready[1]):
        raise TimeoutError

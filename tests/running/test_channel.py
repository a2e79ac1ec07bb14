"""Nothing that the other end does can hold up the parent."""

import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from cellcheck.running.channel import Channel, Closed, Patience, by


@pytest.fixture
def ends() -> Iterator[tuple[Channel, int, int]]:
    """The parent's channel, and the file descriptors that the child reads from and writes to."""
    ours, theirs = socket.socketpair()
    child_reads = theirs.detach()
    child_writes = os.dup(child_reads)
    channel = Channel(ours.detach())
    yield channel, child_reads, child_writes
    channel.close()
    for descriptor in (child_reads, child_writes):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def soon() -> Patience:
    return by(time.monotonic() + 0.05)


def in_the_end() -> Patience:
    return by(time.monotonic() + 600)


def test_it_speaks_as_the_childs_connection_does(ends: tuple[Channel, int, int]) -> None:
    channel, reads, writes = ends
    for message in (b"", b"x", b"y" * 40_000):
        channel.put(message, in_the_end())
        assert Connection(os.dup(reads), writable=False).recv_bytes() == message
        Connection(os.dup(writes), readable=False).send_bytes(message)
        assert channel.take(in_the_end(), 50_000) == message


@pytest.mark.parametrize("sent", [b"", b"\x00\x00", struct.pack("!i", 10) + b"half"])
def test_silence_and_half_a_message_end_with_the_patience(ends: tuple[Channel, int, int], sent: bytes) -> None:
    channel, _, writes = ends
    os.write(writes, sent)
    with pytest.raises(TimeoutError):
        channel.take(soon(), 100)


def test_an_end_that_does_not_read_ends_with_the_patience(ends: tuple[Channel, int, int]) -> None:
    with pytest.raises(TimeoutError):
        ends[0].put(b"z" * 2_000_000, soon())


@pytest.mark.parametrize("length", [101, -1, 2**31 - 1])
def test_a_message_that_is_too_long_is_refused_unread(ends: tuple[Channel, int, int], length: int) -> None:
    channel, _, writes = ends
    os.write(writes, struct.pack("!i", length))
    with pytest.raises(Closed):
        channel.take(soon(), 100)


def test_a_closed_end_is_noticed(ends: tuple[Channel, int, int]) -> None:
    channel, reads, writes = ends
    os.write(writes, struct.pack("!i", 10) + b"half")
    os.close(writes)
    os.close(reads)
    with pytest.raises(Closed):
        channel.take(in_the_end(), 100)
    with pytest.raises(Closed):
        channel.put(b"hello", in_the_end())


def test_what_nobody_asked_for_is_forgotten_and_no_flood_is_read_for_ever(ends: tuple[Channel, int, int]) -> None:
    channel, _, writes = ends
    child = Connection(os.dup(writes), readable=False)
    child.send_bytes(b"stray")
    child.send_bytes(b"another")
    channel.forget(100)
    child.send_bytes(b"the answer")
    assert channel.take(in_the_end(), 100) == b"the answer"
    child.send_bytes(b"z" * 200)
    with pytest.raises(Closed):
        channel.forget(100)


def test_whoever_waits_is_asked_again_and_again(ends: tuple[Channel, int, int]) -> None:
    channel, _, writes = ends
    asked = []

    def patience() -> float:
        asked.append(1)
        if len(asked) == 3:
            Connection(os.dup(writes), readable=False).send_bytes(b"at last")
        return time.monotonic() + 0.01

    assert channel.take(patience, 100) == b"at last"
    assert len(asked) >= 3

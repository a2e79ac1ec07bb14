"""Messages of a learner's process, made up or damaged: plain data comes out, or an error, and memory stays bounded."""

import contextlib
import json
import socket
import struct
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cellcheck.authoring.observe import Opaque
from cellcheck.checking.cards import card, plain
from cellcheck.checking.judge import Judge
from cellcheck.running.channel import Channel, Closed, by
from cellcheck.running.judging import Bench
from cellcheck.running.wire import MAX_MESSAGE, MAX_TEXT, BadMessage, decode, encode
from cellcheck.syllabus import load_lesson, load_probes

LESSON = "01_pytorch_basics"
FEW = settings(max_examples=150, deadline=None)
GOOD = encode({"seen": {"output": [torch.ones(2, 3).T, (1, "a", None), np.ones(2)], "x": Opaque("x"), "y": -1.5}})
KINDS = [f"{kind}{bits}" for kind in "FIU" for bits in (8, 16, 32, 64)] + ["BF16", "BOOL", "F8_E4M3", "C64", "X"]


def assert_plain(value: Any) -> None:
    """Nothing but plain data, in types that nobody can have made."""
    if type(value) is dict:
        assert all(type(key) is str for key in value)
        value = list(value.values())
    if type(value) in (list, tuple):
        for item in value:
            assert_plain(item)
        return
    assert value is None or type(value) in (bool, int, float, str, torch.Tensor, np.ndarray, Opaque)
    assert type(value) is not int or -(2**63) <= value < 2**63


def survives(message: bytes) -> Any:
    """Decodes; None where it is refused."""
    try:
        tree = decode(message)
    except BadMessage:
        return None
    assert_plain(tree)
    str(tree).encode("utf-8")
    return tree


def packed(text: bytes, blob: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text + blob


@st.composite
def blobs(draw: st.DrawFn) -> bytes:
    """A safetensors part: sometimes right, mostly with a header that lies."""
    sizes = st.one_of(st.integers(0, 5), st.sampled_from([-1, 2**31, 2**62, 2**63, 2**64, 1.5, None, "2", True]))
    entries = st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(KINDS),
            "shape": st.lists(sizes, max_size=4),
            "data_offsets": st.lists(st.one_of(st.integers(0, 48), sizes), min_size=1, max_size=3),
        }
    )
    header = json.dumps(
        draw(st.dictionaries(st.sampled_from(["0", "1", "__metadata__", ""]), entries, max_size=3))
    ).encode()
    length = draw(st.one_of(st.just(len(header)), st.sampled_from([0, 7, len(header) + 1, 2**40, 2**64 - 1])))
    return struct.pack("<Q", length) + header + draw(st.binary(max_size=64))


marks = st.sampled_from(["tensor", "array", "opaque", "tuple", "dict", "module", "", None, 1, "$"])
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([10**400, "\ud800", "0", -(2**63), 2**63]),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["$", "at", "stride", "items", "name", "x"]), inner, max_size=4),
        st.fixed_dictionaries(
            {
                "$": marks,
                "at": st.sampled_from(["0", "1"]),
                "stride": st.one_of(st.none(), st.lists(leaves, max_size=3)),
            }
        ),
        st.fixed_dictionaries({"$": marks, "items": inner, "name": inner}),
    ),
    max_leaves=12,
)


@FEW
@given(
    st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, len(GOOD)),
)
def test_damaged_and_cut_off_messages(changes: list[tuple[int, int]], end: int) -> None:
    message = bytearray(GOOD)
    for place, byte in changes:
        message[place] = byte
    survives(bytes(message))
    survives(bytes(message[:end]))
    survives(bytes(message) + GOOD[:end])


@FEW
@given(trees, blobs())
def test_made_up_trees_and_arrays(tree: Any, blob: bytes) -> None:
    survives(packed(json.dumps(tree).encode(), blob))


@FEW
@given(trees)
def test_a_made_up_tree_with_good_arrays(tree: Any) -> None:
    survives(packed(json.dumps(tree).encode(), encode(0)[5:]))
    blob = encode([torch.arange(6.0).reshape(2, 3), torch.ones(())])
    survives(packed(json.dumps(tree).encode(), blob[4 + struct.unpack(">I", blob[:4])[0] :]))


@FEW
@given(blobs())
def test_made_up_arrays(blob: bytes) -> None:
    survives(packed(b'[{"$": "tensor", "at": "0", "stride": null}, {"$": "array", "at": "1"}]', blob))


HEADER = b"\x08\0\0\0\0\0\0\0{}      "
ONE = encode([torch.ones(1000, 2)])
ONE_BLOB = ONE[4 + struct.unpack(">I", ONE[:4])[0] :]
FAR = '{"$": "tensor", "at": "0", "stride": [%d, 1]}'
BOMBS = {
    "empty lists": packed(b"[" + b"[]," * (MAX_TEXT // 3 - 2) + b"[]]", HEADER),
    "more empty lists than allowed": packed(b"[" + b"[]," * 10**7 + b"[]]", HEADER),
    "small numbers": packed(b"[" + b"1.5," * (MAX_TEXT // 4 - 2) + b"1]", HEADER),
    "empty marks": packed(b"[" + b'{"$":"tuple","items":[]},' * (MAX_TEXT // 25 - 1) + b"1]", HEADER),
    "a long word": packed(b'"' + b"x" * (MAX_TEXT - 2) + b'"', HEADER),
    "half letters": packed(b'"' + b"\\ud800" * (MAX_TEXT // 6 - 1) + b'"', HEADER),
    "numbers far apart": packed((FAR % 60_000).encode(), ONE_BLOB),
    "numbers far apart, again and again": packed(("[" + ",".join([FAR % 8000] * 5000) + "]").encode(), ONE_BLOB),
    "one array, shown again and again": packed(
        ("[" + ",".join(['{"$":"array","at":"0"}'] * 50_000) + "]").encode(), ONE_BLOB
    ),
    "many arrays of nothing": packed(b"1", encode([torch.zeros(0)] * 40_000).partition(b"]")[2][0:] or HEADER),
    "a large array": encode(torch.ones(2**22, dtype=torch.float64)),
    "larger than allowed": bytes(MAX_MESSAGE + 1),
}


@pytest.mark.parametrize("name", BOMBS)
def test_memory_stays_bounded(name: str) -> None:
    """Some two hundred megabytes beside the message, whatever it says."""
    message = BOMBS[name]
    tracemalloc.start()
    with contextlib.suppress(BadMessage):
        decode(message)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * len(message) + 200 * 2**20, peak / 2**20


# --- what is made of an answer ----------------------------------------------------------------------------------

JUDGE = Judge(load_lesson(LESSON)["batched_dot"], load_probes(LESSON)["batched_dot"], 3)
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(),
        st.text(max_size=5),
        st.just(Opaque("a zip object")),
        st.builds(
            lambda kind, shape: torch.zeros(shape).to(kind),
            st.sampled_from([torch.float32, torch.bool, torch.bfloat16, torch.int8, torch.uint64]),
            st.lists(st.integers(0, 3), max_size=5),
        ),
        st.builds(
            lambda kind, shape: np.full(shape, 1, kind),
            st.sampled_from(["f8", "u2", "u8", "?"]),
            st.lists(st.integers(0, 3), max_size=5).map(tuple),
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3), st.tuples(inner, inner)
    ),
    max_leaves=5,
)
answers = st.one_of(
    st.dictionaries(st.sampled_from(["seen", "error", "absent"]), values),
    st.fixed_dictionaries(
        {"seen": st.dictionaries(st.sampled_from(["output", "gradients", "arguments", "error"]), values)}
    ),
)


@FEW
@given(answers)
def test_any_answer_gets_a_verdict(answer: dict[str, Any]) -> None:
    seen = Bench(JUDGE.cases).observations([encode(answer)] * len(JUDGE.cases))
    verdict = JUDGE.verdict(seen)
    assert verdict.score == 0
    assert "\n" not in plain(verdict).strip() or card(verdict)


# --- the pipe ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def pipe() -> Iterator[tuple[Channel, socket.socket]]:
    """The grader's channel, and the learner's end of it."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours.detach())
    with theirs:
        yield channel, theirs
    channel.close()


@FEW
@given(st.binary(max_size=200), st.booleans())
def test_the_channel_takes_anything(stream: bytes, closes: bool) -> None:
    with pipe() as (channel, theirs), contextlib.suppress(TimeoutError, Closed):
        theirs.sendall(stream)
        if closes:
            theirs.close()
        for _ in range(3):
            message = channel.take(by(time.monotonic()), 100)
            assert len(message) <= 100
            assert message in stream


@FEW
@given(st.lists(st.binary(max_size=50), max_size=5), st.integers(1, 7))
def test_messages_sent_in_pieces_arrive_whole(messages: list[bytes], size: int) -> None:
    stream = b"".join(struct.pack("!i", len(message)) + message for message in messages)
    taken = []
    with pipe() as (channel, theirs):
        for start in range(0, len(stream), size):
            theirs.sendall(stream[start : start + size])
            with contextlib.suppress(TimeoutError):
                taken.append(channel.take(by(time.monotonic()), 100))
        while len(taken) < len(messages):
            taken.append(channel.take(by(time.monotonic()), 100))
    assert taken == messages

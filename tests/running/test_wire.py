"""What crosses the border: plain data comes back as it was, and garbage is a BadMessage and nothing else."""

import json
import math
import struct
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cellcheck.authoring.observe import Opaque, snapshot
from cellcheck.running import wire
from cellcheck.running.wire import BadMessage, decode, decode_words, encode

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
DTYPES = [*FLOATS, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]

texts = st.text(st.characters(codec="utf-8"), max_size=20)
shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Tensors of every dtype, some transposed, some every second entry of a wider one."""
    shape = draw(shapes)
    numbers = draw(arrays.arrays(np.int8, shape))
    tensor = torch.from_numpy(numbers).to(draw(st.sampled_from(DTYPES)))
    layout = draw(st.sampled_from(["as it is", "transposed", "strided"]))
    if layout == "transposed" and tensor.dim() >= 2:
        return tensor.transpose(0, -1)
    if layout == "strided" and tensor.dim() >= 1:
        return torch.stack([tensor, tensor], dim=-1)[..., 0]
    return tensor


plain = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), texts, st.builds(Opaque, texts)
)
numpy_arrays = arrays.arrays(st.sampled_from(["float64", "float32", "int64", "int8", "uint16", "bool"]), shapes)
trees = st.recursive(
    st.one_of(plain, tensors(), numpy_arrays),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(texts, st.just("$")), inner, max_size=3),
    ),
    max_leaves=6,
)


def same(one: Any, other: Any) -> bool:
    """Equal in type, shape, dtype, layout and every bit that counts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and one.is_contiguous() == other.is_contiguous()
            and torch.equal(one.double().nan_to_num(7), other.double().nan_to_num(7))
        )
    if isinstance(one, np.ndarray):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and np.array_equal(np.asarray(one, float), np.asarray(other, float), equal_nan=True)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


@given(trees)
def test_a_tree_comes_back_as_it_was(tree: Any) -> None:
    assert same(decode(encode(tree)), tree)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_layout(dtype: torch.dtype) -> None:
    wide = torch.arange(24).reshape(2, 3, 4).to(dtype)
    for tensor in (wide, wide.transpose(1, 2), wide[:, ::2], wide[..., :0], wide[0, 0, 0]):
        back = decode(encode({"output": tensor}))["output"]
        assert same(back, tensor)
    assert decode(encode(wide.transpose(1, 2))).stride() == wide.transpose(1, 2).stride()


def test_half_a_character_can_be_written_to_a_file_afterwards() -> None:
    for tree in ("\ud800", {"\ud800": 1}, ["a\udfff"], Opaque("\ud800")):
        str(decode(encode(tree))).encode("utf-8")


@given(st.binary(max_size=200))
def test_garbage_is_a_bad_message(garbage: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(garbage)


def message(tree: Any, **tensors_: torch.Tensor) -> bytes:
    text = json.dumps(tree).encode()
    return struct.pack(">I", len(text)) + text + safetensors.torch.save(tensors_)


EVIL = {
    "an unknown mark": {"$": "module", "name": "os"},
    "no mark": {"a": 1},
    "an array that is not there": {"$": "tensor", "at": "7", "stride": None},
    "a stride too many": {"$": "tensor", "at": "0", "stride": [1, 1, 1]},
    "a stride that reaches far": {"$": "tensor", "at": "0", "stride": [2**40, 1]},
    "a stride backwards": {"$": "tensor", "at": "0", "stride": [-1, 1]},
    "a stride of words": {"$": "tensor", "at": "0", "stride": ["a", "b"]},
    "a list as a name": {"$": "tensor", "at": [], "stride": None},
    "items that are none": {"$": "tuple", "items": 3},
    "a dict of a list": {"$": "dict", "items": [1]},
}


@pytest.mark.parametrize("tree", EVIL.values(), ids=EVIL.keys())
def test_a_malformed_tree_is_a_bad_message(tree: Any) -> None:
    with pytest.raises(BadMessage):
        decode(message(tree, **{"0": torch.ones(2, 2)}))


def test_depth_and_size_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: Any = 1
    for _ in range(50):
        deep = [deep]
    with pytest.raises(BadMessage, match="deeply"):
        decode(message(deep))
    for bomb in (b"[" * 100_000, b'{"a":' * 100_000):
        with pytest.raises(BadMessage):
            decode(struct.pack(">I", len(bomb)) + bomb + safetensors.torch.save({}))
    monkeypatch.setattr(wire, "MAX_MESSAGE", 100)
    with pytest.raises(BadMessage, match="larger"):
        decode(encode(torch.ones(100)))


def test_copies_of_an_array_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few words may ask for the same array again and again; as bfloat16 each is a copy."""
    coarse = {"$": "tensor", "at": "0", "stride": None, "bfloat16": True}
    monkeypatch.setattr(wire, "MAX_MESSAGE", 2**16)
    assert len(decode(message([coarse] * 2, **{"0": torch.ones(1000)}))) == 2
    with pytest.raises(BadMessage, match="too far"):
        decode(message([coarse] * 20, **{"0": torch.ones(1000)}))


def test_where_words_are_expected_no_array_is_made() -> None:
    assert decode_words(encode({"ok": True, "value": 2.5})) == {"ok": True, "value": 2.5}
    for tree in ({"ok": torch.ones(2)}, [np.ones(2)]):
        with pytest.raises(BadMessage):
            decode_words(encode(tree))


def test_nothing_pickled_is_ever_read() -> None:
    import pickle

    class Bomb:
        def __reduce__(self) -> Any:
            return (pytest.fail, ("unpickled",))

    for payload in (pickle.dumps(Bomb()), message(1) + pickle.dumps(Bomb())):
        with pytest.raises(BadMessage):
            decode(payload)


@given(trees)
def test_a_snapshot_can_always_be_sent(tree: Any) -> None:
    """What the learner's process takes of a value is what the border can carry."""
    taken = snapshot(tree)
    assert same(decode(encode(taken)), taken)


class _Home:
    """No plain data at all."""


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (_Home(), "an object of type _Home"),
        (torch.ones(2, dtype=torch.complex64), "a tensor of torch.complex64"),
        (torch.ones(2).to_sparse(), "a tensor of torch.float32"),
        (torch.ones(2, device="meta"), "a tensor of torch.float32"),
        (np.array(["a"]), "an array of <U1"),
        (10**30, "a gigantic integer"),
        (zip(), "an object of type zip"),
        ({1: 2}, "an object of type dict"),
    ],
)
def test_what_is_no_plain_data_becomes_opaque(value: Any, name: str) -> None:
    assert snapshot({"output": value}) == {"output": Opaque(name)}


def test_a_snapshot_of_something_huge_or_endless_is_small() -> None:
    endless: list[Any] = []
    endless.append(endless)
    wide = snapshot([list(range(30_000))])
    for taken in (snapshot(endless), snapshot(torch.ones(1).expand(3000, 3000)), wide):
        assert len(encode(taken)) < 5_000_000
    assert isinstance(snapshot(torch.ones(1).expand(3000, 3000)), Opaque)


def test_numbers_that_share_a_place_come_back_each_in_its_own() -> None:
    """What `expand` and `unfold` give can't be written to; what is only laid out differently keeps its layout."""
    for tensor in (torch.arange(3.0).expand(4, 3), torch.arange(6.0).unfold(0, 3, 1)):
        back = decode(encode(tensor))
        assert back.equal(tensor)
        assert back.is_contiguous()
    apart = torch.arange(12.0).reshape(3, 4).T
    assert decode(encode(apart)).stride() == apart.stride()

"""What crosses the border between the grader and the learner's process: JSON and raw arrays, never pickle.

A message is a tree of plain data. Its arrays go into one safetensors blob; the JSON refers to them by number.
Whatever comes from the learner's process is decoded as data and can be nothing else.

A submission takes hundreds of small messages, so what is done for each value of a tree is done by its exact type first.
The blob is written here, in a third of the time that its library takes; reading it is for the library, which was made
to be given anything.
"""

import json
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import safetensors.numpy

from cellcheck.authoring.arrays import as_tensor, is_tensor, laid_out, numbers
from cellcheck.authoring.observe import MAX_DEPTH, MAX_ITEMS, Opaque, readable

MAX_MESSAGE = 64 * 2**20  # bytes; arrays laid out anew count too
MAX_TEXT = 2 * 2**20  # bytes of JSON in an answer: in memory it takes forty times as much
_MOST_ITEMS = 2 * MAX_ITEMS  # of all lists and dicts in an answer
_HEADER = struct.Struct(">I")
_MARK = "$"  # a dict with this key stands for something JSON has no word for
_SAME_IN_JSON = frozenset({str, int, float, bool, type(None)})
_CODES = {
    np.dtype(dtype): code
    for code, dtype in (
        *(("F64", np.float64), ("F32", np.float32), ("F16", np.float16), ("BOOL", np.bool_)),
        *(("I64", np.int64), ("I32", np.int32), ("I16", np.int16), ("I8", np.int8)),
        *(("U64", np.uint64), ("U32", np.uint32), ("U16", np.uint16), ("U8", np.uint8)),
    )
}
"""What safetensors calls the dtypes that an array may have here."""


class BadMessage(Exception):
    """What came over the border is not a message."""


def encode(tree: Any, most_text: int = MAX_MESSAGE) -> bytes:
    """A tree of plain data (see `cellcheck.authoring.observe.snapshot`) as bytes.

    Raises:
        ValueError: when it holds more words than `decode` would take, or arrays of something else than numbers.
    """
    arrays: list[np.ndarray] = []
    text = json.dumps(_to_json(tree, arrays)).encode()
    if len(text) > most_text:
        raise ValueError("this is larger than any right answer")
    return b"".join((_HEADER.pack(len(text)), text, *_blob(arrays)))


def _blob(arrays: list[np.ndarray]) -> list[bytes]:
    """The arrays as safetensors has them, each by its number; in parts."""
    if not arrays:
        return [_EMPTY]
    entries, end = [], 0
    for number, array in enumerate(arrays):
        begin, end = end, end + array.nbytes
        code, shape = _CODES.get(array.dtype), list(array.shape)
        if code is None:
            raise ValueError(f"an array of {array.dtype}")
        entries.append(f'"{number}":{{"dtype":"{code}","shape":{shape},"data_offsets":[{begin},{end}]}}')
    head = f"{{{','.join(entries)}}}"
    head += " " * (-len(head) % 8)
    return [len(head).to_bytes(8, "little"), head.encode(), *(array.tobytes() for array in arrays)]


_EMPTY: bytes = safetensors.numpy.save({})


def decode(message: bytes, most_text: int = MAX_TEXT) -> Any:
    """The tree that `message` holds; of its JSON and its list of arrays, at most `most_text` bytes each.

    Raises:
        BadMessage: when it is too large or not well formed.
    """
    if len(message) > MAX_MESSAGE:
        raise BadMessage("larger than any right answer")
    try:
        (length,) = _HEADER.unpack_from(message)
        body, blob = message[_HEADER.size : _HEADER.size + length], message[_HEADER.size + length :]
        if max(length, int.from_bytes(blob[:8], "little")) > most_text:
            raise BadMessage("more words than any right answer has")
        most_items = _MOST_ITEMS if most_text <= MAX_TEXT else sys.maxsize
        arrays = safetensors.numpy.load(blob) if blob != _EMPTY else {}
        return _Reading(arrays, most_items).tree(_json(body), 0)
    except Exception as error:  # every library on this path has errors of its own; all of them mean the same
        raise BadMessage(str(error)[:200]) from error


def names_in(message: bytes) -> frozenset[str]:
    """The names at the top of a message that is a dict. Its arrays are not looked at.

    Raises:
        BadMessage: when it is none, or too large.
    """
    try:
        tree = _words(message)
        if tree[_MARK] != "dict":
            raise BadMessage("no dict")
        return frozenset(tree["items"])
    except Exception as error:
        raise BadMessage(str(error)[:200]) from error


def decode_words(message: bytes) -> Any:
    """The tree of a message that holds no arrays: a few bytes of it can't become many.

    Raises:
        BadMessage: when it holds one, is too large or not well formed.
    """
    try:
        return _Reading({}).tree(_words(message), 0)
    except Exception as error:
        raise BadMessage(str(error)[:200]) from error


def _words(message: bytes) -> Any:
    """What stands in the JSON of a message."""
    if len(message) > MAX_MESSAGE:
        raise BadMessage("larger than any right answer")
    (length,) = _HEADER.unpack_from(message)
    if length > MAX_TEXT:
        raise BadMessage("more words than any right answer has")
    return _json(message[_HEADER.size : _HEADER.size + length])


def _json(text: bytes) -> Any:
    return json.loads(text.decode("utf-8", "surrogatepass"))  # or `json` looks for the encoding, which takes longer


def error_in(answer: Mapping[str, Any]) -> dict[str, str] | None:
    """The description of an error in an answer, if there is one. The learner's process may send anything."""
    error = answer.get("error")
    if not isinstance(error, dict):
        return None
    return {key: value[:300] if isinstance(value := error.get(key), str) else "" for key in ("type", "message", "line")}


def out_of_memory(error: Any) -> bool:
    """Whether the description of an error says that there was too little memory."""
    return isinstance(error, dict) and (
        error.get("type") == "MemoryError" or "allocate memory" in str(error.get("message"))
    )


def _whole(text: str) -> str:
    return text if text.isascii() else readable(text)


def _to_json(value: Any, arrays: list[np.ndarray]) -> Any:
    kind = type(value)
    if kind in _SAME_IN_JSON:
        return value
    if kind is list:
        return [_to_json(item, arrays) for item in value]
    if is_tensor(value):
        stride = None if value.is_contiguous() or not _lies_apart(value) else list(value.stride())
        mark = {_MARK: "tensor", "at": _keep(numbers(value), arrays), "stride": stride}
        return mark | {"bfloat16": True} if _is_coarse(value.dtype) else mark  # it crosses as float32
    if isinstance(value, np.ndarray):
        return {_MARK: "array", "at": _keep(value, arrays)}
    if isinstance(value, Opaque):
        return {_MARK: "opaque", "name": value.name}
    if isinstance(value, tuple):
        return {_MARK: "tuple", "items": [_to_json(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_to_json(item, arrays) for item in value]
    if isinstance(value, dict):
        return {_MARK: "dict", "items": {k: _to_json(item, arrays) for k, item in value.items()}}
    return value


def _lies_apart(tensor: Any) -> bool:
    """Whether it has a layout of its own that another tensor can have: no two of its numbers share a place."""
    reach = 1
    for stride, length in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if length > 1:
            if stride < reach:
                return False  # as `expand` and `unfold` make them
            reach += stride * (length - 1)
    return not tensor.is_contiguous()


@cache
def _is_coarse(dtype: Any) -> bool:
    return str(dtype) == "torch.bfloat16"


def _keep(array: np.ndarray, arrays: list[np.ndarray]) -> str:
    arrays.append(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))
    return str(len(arrays) - 1)


@dataclass
class _Reading:
    """The way from JSON back to a tree."""

    arrays: dict[str, np.ndarray]
    items_left: int = _MOST_ITEMS
    laid_out: int = 0  # bytes; a few numbers can be told to lie far apart, or to come again and again

    def tree(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH + 4:
            raise BadMessage("nested too deeply")
        self.items_left -= 1
        if self.items_left < 0:
            raise BadMessage("more things in lists than any right answer has")
        kind = type(value)  # of what JSON knows, and nothing else
        if kind is str:
            return _whole(value)
        if kind is int and not -(2**63) <= value < 2**63:
            raise BadMessage("a gigantic integer")
        if kind is list:
            return [self.tree(item, depth + 1) for item in value]
        if kind is not dict:
            return value
        match value[_MARK]:  # the commonest first
            case "dict":
                return {_whole(k): self.tree(item, depth + 1) for k, item in value["items"].items()}
            case "tensor":
                return self._tensor(self._array(value["at"]), value["stride"], "bfloat16" in value)
            case "tuple":
                return tuple([self.tree(item, depth + 1) for item in value["items"]])
            case "array":
                return self._array(value["at"])
            case "opaque":
                return Opaque(readable(str(value["name"])[:200]))
        raise BadMessage("an unknown mark")

    def _array(self, at: str) -> np.ndarray:
        array = self.arrays[at]
        if array.dtype.kind not in "biuf":
            raise BadMessage(f"an array of {array.dtype}")
        return array

    def _tensor(self, array: np.ndarray, stride: list[int] | None, coarse: bool) -> Any:
        if stride is None and not coarse:
            return as_tensor(array)
        anew = stride is not None and array.size > 0
        reach = sum((n - 1) * s for n, s in zip(array.shape, stride or (), strict=True)) + 1 if anew else 0
        self.laid_out += reach * array.itemsize + (array.nbytes if coarse else 0)
        if self.laid_out > MAX_MESSAGE or min(stride or (), default=0) < 0:
            raise BadMessage("a layout that reaches too far")
        tensor = as_tensor(array)
        tensor = tensor.bfloat16() if coarse else tensor
        return laid_out(tensor, tuple(stride)) if anew and stride is not None else tensor

"""What crosses the border between the grader and the learner's process: JSON and raw arrays, never pickle.

A message is a tree of plain data. Its arrays go into one safetensors blob; the JSON refers to them by number.
Whatever comes from the learner's process is decoded as data and can be nothing else.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch

from grader.probes.observe import MAX_DEPTH, Opaque, readable

MAX_MESSAGE = 64 * 2**20  # bytes
_HEADER = struct.Struct(">I")
_MARK = "$"  # a dict with this key stands for something JSON has no word for


class BadMessage(Exception):
    """What came over the border is not a message."""


def encode(tree: Any) -> bytes:
    """A tree of plain data (see `grader.probes.observe.snapshot`) as bytes."""
    arrays: dict[str, torch.Tensor] = {}
    text = json.dumps(_to_json(tree, arrays)).encode()
    blob = _saved(arrays)
    return _HEADER.pack(len(text)) + text + blob


def decode(message: bytes) -> Any:
    """The tree that `message` holds.

    Raises:
        BadMessage: when it is too large or not well formed.
    """
    if len(message) > MAX_MESSAGE:
        raise BadMessage("larger than any right answer")
    try:
        (length,) = _HEADER.unpack_from(message)
        body = message[_HEADER.size : _HEADER.size + length]
        arrays = safetensors.torch.load(message[_HEADER.size + length :])
        return _from_json(json.loads(body), arrays, 0)
    except Exception as error:  # every library on this path has errors of its own; all of them mean the same
        raise BadMessage(str(error)[:200]) from error


def _saved(arrays: dict[str, torch.Tensor]) -> bytes:
    blob: bytes
    try:  # the same bytes as from safetensors.torch, in a third of the time
        blob = safetensors.numpy.save({name: tensor.numpy() for name, tensor in arrays.items()})
    except TypeError:  # NumPy has no bfloat16
        blob = safetensors.torch.save(arrays)
    return blob


def _to_json(value: Any, arrays: dict[str, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        stride = None if value.is_contiguous() else list(value.stride())
        return {_MARK: "tensor", "at": _keep(value, arrays), "stride": stride}
    if isinstance(value, np.ndarray):
        return {
            _MARK: "array",
            "at": _keep(torch.from_numpy(np.ascontiguousarray(value)), arrays, value.shape),
        }
    if isinstance(value, Opaque):
        return {_MARK: "opaque", "name": value.name}
    if isinstance(value, tuple):
        return {_MARK: "tuple", "items": [_to_json(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_to_json(item, arrays) for item in value]
    if isinstance(value, dict):
        return {_MARK: "dict", "items": {k: _to_json(item, arrays) for k, item in value.items()}}
    return value


def _keep(tensor: torch.Tensor, arrays: dict[str, torch.Tensor], shape: tuple[int, ...] | None = None) -> str:
    name = str(len(arrays))
    kept = tensor.detach().clone(memory_format=torch.contiguous_format)
    arrays[name] = kept if shape is None else kept.reshape(shape)
    return name


def _from_json(value: Any, arrays: dict[str, torch.Tensor], depth: int) -> Any:
    if depth > MAX_DEPTH + 4:
        raise BadMessage("nested too deeply")
    if isinstance(value, list):
        return [_from_json(item, arrays, depth + 1) for item in value]
    if isinstance(value, str):
        return readable(value)
    if not isinstance(value, dict):
        return value
    match value[_MARK]:
        case "tensor":
            return _restride(arrays[value["at"]], value["stride"])
        case "array":
            return arrays[value["at"]].numpy()
        case "opaque":
            return Opaque(readable(str(value["name"])[:200]))
        case "tuple":
            return tuple(_from_json(item, arrays, depth + 1) for item in value["items"])
        case "dict":
            return {readable(str(k)): _from_json(item, arrays, depth + 1) for k, item in value["items"].items()}
    raise BadMessage("an unknown mark")


def _restride(tensor: torch.Tensor, stride: list[int] | None) -> torch.Tensor:
    if stride is None:
        return tensor
    reach = sum((n - 1) * abs(s) for n, s in zip(tensor.shape, stride, strict=True))
    if reach > MAX_MESSAGE or min(stride, default=0) < 0:
        raise BadMessage("a layout that reaches too far")
    return torch.empty_strided(tensor.shape, stride, dtype=tensor.dtype).copy_(tensor)

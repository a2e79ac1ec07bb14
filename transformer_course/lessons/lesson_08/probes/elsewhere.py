"""Another device, without one: where its tensors are is PyTorch's meta device, and what is done there is done here.

PyTorch knows what becomes of a meta tensor, too, but the first time it imports its compiler to find out, which takes a
second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

ELSEWHERE = torch.device("meta")
_LEFT_TO_PYTORCH = frozenset({"to", "cpu"})
_WRITING = frozenset({"copy_", "__setitem__"})
_OF_TWO_DEVICES = _WRITING | {"__getitem__"}
"""What may take tensors of both."""


class Elsewhere(TorchFunctionMode):
    """Works out what comes of calls on meta tensors by doing them with zeros on the CPU.

    What looks at numbers is left to PyTorch, and stops with its error. Tensors of two devices in one call stop with
    one that says so, as on a GPU; a single number may be anywhere.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        devices: set[str] = set()
        positional, others = _here(list(args), devices), _here(dict(named), devices)
        name = getattr(func, "__name__", "")
        if "meta" not in devices or name in _LEFT_TO_PYTORCH:
            return func(*args, **named)
        if "cpu" in devices and name not in _OF_TWO_DEVICES:
            raise RuntimeError("expected all tensors to be on the same device")
        result = func(*positional, **others)
        if name in _WRITING and positional[0] is args[0]:  # into a tensor that is here
            return result
        there = _there(result)
        return func(*args, **named) if there is None else there


def _here(value: Any, devices: set[str]) -> Any:
    """The value with zeros on the CPU for meta tensors; notes where its tensors are."""
    if isinstance(value, torch.Tensor):
        if value.device != ELSEWHERE:
            devices |= {"cpu"} if value.dim() else set()
            return value
        devices.add("meta")
        return torch.zeros(value.shape, dtype=value.dtype)
    if isinstance(value, str | torch.device) and str(value) == "meta":
        devices.add("meta")
        return "cpu"
    if isinstance(value, dict):
        return {name: _here(each, devices) for name, each in value.items()}
    return type(value)(_here(each, devices) for each in value) if type(value) in (list, tuple) else value


def _there(result: Any) -> Any:
    """The result on the meta device; None where it is no tensor."""
    if isinstance(result, torch.Tensor):
        return result.to(ELSEWHERE)
    if isinstance(result, list | tuple) and result and all(isinstance(each, torch.Tensor) for each in result):
        return [each.to(ELSEWHERE) for each in result]
    return None

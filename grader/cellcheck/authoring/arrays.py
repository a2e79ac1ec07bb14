"""Arrays of two kinds, NumPy's and PyTorch's tensors: what the engine knows of PyTorch stands here.

What PyTorch has not been imported for can't be a tensor. So nobody imports it to ask, and a lesson without tensors is
checked and graded where there is no PyTorch. `as_tensor` is what imports it, when one is to be made.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

if TYPE_CHECKING:
    import torch

# The dtypes that an answer may have, by their names; NumPy has all of them but bfloat16.
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_PLAIN = frozenset({"bool", *_WHOLE, "float16", "bfloat16", "float32", "float64"})
_kinds: list[type] = []  # the type of tensors, once PyTorch is there: it is asked of every value of every answer


def is_tensor(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether it is one of PyTorch's tensors."""
    if not _kinds and (kind := _in_torch("Tensor")) is not None:
        _kinds.append(kind)
    return bool(_kinds) and isinstance(value, _kinds[0])


def is_array(value: Any) -> TypeGuard[np.ndarray | torch.Tensor]:
    """Whether it is an array of either kind."""
    return isinstance(value, np.ndarray) or is_tensor(value)


def dtype_of(array: np.ndarray | torch.Tensor) -> str:
    """The name of its dtype, which is the same for both kinds: "float32"."""
    return str(array.dtype).removeprefix("torch.")


def size_of(array: np.ndarray | torch.Tensor) -> int:
    """How many numbers it holds."""
    return array.size if isinstance(array, np.ndarray) else array.numel()


def equal(one: Any, other: Any) -> bool:
    """Whether two arrays of one kind, dtype and shape hold the same numbers."""
    return one.equal(other) if is_tensor(one) else bool((one == other).all())


def numbers(value: Any) -> np.ndarray:
    """An array's or a tensor's numbers, or a plain number, as a NumPy array. It may share their memory.

    NumPy has no bfloat16: that becomes float32, which holds the same numbers.
    """
    if not is_tensor(value):
        return np.asarray(value)
    return (value.float() if value.dtype is _in_torch("bfloat16") else value).numpy(force=True)


def as_tensor(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A tensor of these numbers; it may share their memory.

    Raises:
        ImportError: when PyTorch is not installed.
    """
    import torch

    if isinstance(value, np.ndarray) and dtype is None:
        return torch.from_numpy(value)  # in a third of the time
    return torch.as_tensor(value, dtype=dtype)


def as_array(value: Any) -> np.ndarray | torch.Tensor:
    """A number as a tensor, where PyTorch has been imported; else as NumPy's array."""
    return np.asarray(value) if _in_torch("as_tensor") is None else as_tensor(value)


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """A detached copy with the same layout in memory."""
    return laid_out(tensor, tensor.stride())


def laid_out(tensor: torch.Tensor, stride: tuple[int, ...]) -> torch.Tensor:
    """A detached copy whose numbers lie that far apart in memory, axis by axis."""
    return tensor.new_empty_strided(tensor.shape, stride).copy_(tensor.detach())


def kept(tensor: torch.Tensor) -> torch.Tensor | None:
    """A detached, contiguous copy in main memory; None of a tensor that holds no plain numbers."""
    import torch

    if not _is_plain(tensor.dtype) or tensor.layout != torch.strided or tensor.device.type == "meta":
        return None
    return tensor.detach().cpu().clone(memory_format=torch.contiguous_format)


@cache
def _is_plain(dtype: torch.dtype) -> bool:
    return str(dtype).removeprefix("torch.") in _PLAIN


def without_gradients() -> AbstractContextManager[object]:
    """Within it, no gradient is followed."""
    no_grad = _in_torch("no_grad")
    return nullcontext() if no_grad is None else no_grad()


def _in_torch(name: str) -> Any:
    """What PyTorch has under that name; None where it is not imported, or another thread has only begun to.

    A module without a file only stands in for it: see `cellcheck.browser.absent`.
    """
    torch = sys.modules.get("torch")
    return getattr(torch, name, None) if hasattr(torch, "__file__") else None

"""What doesn't change what a model computes: checkpointed blocks, fused attention. And how memory is measured."""

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course.attention import MultiHeadAttention, merge_heads, split_heads


class _Block(nn.Module):
    """A block of which run_checkpointed only sees x: the masks and the encoder states are fixed beforehand."""

    def __init__(self, block: nn.Module, *others: Any) -> None:
        super().__init__()
        self.block, self.others = block, others

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.block(x, *self.others)
        return result


class _Checkpointed(nn.Module):
    """Stands where a block stood, and runs it through `run`."""

    def __init__(self, block: nn.Module, run: Callable[[Sequence[nn.Module], torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.block, self.run = block, run

    def forward(self, x: torch.Tensor, *others: Any) -> torch.Tensor:
        return self.run([_Block(self.block, *others)], x)


def checkpointed(model: Any, run: Callable[..., torch.Tensor]) -> None:
    """From now on, each block of a Reverser forgets what it computed until the gradient comes."""
    for stack in (model.model.encoder, model.model.decoder):
        for place, block in enumerate(stack):
            stack[place] = _Checkpointed(block, run)


def fused(model: nn.Module) -> None:
    """From now on, every attention layer computes scores, softmax and sum in PyTorch's one fused call."""
    for part in model.modules():
        if isinstance(part, MultiHeadAttention):
            part.forward = partial(_fused_forward, part)  # type: ignore[method-assign, assignment]


def _fused_forward(
    layer: MultiHeadAttention,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, None]:
    q, k, v = (
        split_heads(linear(x), layer.num_heads)
        for linear, x in ((layer.query, queries), (layer.key, keys), (layer.value, values))
    )  # (batch, heads, length, d_head)
    mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.output(merge_heads(mixed)), None


def saved_bytes(forward: Callable[[], Any], model: nn.Module) -> int:
    """How many bytes autograd keeps for the backward pass while `forward()` runs: each storage once, no weights."""
    weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in weights and storage._cdata not in kept:
            kept[storage._cdata] = storage.nbytes()
            weakref.finalize(storage, kept.pop, storage._cdata)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = forward()  # while it lives, so does what is kept
    size = sum(kept.values())
    del result
    return size


def peak_bytes(work: Callable[[], Any]) -> int:
    """The most bytes of tensors that were alive at once while `work()` ran, without those that were there before."""
    with _Alive() as alive:
        work()
    return int(alive.peak)


class _Alive(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees the result of every operation, and notes when its memory is given back."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.known: set[int] = set()
        self.now = self.peak = 0

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), others: Any = None) -> Any:
        for tensor in _tensors((arguments, others)):
            self.known.add(tensor.untyped_storage()._cdata)
        result = function(*arguments, **(others or {}))
        for tensor in _tensors(result):
            storage = tensor.untyped_storage()
            if storage._cdata not in self.known:
                self.known.add(storage._cdata)
                self.now += storage.nbytes()
                self.peak = max(self.peak, self.now)
                weakref.finalize(storage, self._gone, storage._cdata, storage.nbytes())
        return result

    def _gone(self, storage: int, size: int) -> None:
        self.known.discard(storage)
        self.now -= size


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]

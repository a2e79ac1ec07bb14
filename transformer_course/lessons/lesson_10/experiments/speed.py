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

from transformer_course.attention import MultiHeadAttention, merge_heads, split_heads


class _Block(nn.Module):
    """A block of which run_checkpointed only sees x: the masks and the encoder states are fixed beforehand."""

    def __init__(self, block: nn.Module, *others: Any) -> None:
        super().__init__()
        self.block, self.others = block, others

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.block(x, *self.others)
        return result


class _Checkpointed(nn.Module):
    """Stands where a stack of blocks stood, and runs all of them through `run`."""

    def __init__(
        self, blocks: list[nn.Module], run: Callable[[Sequence[nn.Module], torch.Tensor], torch.Tensor]
    ) -> None:
        super().__init__()
        self.blocks, self.run = nn.ModuleList(blocks), run

    def forward(self, x: torch.Tensor, *others: Any) -> torch.Tensor:
        return self.run([_Block(block, *others) for block in self.blocks], x)


def checkpointed(model: Any, run: Callable[..., torch.Tensor]) -> None:
    """From now on, the blocks of a Reverser forget what they computed until the gradient comes."""
    for name in ("encoder", "decoder"):
        stack = getattr(model.model, name)
        setattr(model.model, name, nn.ModuleList([_Checkpointed(list(stack), run)]))


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


def saved_bytes(work: Callable[[], Any], model: nn.Module) -> int:
    """The most bytes that autograd keeps at once while `work()` runs: each storage once, no weights."""
    weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    storages: dict[int, tuple[int, int]] = {}  # the size of a storage, and for how many tensors it is kept
    most = [0]

    def pack(tensor: torch.Tensor) -> "_Kept":
        storage = tensor.untyped_storage()
        place, held = storage._cdata, _Kept(tensor)
        if place not in weights:
            storages[place] = (storage.nbytes(), storages.get(place, (0, 0))[1] + 1)
            most[0] = max(most[0], sum(size for size, _ in storages.values()))
            weakref.finalize(held, forget, place)
        return held

    def forget(place: int) -> None:
        size, count = storages.pop(place)
        if count > 1:
            storages[place] = (size, count - 1)

    with saved_tensors_hooks(pack, lambda held: held.tensor):
        result = work()  # while it lives, so does what is kept
    del result
    return most[0]


class _Kept:
    """A tensor that autograd keeps: it goes when autograd lets go of it."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def bytes_alive(work: Callable[[], Any]) -> list[int]:
    """After each operation of `work()`: the bytes of tensors that are alive, without those that were there before."""
    with _Alive() as alive:
        work()
    return list(alive.history)


class _Alive(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees the result of every operation, and notes when its memory is given back."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.known: set[int] = set()
        self.now = 0
        self.history: list[int] = []

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), others: Any = None) -> Any:
        for tensor in _tensors((arguments, others)):
            self.known.add(tensor.untyped_storage()._cdata)
        result = function(*arguments, **(others or {}))
        for tensor in _tensors(result):
            storage = tensor.untyped_storage()
            if storage._cdata not in self.known:
                self.known.add(storage._cdata)
                self.now += storage.nbytes()
                weakref.finalize(storage, self._gone, storage._cdata, storage.nbytes())
        self.history.append(self.now)
        return result

    def _gone(self, storage: int, size: int) -> None:
        self.known.discard(storage)
        self.now -= size


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]

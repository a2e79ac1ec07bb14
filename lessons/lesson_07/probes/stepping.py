"""How `decode_one_step` is tried: a small model reads an answer token by token, with a plain cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from course.attention import padding_mask
from course.causal import CausalSeq2SeqTransformer
from grader.authoring.calls import state

Pair = tuple[torch.Tensor, torch.Tensor]


class PlainCache:
    """As a `KeyValueCache`."""

    def __init__(self) -> None:
        self.pairs: dict[Any, Pair] = {}

    def append(self, layer: Any, keys: torch.Tensor, values: torch.Tensor) -> Pair:
        """Adds new keys and values after those of this layer; returns everything so far."""
        if layer in self.pairs:
            earlier = self.pairs[layer]
            keys, values = torch.cat([earlier[0], keys], dim=2), torch.cat([earlier[1], values], dim=2)
        self.pairs[layer] = (keys, values)
        return keys, values


def step_by_step(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The logits of each step, and whether earlier positions went through the blocks again."""
    with torch.random.fork_rng(devices=[]):
        model = CausalSeq2SeqTransformer(*inputs["sizes"])
    model.load_state_dict(dict(inputs["weights"]))
    model.requires_grad_(False)
    positions: list[int] = []
    source, answer, cache = inputs["source"], inputs["answer"], PlainCache()
    states, mask = model.encode(source), padding_mask(source)
    blocks: Any = model.decoder
    watch = blocks[0].feed_forward.register_forward_pre_hook(lambda _, x: positions.append(x[0].shape[1]))
    output = [symbol(model, answer[:, t : t + 1], t, states, mask, cache) for t in range(answer.shape[1])]
    watch.remove()
    again = any(count != 1 for count in positions)
    return {
        "output": output,
        "work": "earlier tokens are read again" if again else "each token is read once",
        "arguments": state([source, answer, states, mask, *model.parameters()]),
    }

"""How those symbols of lesson 03 are called whose cases or words know what is right: their probes travel alone."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import Probe, call_and_follow, given, in_order_with_gradients, plain_bool, state
from cellcheck.authoring.modules import StandIn, with_followed_rows
from cellcheck.authoring.patients import Ask
from transformer_course.lessons.refusing import refusal

Inputs = Mapping[str, Any]


class Model(StandIn):  # cards show this name
    """Looks its tokens and places up, as any model does, and has the rest done by a patient."""

    positions: nn.Embedding
    head: nn.Parameter

    def __init__(
        self, ask: Ask, embedding: torch.Tensor, positions: torch.Tensor, head: torch.Tensor, bare: bool
    ) -> None:
        self.words = "table" if bare else "embedding"
        tables = {self.words: embedding, "positions": positions}
        parts = {name: nn.Embedding(table.shape[0], table.shape[1], _weight=table) for name, table in tables.items()}
        super().__init__(ask, {**parts, "head": head})

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        vectors = self.get_submodule(self.words)(tokens)
        places = self.positions(torch.arange(min(tokens.shape[1], self.positions.num_embeddings)))
        return self.tied(self.ask("logits", tokens, vectors, places, self.head, self.dropout.training))


def _ignores_padding(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    embedding, positions, head = (inputs[name] for name in ("embedding", "positions", "head"))
    model = Model(inputs["patient"], embedding, positions, head, inputs["bare"]).train(inputs["training"])
    tokens = inputs["tokens"]
    answer = plain_bool(symbol(model, tokens))
    parameters = list(model.parameters())
    return {
        "output": answer,
        "arguments": state([tokens, *parameters]),
        "training_mode": [module.training for module in model.modules()],
    }


def _split_heads(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """The heads and their gradients; where heads don't fit, which error there is instead."""
    x, num_heads = inputs["x"], inputs["num_heads"]
    if x.shape[-1] % num_heads != 0:
        return refusal(symbol, x, num_heads)
    return call_and_follow(symbol, x, num_heads)


def _masked_softmax(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    scores, allowed = inputs["scores"], inputs.get("mask")
    # Entries, not rows, are weighed here: a row that allows nothing is left open as a whole.
    rows = None if allowed is None else allowed.any(dim=-1).expand(scores.shape[:-1])
    return with_followed_rows(symbol, given(inputs, "scores", "mask"), rows, of=(0,))


PROBES: dict[str, Probe] = {
    "ignores_padding": _ignores_padding,
    "masked_softmax": _masked_softmax,
    "merge_heads": in_order_with_gradients(0),
    "split_heads": _split_heads,
}

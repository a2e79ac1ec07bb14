"""How the symbols of lesson 03 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import Probe, call, call_and_follow, given, state
from grader.authoring.modules import StandIn, answered_rows, built, followed, with_followed_rows
from grader.authoring.patients import Ask
from lessons.lesson_03.probes.classifier import look_at

Inputs = Mapping[str, Any]


def _masked_softmax(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    scores, mask = inputs["scores"], inputs.get("mask")
    # Entries, not rows, are weighed here: a row that allows nothing is left open as a whole.
    rows = None if mask is None else mask.any(dim=-1).expand(scores.shape[:-1])
    return with_followed_rows(symbol, given(inputs, "scores", "mask"), rows, of=(0,))


def _scaled_dot_product_attention(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    query, mask = inputs["query"], inputs.get("mask")
    rows = None if mask is None else mask.any(dim=-1).expand(query.shape[:-1])
    return with_followed_rows(symbol, given(inputs, "query", "key", "value", "mask"), rows, of=(0, 1, 2), pair=True)


def _self_attention(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x = inputs["x"]
    module = built(symbol, x.shape[-1])
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    return followed(module, inputs["weights"], given(inputs, "x", "mask"), rows, pair=True)


def _feed_forward(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x, weights = inputs["x"], inputs["weights"]
    return followed(built(symbol, x.shape[-1], inputs["d_ff"]), weights, [x])


def _positions(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x = inputs["x"]
    module = built(symbol, inputs["max_length"], x.shape[-1])
    return followed(module, inputs["weights"], [x])


def _split_heads(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return call_and_follow(symbol, inputs["x"], inputs["num_heads"])


def _merge_heads(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return call_and_follow(symbol, inputs["x"])


def _multi_head_attention(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    arguments = [inputs["x"]] * 3 if "x" in inputs else given(inputs, "queries", "keys", "values")
    queries = arguments[0]
    module = built(symbol, queries.shape[-1], inputs["num_heads"])
    rows = answered_rows(inputs.get("mask"), queries.shape[:-1])
    return followed(module, inputs["weights"], [*arguments, *given(inputs, "mask")], rows, pair=True)


def _padding_mask(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return call(symbol, *given(inputs, "tokens", "pad_id"))


def _layer_norm(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x = inputs["x"]
    module = built(symbol, x.shape[-1], *given(inputs, "eps"))
    fresh = [getattr(module, name, None) for name in ("weight", "bias")]
    start = [tensor.detach().clone() if isinstance(tensor, torch.Tensor) else None for tensor in fresh]
    return {"start": start, **followed(module, inputs["weights"], [x])}


def _encoder_block(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x = inputs["x"]
    module = built(symbol, x.shape[-1], inputs["num_heads"], inputs["d_ff"])
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    seen = followed(module, inputs["weights"], given(inputs, "x", "mask"), rows)
    # The contract names the four parts, and leaves open what the feed-forward part is made of.
    names = ("attention", "feed_forward", "norm1", "norm2")
    seen["parts"] = {name: "there" if hasattr(module, name) else "missing" for name in names}
    return seen


def _transformer_classifier(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return look_at(symbol, inputs["sizes"], inputs["tokens"], inputs["ask"], inputs["dtype"])


class _Reader(StandIn):
    """Looks its tokens and places up, as any model does, and has the rest done by a patient."""

    embedding: nn.Embedding
    positions: nn.Embedding
    head: nn.Linear

    def __init__(self, ask: Ask, embedding: torch.Tensor, positions: torch.Tensor, head: torch.Tensor) -> None:
        parts = {"embedding": nn.Embedding(*embedding.shape), "positions": nn.Embedding(*positions.shape)}
        super().__init__(ask, {**parts, "head": nn.Linear(head.shape[1], head.shape[0], bias=False)})
        for name, table in (("embedding", embedding), ("positions", positions), ("head", head)):
            self.get_parameter(f"{name}.weight").data = table

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        vectors = self.embedding(tokens)
        places = self.positions(torch.arange(min(tokens.shape[1], self.positions.num_embeddings)))
        return self.tied(self.ask("logits", tokens, vectors, places, self.head.weight, self.dropout.training))


def _ignores_padding(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    model = _Reader(inputs["patient"], inputs["embedding"], inputs["positions"], inputs["head"]).train(
        inputs["training"]
    )
    tokens = inputs["tokens"]
    answer = symbol(model, tokens)
    if isinstance(answer, torch.Tensor) and answer.dtype == torch.bool and answer.dim() == 0:
        answer = bool(answer)
    parameters = list(model.parameters())
    return {
        "output": answer,
        "arguments": state([tokens, *parameters]),
        "training_mode": [module.training for module in model.modules()],
    }


PROBES: dict[str, Probe] = {
    "TransformerClassifier": _transformer_classifier,
    "ignores_padding": _ignores_padding,
}

"""How `ignores_padding` is called: its cases know what is right, and so its probe travels alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import Probe, state
from grader.authoring.modules import StandIn
from grader.authoring.patients import Ask

Inputs = Mapping[str, Any]


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
    "ignores_padding": _ignores_padding,
}

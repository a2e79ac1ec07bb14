"""How `ignores_padding` is called: its cases know what is right, and so its probe travels alone."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import Probe, plain_bool, state
from cellcheck.authoring.modules import StandIn
from cellcheck.authoring.patients import Ask

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


PROBES: dict[str, Probe] = {"ignores_padding": _ignores_padding}

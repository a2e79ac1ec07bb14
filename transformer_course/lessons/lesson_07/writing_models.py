"""Toy models that write: what comes next depends on the source and on all that was written, in its order."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.modules import StandIn


class WritingModel(nn.Module):
    """`model(source, target_input)` -> logits (batch, target_length, vocab_size), made of drawn tables.

    The logits at a place depend on the source and on the target up to that place. What `encode`, `read` and `logits`
    do together, `forward` does at once.

    `tables`: "tokens" and "source" (vocab_size, d), "places" and "source_places" (some, d), "head" (d, vocab_size),
    "bias" (vocab_size,).
    """

    def __init__(self, tables: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.tables = nn.ParameterDict({name: nn.Parameter(table.clone()) for name, table in tables.items()})

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return self.logits(self.encode(source), self.read(target_input, 0).cumsum(dim=1))

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """(batch, source_length) -> (batch, source_length, d), zero where the source is padding."""
        placed = self._placed("source", "source_places", source, 0)
        return placed.masked_fill((source == 0).unsqueeze(-1), 0.0)

    def read(self, tokens: torch.Tensor, first: int) -> torch.Tensor:
        """Tokens (batch, length), the first of them at position `first` -> (batch, length, d)."""
        return self._placed("tokens", "places", tokens, first)

    def logits(self, encoder_states: torch.Tensor, read: torch.Tensor) -> torch.Tensor:
        """What follows on the sum of all that was read so far, (batch, length, d) -> (batch, length, vocab_size)."""
        mixed = torch.sin(read + encoder_states.sum(dim=1, keepdim=True))
        logits: torch.Tensor = mixed @ self.tables["head"] + self.tables["bias"]
        return logits

    def _placed(self, vectors: str, places: str, tokens: torch.Tensor, first: int) -> torch.Tensor:
        """The vector of each token, weighed by its place: the same tokens in another order sum to something else."""
        count = len(self.tables[places])
        where = torch.arange(first, first + tokens.shape[1]) % count
        placed: torch.Tensor = self.tables[vectors][tokens] * self.tables[places][where]
        return placed


class CachedStandIn(StandIn):
    """Stands for a `WritingModel` that also reads its target one token at a time, as `CachedSeq2SeqTransformer` does.

    The tables are the patient's: nobody can know what a token means without asking, and each question is counted.
    """

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return self.tied(self.ask("whole", source, target_input))

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """(batch, source_length) -> (batch, source_length, d)."""
        return self.tied(self.ask("encode", source))

    def decode_step(self, tokens: torch.Tensor, encoder_states: torch.Tensor, cache: Any) -> torch.Tensor:
        """One new token for each row, (batch, 1) -> logits (batch, 1, vocab_size)."""
        if tokens.dim() != 2 or tokens.shape[1] != 1:
            raise ValueError(f"decode_step reads one new token a row, (batch, 1), and not {tuple(tokens.shape)}")
        column = tokens[:, None, :, None]  # (batch, 1, 1, 1)
        place = cache.append(0, column, column)[0].shape[2] - 1
        new = self.tied(self.ask("read", tokens, place))[:, None]  # (batch, 1, 1, d)
        _, values = cache.append(1, -new, new)
        return self.tied(self.ask("logits", encoder_states, values.sum(dim=2)))

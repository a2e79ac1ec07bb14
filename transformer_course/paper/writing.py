"""Letting the paper's model write: the source is read once, however many tokens follow."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from transformer_course.decoding import greedy_decode
from transformer_course.fitting import device_of, evaluating
from transformer_course.paper.batches import write_all

START_ID, END_ID = 1, 2


class ReadsOnce:
    """A model as decoders call it, (source, target_input) -> logits, that encodes a
    source only when it is new.

    For models with `encode(source)` and `decode(target_input, encoder_states, source)`.

    >>> from transformer_course.paper.model import Transformer
    >>> model = Transformer(9, 9, 8, 1, 2, 16, 0.0, 9)
    >>> source, target_input = torch.tensor([[4, 7]]), torch.tensor([[1, 6]])
    >>> torch.equal(ReadsOnce(model)(source, target_input), model(source, target_input))
    True
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.read: torch.Tensor | None = None
        self.states = torch.empty(0)

    def __call__(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        rows = source[:1] if source.stride(0) == 0 else source  # a beam shows one source several times
        if self.read is None or not torch.equal(rows, self.read):
            self.read, self.states = rows.clone(), self.model.encode(rows)
        states = self.states.expand(len(target_input), -1, -1)
        logits: torch.Tensor = self.model.decode(target_input, states, source)
        return logits


def write(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    *,
    max_length: int,
    decode: Callable[..., torch.Tensor] = greedy_decode,
    max_tokens: int = 2000,
    **options: Any,
) -> list[list[int]]:
    """Let a model answer each source (ids without padding), as ids with the end.

    `decode(model, source, start_id, end_id, max_length, **options)` is `greedy_decode`,
    `beam_search` or a decoder of your own. Batches hold at most `max_tokens` source
    tokens. A model that can't encode and decode separately is called as it is.
    """
    apart = hasattr(model, "encode") and hasattr(model, "decode")
    device = device_of(model)

    def answer(source: torch.Tensor) -> torch.Tensor:
        asked: Any = ReadsOnce(model) if apart else model
        return decode(asked, source.to(device), START_ID, END_ID, max_length, **options).cpu()

    with evaluating(model):
        return write_all(answer, sources, max_tokens)

"""What is told of wrong layers and models that match no mistake: how they cut, divide, hide and mix."""

from __future__ import annotations

from typing import Any

import torch

from tests.lessons.words import Told
from transformer_course import attention, causal, seq2seq

Mask = torch.Tensor | None
Pair = tuple[torch.Tensor, torch.Tensor]


class StepByStep(seq2seq.CrossAttention):
    """The right layer, whose steps the others change one by one."""

    def cut(self, x: torch.Tensor) -> torch.Tensor:
        return attention.split_heads(x, self.attention.num_heads)

    def divisor(self, d_model: int) -> float:
        return float((d_model // self.attention.num_heads) ** 0.5)

    def hide(self, mask: Mask) -> Mask:
        return mask

    def mixed(self, encoder_states: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.attention.value(encoder_states)
        return values

    def finish(self, joined: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.attention.output(joined)
        return output

    def forward(self, decoder_states: torch.Tensor, encoder_states: torch.Tensor, encoder_mask: Mask = None) -> Pair:
        query, key = self.cut(self.attention.query(decoder_states)), self.cut(self.attention.key(encoder_states))
        scores = query @ key.mT / self.divisor(decoder_states.shape[-1])
        weights = attention.masked_softmax(scores, self.hide(encoder_mask))
        return self.finish(attention.merge_heads(weights @ self.cut(self.mixed(encoder_states)))), weights


class EveryOtherColumn(StepByStep):
    def cut(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(*x.shape[:2], -1, self.attention.num_heads).permute(0, 3, 1, 2)


class Undivided(StepByStep):
    def divisor(self, d_model: int) -> float:
        return 1.0


class WholeWidth(StepByStep):
    def divisor(self, d_model: int) -> float:
        return float(d_model**0.5)


class MaskForgotten(StepByStep):
    def hide(self, mask: Mask) -> Mask:
        return None


class TrueHides(StepByStep):
    def hide(self, mask: Mask) -> Mask:
        return None if mask is None else ~mask


class KeysMixed(StepByStep):
    def mixed(self, encoder_states: torch.Tensor) -> torch.Tensor:
        keys: torch.Tensor = self.attention.key(encoder_states)
        return keys


class StatesMixedAndJoined(StepByStep):
    def mixed(self, encoder_states: torch.Tensor) -> torch.Tensor:
        return encoder_states

    def finish(self, joined: torch.Tensor) -> torch.Tensor:
        return joined


class ReadsTheSourceAgain(seq2seq.Seq2SeqTransformer):
    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> torch.Tensor:
        return super().decode(target_input, self.encode(source), source, target_mask)


class LastStateDropped(seq2seq.Seq2SeqTransformer):
    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> torch.Tensor:
        return super().decode(target_input, encoder_states[:, :-1], source[:, :-1], target_mask)


class NeverLooksAhead(seq2seq.Seq2SeqTransformer):
    def decode(self, target_input: Any, encoder_states: Any, source: Any, target_mask: Mask = None) -> torch.Tensor:
        before = causal.causal_mask(target_input.shape[1])
        mask = before if target_mask is None else target_mask & before
        return super().decode(target_input, encoder_states, source, mask)


ON_CARDS: list[Told] = [
    ("Seq2SeqTransformer", LastStateDropped, "Some target positions don't see every encoder state."),
    ("CrossAttention", StatesMixedAndJoined, "Your weights mix the encoder's states as they are."),
    ("CrossAttention", StatesMixedAndJoined, "You put the heads side by side, and that is your result."),
]
UNNAMED: list[Told] = [
    ("Seq2SeqTransformer", NeverLooksAhead, "some target positions don't see the first target token, or the last."),
    ("CrossAttention", EveryOtherColumn, "Your head h takes every n-th column, beginning with column h."),
    ("CrossAttention", Undivided, "Your scores are plain dot products, divided by nothing."),
    ("CrossAttention", WholeWidth, "Your scores are divided by the root of d_model."),
    ("CrossAttention", MaskForgotten, "Your weights give something to places that the mask hides"),
    ("CrossAttention", TrueHides, "Your weights are 0 where the mask says True."),
    ("CrossAttention", KeysMixed, "Your weights mix the keys."),
    ("Seq2SeqTransformer", ReadsTheSourceAgain, "don't change with the encoder states that decode is given."),
]
RIGHT = [
    ("CrossAttention", "einsum"),
    ("CrossAttention", "zeros for an empty row"),
    ("Seq2SeqTransformer", "masks by name"),
]

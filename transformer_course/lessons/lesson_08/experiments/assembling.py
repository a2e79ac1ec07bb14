"""A model put together from pieces, so that a learner's own can take the course's places one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from transformer_course.paper.layers import DecoderLayer, EncoderLayer, PositionwiseFeedForward
from transformer_course.paper.masks import create_masks
from transformer_course.paper.model import Decoder, Encoder, Transformer


@dataclass(frozen=True)
class Pieces:
    """What a model is made of: the course's pieces, unless a learner's are put in.

    >>> Pieces().build(13, 11, 8, 1, 2, 16, 0.0, 9)(torch.tensor([[4, 7]]), torch.tensor([[1]])).shape
    torch.Size([1, 1, 11])
    """

    feed_forward: Callable[..., nn.Module] = PositionwiseFeedForward
    encoder_layer: Callable[..., nn.Module] = EncoderLayer
    decoder_layer: Callable[..., nn.Module] = DecoderLayer
    create_masks: Callable[..., Any] = create_masks
    encoder: Callable[..., nn.Module] = Encoder
    decoder: Callable[..., nn.Module] = Decoder

    def build(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        max_length: int,
    ) -> nn.Module:
        """A Transformer made of these pieces; the arguments are those of the class Transformer.

        A piece that is a learner's brings its own smaller pieces: where `encoder` isn't the course's, `encoder_layer`
        is not asked for.
        """
        sizes = (d_model, num_layers, num_heads, d_ff, dropout, max_length)
        model = _Assembled(src_vocab_size, tgt_vocab_size, *sizes)
        model.masks = self.create_masks
        for side, whole, theirs, layer, layers in (
            ("encoder", self.encoder, Encoder, self.encoder_layer, EncoderLayer),
            ("decoder", self.decoder, Decoder, self.decoder_layer, DecoderLayer),
        ):
            if whole is not theirs:
                setattr(model, side, whole(src_vocab_size if side == "encoder" else tgt_vocab_size, *sizes))
                continue
            stack = model.get_submodule(side)
            if layer is not layers:
                stack.layers = nn.ModuleList(layer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
            elif self.feed_forward is not PositionwiseFeedForward:
                for part in stack.get_submodule("layers").children():
                    part.feed_forward = self.feed_forward(d_model, d_ff, dropout)
        return model


class _Assembled(Transformer):
    """The course's Transformer, with somebody's masks."""

    masks: Callable[..., Any]

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.encoder(source, self.masks(source, source)[0])
        return states

    def decode(self, target_input: torch.Tensor, encoder_states: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        source_mask, target_mask = self.masks(source, target_input)
        logits: torch.Tensor = self.output(self.decoder(target_input, encoder_states, target_mask, source_mask))
        return logits

"""The same model, built from PyTorch's own layers: the proof that the parts do what they should."""

import math
from typing import Any

import torch
from torch import nn

from transformer_course.causal import causal_mask
from transformer_course.paper.model import Transformer


class BuiltInTransformer(nn.Module):
    """`torch.nn.Transformer` with a copy of the weights of `model`, a Transformer of
    this course.

    Without dropout, both give the same logits. PyTorch's masks are the other way round
    (True = hidden), and the padding of keys is passed separately.

    >>> ours = Transformer(13, 11, 8, 2, 2, 32, 0.1, 9).eval()
    >>> theirs = BuiltInTransformer(ours).eval()
    >>> source, target_input = torch.tensor([[4, 7, 0]]), torch.tensor([[1, 6]])
    >>> torch.allclose(ours(source, target_input), theirs(source, target_input), atol=1e-5)
    True
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        first: Any = model.encoder.layers[0]
        norm_first = not isinstance(model.encoder.final_norm, nn.Identity)
        d_ff, d_model = first.feed_forward.linear_in.weight.shape
        heads, dropout, layers = first.attention.num_heads, model.encoder.dropout.p, len(model.encoder.layers)
        encoder_layer = nn.TransformerEncoderLayer(
            d_model, heads, d_ff, dropout, batch_first=True, norm_first=norm_first
        )
        decoder_layer = nn.TransformerDecoderLayer(
            d_model, heads, d_ff, dropout, batch_first=True, norm_first=norm_first
        )
        self.transformer = nn.Transformer(
            d_model,
            heads,
            # A norm after the stack belongs to pre-norm only; PyTorch adds one to both unless it is given the stacks.
            custom_encoder=nn.TransformerEncoder(
                encoder_layer, layers, nn.LayerNorm(d_model) if norm_first else None, enable_nested_tensor=False
            ),
            custom_decoder=nn.TransformerDecoder(decoder_layer, layers, nn.LayerNorm(d_model) if norm_first else None),
            batch_first=True,
        )
        self.source_embedding = nn.Embedding(*model.encoder.embedding.weight.shape)
        self.source_embedding.load_state_dict(model.encoder.embedding.state_dict())
        self.target_embedding = nn.Embedding(*model.decoder.embedding.weight.shape)
        self.target_embedding.load_state_dict(model.decoder.embedding.state_dict())
        self.positions = model.encoder.positions
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, model.output.out_features)
        self.output.load_state_dict(model.output.state_dict())
        for ours, theirs in zip(model.encoder.layers, self.transformer.encoder.layers, strict=True):
            _copy(ours, theirs, {"attention": "self_attn"}, 2)
        for ours, theirs in zip(model.decoder.layers, self.transformer.decoder.layers, strict=True):
            _copy(ours, theirs, {"self_attention": "self_attn", "cross_attention": "multihead_attn"}, 3)
        if norm_first:
            self.transformer.encoder.norm.load_state_dict(model.encoder.final_norm.state_dict())
            self.transformer.decoder.norm.load_state_dict(model.decoder.final_norm.state_dict())
        self.to(model.output.weight)

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        """Ids (batch, source_length) and (batch, target_length) -> logits."""
        future = ~causal_mask(target_input.shape[1]).to(source.device)  # (target_length, target_length)
        scale = math.sqrt(self.output.in_features)
        states = self.transformer(
            self.dropout(self.positions(self.source_embedding(source) * scale)),
            self.dropout(self.positions(self.target_embedding(target_input) * scale)),
            tgt_mask=future,
            src_key_padding_mask=source == 0,
            memory_key_padding_mask=source == 0,
            tgt_key_padding_mask=target_input == 0,
        )
        logits: torch.Tensor = self.output(states)
        return logits


def _copy(ours: Any, theirs: Any, attentions: dict[str, str], norms: int) -> None:
    """Copy the weights of one layer; PyTorch keeps query, key and value in one matrix."""
    with torch.no_grad():
        for name, their_name in attentions.items():
            attention = getattr(ours, name)
            attention = getattr(attention, "attention", attention)  # a CrossAttention has a MultiHeadAttention inside
            their_attention = getattr(theirs, their_name)
            parts = [attention.query, attention.key, attention.value]
            their_attention.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
            their_attention.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
            their_attention.out_proj.load_state_dict(attention.output.state_dict())
    for number in range(1, norms + 1):
        getattr(theirs, f"norm{number}").load_state_dict(getattr(ours, f"norm{number}").state_dict())
    for name, their_name in (("linear_in", "linear1"), ("linear_out", "linear2")):
        getattr(theirs, their_name).load_state_dict(getattr(ours.feed_forward, name).state_dict())

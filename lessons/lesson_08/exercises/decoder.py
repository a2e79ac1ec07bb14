"""`Decoder`: cases, mistakes and variants. It is looked at as the encoder is, and for what it hears of the source."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import nn

from course.blocks import LayerNorm
from course.paper.layers import DecoderLayer
from course.paper.model import Decoder
from course.positions import SinusoidalPositionalEncoding, sinusoidal_positional_encoding
from grader.authoring.spec import Exercise, Mistake
from lessons.lesson_04.looks import seen
from lessons.lesson_08.exercises.stacked import DecoderStack, Mask, maker, shared_mistakes
from lessons.lesson_08.exercises.stacks import LAST_LOOKS, USUAL_LOOKS, cases_of, masked

_made = maker(DecoderStack, "Decoder")


def _first_heard(self: Any, x: torch.Tensor, states: torch.Tensor, self_mask: Mask, encoder_mask: Mask) -> Any:
    for i, layer in enumerate(self.layers):
        x = layer(x, states if i == 0 else x, self_mask, encoder_mask)
    return x


def _self_mask_first(self: Any, x: torch.Tensor, states: torch.Tensor, self_mask: Mask, encoder_mask: Mask) -> Any:
    for i, layer in enumerate(self.layers):
        x = layer(x, states, self_mask if i == 0 else None, encoder_mask)
    return x


def _encoder_mask_first(self: Any, x: torch.Tensor, states: torch.Tensor, self_mask: Mask, encoder_mask: Mask) -> Any:
    for i, layer in enumerate(self.layers):
        x = layer(x, states, self_mask, encoder_mask if i == 0 else None)
    return x


def _inverted(mask: Mask) -> Mask:
    return None if mask is None else ~mask


def _causal_anyway(self: Any, layer: Any, x: torch.Tensor, states: torch.Tensor, mask: Mask, other: Mask) -> Any:
    lower = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return layer(x, states, lower if mask is None else mask & lower, other)


def _normed(self: Any, layer: Any, x: torch.Tensor, states: torch.Tensor, *masks: Mask) -> Any:
    return layer(x, nn.functional.layer_norm(states, states.shape[-1:]), *masks)


class _ByName(nn.Module):
    """Other names, masks by name, and an option for the other order of norms."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        max_length: int,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.blocks = nn.ModuleDict(
            {str(i): DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for i in range(num_layers)}
        )
        self.norm = LayerNorm(d_model) if norm_first else None
        self.embed = nn.Sequential(nn.Embedding(vocab_size, d_model))
        self.place = nn.Sequential(SinusoidalPositionalEncoding(d_model, max_length), nn.Dropout(dropout))

    def forward(
        self, tokens: torch.Tensor, encoder_states: torch.Tensor, self_mask: Mask = None, encoder_mask: Mask = None
    ) -> Any:
        x = self.place(self.embed(tokens) * self.scale)
        for block in self.blocks.values():
            x = block(x, encoder_states=encoder_states, encoder_mask=encoder_mask, self_mask=self_mask)
        return x if self.norm is None else self.norm(x)


class _ScaledTable(nn.Module):
    """A table of sinusoids beside the model, and embeddings looked up with one_hot."""

    waves: torch.Tensor

    def __init__(self, vocab: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int) -> None:
        super().__init__()
        self.register_buffer("waves", sinusoidal_positional_encoding(longest, d), persistent=False)
        self.table = nn.Parameter(torch.empty(vocab, d).normal_(std=d**-0.5))
        self.steps = nn.ModuleList()
        while len(self.steps) < layers:
            self.steps.append(DecoderLayer(d, heads, d_ff, dropout))
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens: torch.Tensor, states: torch.Tensor, mask: Mask = None, other: Mask = None) -> Any:
        vocab, d = self.table.shape
        chosen = nn.functional.one_hot(tokens, vocab).to(self.table) @ self.table
        x = self.drop(self.waves[: tokens.shape[1]] + d**0.5 * chosen)
        for step in self.steps:
            x = step(x, states, mask, other)
        return x


DECODER = Exercise(
    symbol="Decoder",
    points=2,
    cases=partial(cases_of, decoder=True),
    references=(Decoder,),
    aspects=(
        *USUAL_LOOKS,
        masked("self_mask"),
        seen(
            "encoder states",
            "listening",
            "an_encoder_state",
            "the_size_of_encoder_states",
            weight=3.0,
            meaning="Every encoder state reaches every state that comes out, and is used as it comes.",
        ),
        seen(
            "encoder_mask",
            "listening",
            "an_encoder_mask",
            "what_the_encoder_mask_hides",
            "what_the_encoder_mask_allows",
            weight=3.0,
            meaning="encoder_mask decides, in every layer, which encoder states are heard.",
        ),
        *LAST_LOOKS,
    ),
    mistakes=(
        *shared_mistakes(_made),
        Mistake(
            "deaf",
            _made(call=lambda self, layer, x, states, mask, other: layer(x, x, mask, None)),
            "Your layers get x twice, so nothing of the encoder states reaches the result. What are they for?",
            central=True,
        ),
        Mistake(
            "first_layer_hears",
            _made(run=_first_heard),
            "Only the first layer hears the encoder; the others attend to x. What does each layer get?",
            central=True,
        ),
        Mistake(
            "self_mask_forgotten",
            _made(call=lambda self, layer, x, states, mask, other: layer(x, states, None, other)),
            "self_mask changes nothing. Which argument of the layers is it for?",
            central=True,
        ),
        Mistake(
            "encoder_mask_forgotten",
            _made(call=lambda self, layer, x, states, mask, other: layer(x, states, mask)),
            "encoder_mask changes nothing. Which argument of the layers is it for?",
            central=True,
        ),
        Mistake(
            "both_masks_forgotten",
            _made(call=lambda self, layer, x, states, mask, other: layer(x, states)),
            "Both masks change nothing: forward takes them and never passes them on. Which layers need them?",
            central=True,
        ),
        Mistake(
            "masks_swapped",
            _made(call=lambda self, layer, x, states, mask, other: layer(x, states, other, mask)),
            "The layers get each mask in the other one's place. In which order do they take the two?",
        ),
        Mistake(
            "self_mask_for_the_first_layer",
            _made(run=_self_mask_first),
            "Only the first layer gets self_mask, and the others look around it. Does your loop pass it to each layer?",
            central=True,
        ),
        Mistake(
            "encoder_mask_for_the_first_layer",
            _made(run=_encoder_mask_first),
            "Only the first layer gets encoder_mask. Does your loop pass it to each layer?",
            central=True,
        ),
        Mistake(
            "self_mask_inverted",
            _made(call=lambda self, layer, x, states, mask, other: layer(x, states, _inverted(mask), other)),
            "self_mask gets inverted on its way. Don't the layers read it as you do, True = may attend?",
            central=True,
        ),
        Mistake(
            "causal_anyway",
            _made(call=_causal_anyway),
            "Your decoder hides the future without being told to. Who makes the masks in this model?",
        ),
        Mistake(
            "states_normed",
            _made(call=_normed),
            "The encoder states are normalised before the layers get them. How does the docstring say they are used?",
        ),
        Mistake(
            "last_state_only",
            _made(forward=lambda self, *given: DecoderStack.forward(self, *given)[:, -1]),
            "You return the state of the last place alone. At how many places is a token to be predicted?",
        ),
    ),
    variants={
        "step by step": DecoderStack,
        "masks by name": _ByName,
        "a table beside the model": _ScaledTable,
    },
)

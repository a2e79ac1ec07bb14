"""`Encoder`: cases, mistakes and variants. The contract leaves names open, so the probe looks at properties."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import nn

from course.paper.layers import EncoderLayer
from course.paper.model import Encoder
from course.positions import sinusoidal_positional_encoding
from grader.authoring.spec import Exercise, Mistake
from lessons.lesson_08.exercises.stacked import Mask, Stack, maker, shared_mistakes
from lessons.lesson_08.exercises.stacks import LAST_LOOKS, USUAL_LOOKS, cases_of, masked

_made = maker(Stack, "Encoder")


def _first_masked(self: Any, x: torch.Tensor, mask: Mask) -> Any:
    for i, layer in enumerate(self.layers):
        x = layer(x, mask if i == 0 else None)
    return x


class _OnTheFly(nn.Module):
    """The sinusoids made when they are needed, other names, and layers in an nn.Sequential."""

    def __init__(self, vocab: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*[EncoderLayer(d, heads, d_ff, dropout) for _ in range(layers)])
        self.drop = nn.Dropout(dropout)
        self.tokens = nn.Embedding(vocab, d)

    def forward(self, tokens: torch.Tensor, mask: Mask = None) -> Any:
        x = self.tokens(tokens)
        length, d = x.shape[1:]
        x = self.drop(x * d**0.5 + sinusoidal_positional_encoding(length, d).to(x))
        for block in self.blocks:
            x = block(x, mask=mask)
        return x


class _Table(nn.Module):
    """A buffer with a table of its own, sines and cosines by slices; layers one by one."""

    table: torch.Tensor

    def __init__(self, vocab: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int) -> None:
        super().__init__()
        angles = torch.arange(longest)[:, None] * torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        table = torch.zeros(longest, d)
        table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
        self.register_buffer("table", table[None])
        self.number = layers
        for i in range(layers):
            self.add_module(f"layer{i}", EncoderLayer(d, heads, d_ff, dropout))
        self.weight = nn.Parameter(torch.randn(vocab, d) / d**0.5)
        self.rate = dropout

    def forward(self, tokens: torch.Tensor, mask: Mask = None) -> Any:
        x = math.sqrt(self.weight.shape[1]) * self.weight[tokens] + self.table[:, : tokens.shape[1]]
        x = nn.functional.dropout(x, self.rate, self.training)
        for i in range(self.number):
            x = getattr(self, f"layer{i}")(x, mask)
        return x


ENCODER = Exercise(
    symbol="Encoder",
    points=2,
    cases=partial(cases_of, decoder=False),
    references=(Encoder,),
    aspects=(*USUAL_LOOKS, masked("mask"), *LAST_LOOKS),
    mistakes=(
        *shared_mistakes(_made),
        Mistake(
            "mask_not_passed_on",
            _made(call=lambda self, layer, x, mask: layer(x)),
            "The mask changes nothing: forward takes it and never passes it on. Which layers need it?",
            central=True,
        ),
        Mistake(
            "mask_for_the_first_layer",
            _made(run=_first_masked),
            "Only the first layer gets the mask, and the others look around it. Does your loop pass it to each layer?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            _made(call=lambda self, layer, x, mask: layer(x, None if mask is None else ~mask)),
            "The mask gets inverted on its way. Don't the layers read it as you do, True = may attend?",
            central=True,
        ),
        Mistake(
            "one_vector_for_the_row",
            _made(forward=lambda self, tokens, mask=None: Stack.forward(self, tokens, mask).mean(dim=1)),
            "You return one vector for each row, the mean of its states. What will the decoder attend to?",
        ),
        Mistake(
            "all_layers_returned",
            _made(forward=lambda self, tokens, mask=None: [Stack.forward(self, tokens, mask)]),
            "You return a list. What does the docstring ask for?",
        ),
    ),
    variants={
        "step by step": Stack,
        "sinusoids made on the fly": _OnTheFly,
        "a table of its own": _Table,
    },
)

"""`DecoderLayer`: cases, mistakes and variants. The cases are those of lesson 4's block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import LayerNorm
from course.paper.layers import DecoderLayer, PositionwiseFeedForward
from course.seq2seq import CrossAttention
from grader.authoring.aspects import dtype, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.aspects import special
from lessons.lesson_04.DecoderBlock import TRIAL as DECODER_BLOCK

Mask = torch.Tensor | None


def _cases(generator: np.random.Generator) -> list[Case]:
    cases = DECODER_BLOCK.cases(generator)
    first = cases[0]
    return [
        *cases,
        replace(first, label="with dropout", inputs={**first.inputs, "rate": 0.5}, tags=tagged("rate")),
        replace(
            first, label="with norm_first=True", inputs={**first.inputs, "norm_first": True}, tags=tagged("pre_norm")
        ),
    ]


class _Layer(nn.Module):
    """The right layer; mistakes change one thing about it."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.self_attention: Any = MultiHeadAttention(d_model, num_heads)
        self.cross_attention: Any = CrossAttention(d_model, num_heads)
        self.feed_forward: Any = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.norm1: Any = LayerNorm(d_model)
        self.norm2: Any = LayerNorm(d_model)
        self.norm3: Any = LayerNorm(d_model)
        self.dropout: Any = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, states: torch.Tensor, self_mask: Mask = None, encoder_mask: Mask = None) -> Any:
        x = self.norm1(x + self.dropout(self.looked(x, self_mask)))
        x = self.norm2(x + self.dropout(self.crossed(x, states, encoder_mask)))
        return self.norm3(x + self.feed_forward(x))

    def looked(self, x: torch.Tensor, mask: Mask) -> Any:
        return self.self_attention(x, x, x, mask)[0]

    def crossed(self, x: torch.Tensor, states: torch.Tensor, mask: Mask) -> Any:
        return self.cross_attention(x, states, mask)[0]


def _made(**members: Any) -> type[_Layer]:
    return type("DecoderLayer", (_Layer,), members)


def _forwards(forward: Callable[..., Any]) -> type[_Layer]:
    """Another forward: forward(self, x, states, self_mask, encoder_mask)."""

    def defaulted(self: Any, x: Any, states: Any, self_mask: Mask = None, encoder_mask: Mask = None) -> Any:
        return forward(self, x, states, self_mask, encoder_mask)

    return _made(forward=defaulted)


def _pre_norm(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = x + self.dropout(self.looked(self.norm1(x), self_mask))
    x = x + self.dropout(self.crossed(self.norm2(x), states, encoder_mask))
    return x + self.feed_forward(self.norm3(x))


def _no_norms(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = x + self.dropout(self.looked(x, self_mask))
    x = x + self.dropout(self.crossed(x, states, encoder_mask))
    return x + self.feed_forward(x)


def _no_residuals(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = self.norm1(self.dropout(self.looked(x, self_mask)))
    x = self.norm2(self.dropout(self.crossed(x, states, encoder_mask)))
    return self.norm3(self.feed_forward(x))


def _cross_first(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = self.norm1(x + self.dropout(self.crossed(x, states, encoder_mask)))
    x = self.norm2(x + self.dropout(self.looked(x, self_mask)))
    return self.norm3(x + self.feed_forward(x))


def _first_norm_for_all(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = self.norm1(x + self.dropout(self.looked(x, self_mask)))
    x = self.norm1(x + self.dropout(self.crossed(x, states, encoder_mask)))
    return self.norm1(x + self.feed_forward(x))


def _no_feed_forward(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x = self.norm1(x + self.dropout(self.looked(x, self_mask)))
    return self.norm2(x + self.dropout(self.crossed(x, states, encoder_mask)))


def _never_dropping(self: Any, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
    _Layer.__init__(self, d_model, num_heads, d_ff, 0.0)


def _in_place(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    x += self.dropout(self.looked(x, self_mask))
    x = self.norm1(x)
    x = self.norm2(x + self.dropout(self.crossed(x, states, encoder_mask)))
    return self.norm3(x + self.feed_forward(x))


def _step_by_step(self: Any, x: Any, states: Any, self_mask: Mask, encoder_mask: Mask) -> Any:
    for norm, step in (
        (self.norm1, lambda y: self.dropout(self.looked(y, self_mask))),
        (self.norm2, lambda y: self.dropout(self.crossed(y, states, encoder_mask))),
        (self.norm3, self.feed_forward),
    ):
        x = norm(torch.add(x, step(x)))
    return x


class _Apart(nn.Module):
    """PyTorch's norms, a dropout for each step, and cross-attention by a MultiHeadAttention."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.norm3, self.norm2, self.norm1 = (nn.LayerNorm(d_model) for _ in range(3))
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, states: torch.Tensor, self_mask: Mask = None, encoder_mask: Mask = None) -> Any:
        x = self.norm1(self.drop1(self.self_attention(x, x, x, self_mask)[0]) + x)
        x = self.norm2(self.drop2(self.cross_attention(x, states, states, encoder_mask)[0]) + x)
        return self.norm3(self.feed_forward(x) + x)


DECODER_LAYER = Exercise(
    symbol="DecoderLayer",
    points=2,
    cases=_cases,
    references=(DecoderLayer, _Layer),  # the option for pre-norm may be there or not
    canonical=DECODER_BLOCK.canonical,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("self_mask", "self_mask", 2.0, meaning="The self-attention follows self_mask."),
        special("encoder_mask", "encoder_mask", 2.0, meaning="The cross-attention follows encoder_mask."),
        special("axes of length one", "one"),
        special("a source that is all padding", "empty", 0.5),
        Aspect(
            "dropout in training, and only there",
            keys=("dropout",),
            tags=tagged("rate"),
            weight=2.0,
            meaning="In training mode numbers are dropped at random; in evaluation mode none are.",
        ),
        dtype(),
        special("float64", "float64"),
        Aspect(
            "pre-norm as an option",
            keys=("pre_norm",),
            tags=tagged("pre_norm"),
            meaning="With norm_first=True, what goes into each step is normalised, and the sums aren't.",
        ),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "pre_norm",
            _forwards(_pre_norm),
            "Your layer is the pre-norm block of lesson 4: it normalises what goes into each step. What does the paper "
            "normalise?",
            central=True,
        ),
        Mistake(
            "no_norms",
            _forwards(_no_norms),
            "Nothing is normalised in your layer. Where do the three norms belong?",
            central=True,
        ),
        Mistake(
            "no_residuals",
            _forwards(_no_residuals),
            "Each result replaces x. What should it be added to?",
            central=True,
        ),
        Mistake(
            "decoder_asks_itself",
            _made(crossed=lambda self, x, states, mask: self.cross_attention(x, x)[0]),
            "Your cross-attention gets x twice, so the layer never looks at the encoder. Which of the two arguments "
            "should be the encoder's states?",
            central=True,
        ),
        Mistake(
            "cross_attention_first",
            _forwards(_cross_first),
            "Your layer looks at the encoder before it looks at its own tokens. Which kind of attention comes first?",
        ),
        Mistake(
            "self_mask_forgotten",
            _made(looked=lambda self, x, mask: self.self_attention(x, x, x)[0]),
            "self_mask changes nothing. Which of the two kinds of attention needs it?",
        ),
        Mistake(
            "encoder_mask_forgotten",
            _made(crossed=lambda self, x, states, mask: self.cross_attention(x, states)[0]),
            "encoder_mask changes nothing. Which of the two kinds of attention needs it?",
        ),
        Mistake(
            "first_norm_for_all",
            _forwards(_first_norm_for_all),
            "You use norm1 three times. Which norm belongs to which step?",
        ),
        Mistake(
            "no_feed_forward",
            _forwards(_no_feed_forward),
            "Your layer ends with the cross-attention. Which step is missing?",
        ),
        Mistake(
            "never_drops",
            _made(__init__=_never_dropping),
            "Nothing is ever dropped, whatever the rate. Where does `dropout` go?",
        ),
        Mistake(
            "weights_returned",
            _forwards(lambda self, *everything: (_Layer.forward(self, *everything), None)),
            "You return a pair. What does the docstring ask for here?",
        ),
        Mistake(
            "x_changed",
            _forwards(_in_place),
            "The result is right, but the caller's x has changed too. What does += do to a tensor that somebody else "
            "holds?",
        ),
    ),
    variants={
        "three lines": _Layer,
        "step by step": _forwards(_step_by_step),
        "PyTorch's norms and a Dropout for each step": _Apart,
    },
)

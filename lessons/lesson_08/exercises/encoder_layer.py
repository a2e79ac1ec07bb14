"""`EncoderLayer`: cases, mistakes and variants. The cases are those of lesson 3's block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import LayerNorm
from course.paper.layers import EncoderLayer, PositionwiseFeedForward
from grader.authoring.aspects import LENGTH_ONE, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.attending import where_answered
from lessons.lesson_03.EncoderBlock import BROADCAST, EMPTY
from lessons.lesson_03.EncoderBlock import cases as cases_of_lesson_3

Mask = torch.Tensor | None


def _cases(generator: np.random.Generator) -> list[Case]:
    cases = cases_of_lesson_3(generator)
    return [
        *cases,
        replace(cases[0], label="with dropout", inputs={**cases[0].inputs, "rate": 0.5}, tags=tagged("rate")),
        replace(
            cases[0],
            label="with norm_first=True",
            inputs={**cases[0].inputs, "norm_first": True},
            tags=tagged("pre_norm"),
        ),
    ]


class _Layer(nn.Module):
    """The right layer; mistakes change one thing about it."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.attention: Any = MultiHeadAttention(d_model, num_heads)
        self.feed_forward: Any = PositionwiseFeedForward(d_model, d_ff, dropout)
        self.norm1: Any = LayerNorm(d_model)
        self.norm2: Any = LayerNorm(d_model)
        self.dropout: Any = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        return self.thought(self.looked(x, mask))

    def looked(self, x: torch.Tensor, mask: Mask) -> Any:
        return self.norm1(x + self.attended(x, mask))

    def thought(self, x: torch.Tensor) -> Any:
        return self.norm2(x + self.feed_forward(x))

    def attended(self, x: torch.Tensor, mask: Mask) -> Any:
        return self.dropout(self.attention(x, x, x, mask)[0])


def _made(**members: Any) -> type[_Layer]:
    return type("EncoderLayer", (_Layer,), members)


def _changed(change: Callable[..., Any]) -> type[_Layer]:
    """A layer changed after it was made."""

    def make(self: Any, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        _Layer.__init__(self, d_model, num_heads, d_ff, dropout)
        change(self, d_model, num_heads, d_ff, dropout)

    return _made(__init__=make)


def _pre_norm(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x = x + self.attended(self.norm1(x), mask)
    return x + self.feed_forward(self.norm2(x))


def _norm_before_and_after(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x = self.norm1(x + self.attended(self.norm1(x), mask))
    return self.norm2(x + self.feed_forward(self.norm2(x)))


def _side_by_side(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    return self.norm2(self.norm1(x + self.attended(x, mask)) + self.feed_forward(x))


def _in_place(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x += self.attended(x, mask)
    return self.thought(self.norm1(x))


def _no_dropout(self: Any, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
    _Layer.__init__(self, d_model, num_heads, d_ff, 0.0)


def _always_dropping(self: Any, x: torch.Tensor, mask: Mask) -> Any:
    return nn.functional.dropout(self.attention(x, x, x, mask)[0], self.dropout.p)


class _PyTorchsParts(nn.Module):
    """PyTorch's norms, dropout inside the feed-forward network, and parts made in another order."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.norm2, self.norm1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
        )
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        attended, _ = self.attention(x, x, x, mask)
        x = self.norm1(x + self.drop(attended))
        return self.norm2(x + self.feed_forward(x))


class _Around(_Layer):
    """A helper for both steps."""

    def around(self, x: torch.Tensor, norm: nn.Module, step: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        return norm(torch.add(x, step(x)))

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        x = self.around(x, self.norm1, lambda y: self.attended(y, mask))
        return self.around(x, self.norm2, self.feed_forward)


class _EitherOrder(_Layer):
    """With an option for pre-norm."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float, norm_first: bool = False) -> None:
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.norm_first = norm_first

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        return _pre_norm(self, x, mask) if self.norm_first else super().forward(x, mask)


ENCODER_LAYER = Exercise(
    symbol="EncoderLayer",
    points=2,
    cases=_cases,
    references=(EncoderLayer, _Layer),  # the option for pre-norm may be there or not
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        BROADCAST,
        LENGTH_ONE,
        EMPTY,
        Aspect(
            "dropout in training, and only there",
            keys=("dropout",),
            tags=tagged("rate"),
            weight=2.0,
            meaning="In training mode numbers are dropped at random; in evaluation mode none are.",
        ),
        *any_numbers(0.5),
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
            _made(forward=_pre_norm),
            "Your layer is the pre-norm block of lesson 3: it normalises what goes into each step. What does the paper "
            "normalise?",
            central=True,
        ),
        Mistake(
            "no_norms",
            _made(forward=lambda self, x, mask=None: (lambda y: y + self.feed_forward(y))(x + self.attended(x, mask))),
            "Nothing is normalised in your layer. Where do norm1 and norm2 belong?",
            central=True,
        ),
        Mistake(
            "norm_before_and_after",
            _made(forward=_norm_before_and_after),
            "You normalise before each step and after each sum. The paper does only one of the two: which?",
            central=True,
        ),
        Mistake(
            "step_normed_alone",
            _made(
                looked=lambda self, x, mask: x + self.norm1(self.attended(x, mask)),
                thought=lambda self, x: x + self.norm2(self.feed_forward(x)),
            ),
            "You normalise what each step returns, then add x. Does the norm come before the sum or after it?",
            central=True,
        ),
        Mistake(
            "no_residuals",
            _made(
                looked=lambda self, x, mask: self.norm1(self.attended(x, mask)),
                thought=lambda self, x: self.norm2(self.feed_forward(x)),
            ),
            "Each result replaces x. What should it be added to?",
            central=True,
        ),
        Mistake(
            "no_first_residual",
            _made(looked=lambda self, x, mask: self.norm1(self.attended(x, mask))),
            "The result of attention replaces x. Where does the first residual connection go?",
        ),
        Mistake(
            "no_second_residual",
            _made(thought=lambda self, x: self.norm2(self.feed_forward(x))),
            "The result of the feed-forward network replaces x. Where does the second residual connection go?",
        ),
        Mistake(
            "side_by_side",
            _made(forward=_side_by_side),
            "Both steps start from the same x. Shouldn't the second one see the result of the first?",
        ),
        Mistake(
            "first_norm_forgotten",
            _made(looked=lambda self, x, mask: x + self.attended(x, mask)),
            "The first sum isn't normalised. Which norm comes after it?",
        ),
        Mistake(
            "second_norm_forgotten",
            _made(thought=lambda self, x: x + self.feed_forward(x)),
            "The second sum isn't normalised. Which norm comes after it?",
        ),
        Mistake(
            "first_norm_for_both",
            _made(thought=lambda self, x: self.norm1(x + self.feed_forward(x))),
            "You use norm1 twice and norm2 never. Which one belongs where?",
        ),
        Mistake(
            "norms_swapped",
            _made(
                looked=lambda self, x, mask: self.norm2(x + self.attended(x, mask)),
                thought=lambda self, x: self.norm1(x + self.feed_forward(x)),
            ),
            "norm1 and norm2 have changed places. Which one does the docstring name first?",
        ),
        Mistake(
            "mask_not_passed_on",
            _made(forward=lambda self, x, mask=None: _Layer.forward(self, x)),
            "The mask changes nothing: forward takes it and never passes it on. Which step needs it?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            _made(forward=lambda self, x, mask=None: _Layer.forward(self, x, None if mask is None else ~mask)),
            "The mask gets inverted on its way. Doesn't attention read it as you do, True = may attend?",
        ),
        Mistake(
            "no_feed_forward",
            _made(thought=lambda self, x: x),
            "Your layer ends with the attention. Which step is missing?",
        ),
        Mistake(
            "never_drops",
            _made(__init__=_no_dropout),
            "Nothing is ever dropped, whatever the rate. Where does `dropout` go?",
        ),
        Mistake(
            "drops_in_evaluation_too",
            _made(attended=_always_dropping),
            "Numbers are dropped in evaluation mode too. How does nn.Dropout know which mode it is in?",
        ),
        Mistake(
            "weights_returned",
            _made(forward=lambda self, x, mask=None: (_Layer.forward(self, x, mask), None)),
            "You return a pair. What does the docstring ask for here?",
        ),
        Mistake(
            "one_head_only",
            _changed(lambda self, d, h, f, p: self.add_module("attention", MultiHeadAttention(d, 1))),
            "Your attention has one head, whatever num_heads says. Where is it handed on?",
        ),
        Mistake(
            "width_ignored",
            _changed(lambda self, d, h, f, p: self.add_module("feed_forward", PositionwiseFeedForward(d, 4 * d, p))),
            "Your feed-forward network is four times d_model wide, whatever d_ff says. Where is it handed on?",
        ),
        Mistake(
            "x_changed",
            _made(forward=_in_place),
            "The result is right, but the caller's x has changed too. What does += do to a tensor that somebody else "
            "holds?",
        ),
        Mistake(
            "graph_cut",
            _made(thought=lambda self, x: self.norm2(x.detach() + self.feed_forward(x))),
            "The numbers are right, but no gradient flows back along the second residual connection. Where is the "
            "graph cut?",
        ),
    ),
    variants={
        "two steps": _Layer,
        "either order": _EitherOrder,
        "PyTorch's parts": _PyTorchsParts,
        "a helper for both steps": _Around,
    },
)

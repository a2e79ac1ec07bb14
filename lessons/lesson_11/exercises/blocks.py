"""`DecoderOnlyBlock` and `ModernBlock`: the same two steps around different parts, and the same mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import EncoderBlock, FeedForward, LayerNorm
from course.causal import causal_mask
from course.language_model.gpt import DecoderOnlyBlock
from course.language_model.modern import GroupedQueryAttention, ModernBlock, RMSNorm, SwiGLU
from grader.authoring import draw
from grader.authoring.aspects import (
    USUAL,
    also,
    any_numbers,
    gradients,
    modes,
    parts,
    shape,
    special,
    untouched,
    values,
)
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import classic_weights, modern_weights


def _cases(generator: np.random.Generator, modern: bool) -> list[Case]:
    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        sizes = {"num_heads": heads, **({"num_kv_heads": heads // 2} if modern else {}), "d_ff": d_ff}
        if modern:
            weights = modern_weights(generator, "", d_model, d_ff, d_model // 2, kind)
        else:
            weights = classic_weights(generator, "", d_model, d_ff, kind)
        return {**sizes, "x": 1 + 2 * draw.normal(generator, b, n, d_model, dtype=kind), "weights": weights}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, 4, 2, d_ff)
    laid_out = block(*sizes)
    return [
        Case("on a batch of rows", block(*sizes), USUAL),
        Case("on other sizes", block(n, b, 2, 4, 5), USUAL),
        Case("on a batch of one, with a single token", block(1, 1, 4, 2, d_ff), tagged("one")),
        Case("with float64", block(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


class _Block(nn.Module):
    """The right block; mistakes change one thing about it."""

    attention: Any
    feed_forward: Any
    norm1: Any
    norm2: Any

    def forward(self, x: torch.Tensor) -> Any:
        return self.thought(self.looked(x))

    def looked(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.attended(self.norm1(x))

    def thought(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(x + self.feed_forward(self.norm2(x)))

    def attended(self, x: torch.Tensor) -> torch.Tensor:
        return self.called(x, self.mask(x))

    def called(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        raise NotImplementedError

    def mask(self, x: torch.Tensor) -> torch.Tensor | None:
        return torch.ones(x.shape[1], x.shape[1]).tril() == 1


class _Classic(_Block):
    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm2, self.norm1 = LayerNorm(d_model), LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def called(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        return torch.as_tensor(self.attention(x, x, x, mask)[0])


class _Modern(_Block):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm2, self.norm1 = RMSNorm(d_model), RMSNorm(d_model)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.attention = GroupedQueryAttention(d_model, num_heads, num_kv_heads)

    def called(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        return torch.as_tensor(self.attention(x, mask)[0])


class _Subclass(EncoderBlock):
    """The block of lesson 3, with a mask of its own."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return super().forward(x, causal_mask(x.shape[1]))


class _Steps(_Modern):
    """A helper that knows nothing of what it wraps."""

    @staticmethod
    def around(x: torch.Tensor, norm: nn.Module, step: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        return torch.add(x, step(norm(x)))

    def forward(self, x: torch.Tensor) -> Any:
        x = self.around(x, self.norm1, lambda y: self.attention(x=y, mask=causal_mask(y.shape[1]))[0])
        return self.around(x, self.norm2, self.feed_forward)


class _WithLayerNorms(_Modern):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
        super().__init__(d_model, num_heads, num_kv_heads, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)


def _post_norm(self: Any, x: torch.Tensor) -> Any:
    x = self.norm1(x + self.attended(x))
    return self.norm2(x + self.feed_forward(x))


def _normed_residual(self: Any, x: torch.Tensor) -> Any:
    x = self.norm1(x)
    x = x + self.attended(x)
    x = self.norm2(x)
    return x + self.feed_forward(x)


def _parallel(self: Any, x: torch.Tensor) -> Any:
    return x + self.attended(self.norm1(x)) + self.feed_forward(self.norm2(x))


def _thinks_first(self: Any, x: torch.Tensor) -> Any:
    x = x + self.feed_forward(self.norm1(x))
    return x + self.attended(self.norm2(x))


def _in_place(self: Any, x: torch.Tensor) -> Any:
    x += self.attended(self.norm1(x))
    x += self.feed_forward(self.norm2(x))
    return x


def _row_by_row(self: Any, x: torch.Tensor) -> Any:
    return torch.cat([_Block.forward(self, row[None]) for row in x])


def _aspects() -> tuple[Aspect, ...]:
    return (
        parts(2.0),
        also("nothing else to learn", "size", meaning="The four parts are all that learns, each of the right size."),
        shape(),
        values(9.0),
        gradients(),
        special("axes of length one", "one", 1.0, "The result is also right when some axes have length one."),
        *any_numbers(0.5),
        modes(),
        untouched(),
    )


def _mistakes(kind: type[_Block], narrow: Callable[..., Any]) -> tuple[Mistake, ...]:
    """What goes wrong in either block. `narrow(self, *sizes)` makes the feed-forward network, whatever d_ff is."""

    def made(**members: Any) -> type[_Block]:
        return type(kind.__name__, (kind,), members)

    def changed(change: Callable[..., Any]) -> type[_Block]:
        def make(self: Any, *sizes: int) -> None:
            kind.__init__(self, *sizes)
            change(self, *sizes)

        return made(__init__=make)

    return (
        Mistake(
            "no_mask",
            made(mask=lambda self, x: None),
            "Every token sees the whole row, so the next token lies open. Which mask belongs to the attention?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            made(mask=lambda self, x: ~causal_mask(x.shape[1])),
            "Your tokens see what comes after them and nothing else. What does True mean in a mask?",
            central=True,
        ),
        Mistake(
            "mask_of_the_past_hidden",
            made(mask=lambda self, x: causal_mask(x.shape[1]).T),
            "Your tokens see themselves and what comes later. Which triangle of the mask should be True?",
            central=True,
        ),
        Mistake(
            "itself_hidden",
            made(mask=lambda self, x: causal_mask(x.shape[1]).tril(-1)),
            "No token sees itself. Is the diagonal of the mask True?",
            central=True,
        ),
        Mistake(
            "one_token_ahead",
            made(mask=lambda self, x: torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril(1)),
            "Each token sees the next one, which is what it should predict. Where does the mask's diagonal lie?",
            central=True,
        ),
        Mistake(
            "post_norm",
            made(forward=_post_norm),
            "Your norms come after each sum, as in the first paper: that is post-norm. In pre-norm order, what does "
            "each norm stand in front of?",
            central=True,
        ),
        Mistake(
            "residual_from_the_normed",
            made(forward=_normed_residual),
            "You add each result to the normalised x, so the residual stream itself is lost. Which x should it be "
            "added to?",
            central=True,
        ),
        Mistake(
            "no_residuals",
            made(
                looked=lambda self, x: self.attended(self.norm1(x)),
                thought=lambda self, x: self.feed_forward(self.norm2(x)),
            ),
            "Each result replaces x. What should happen to x itself?",
            central=True,
        ),
        Mistake(
            "no_first_residual",
            made(looked=lambda self, x: self.attended(self.norm1(x))),
            "The result of attention replaces x. Where does the first residual connection go?",
        ),
        Mistake(
            "no_second_residual",
            made(thought=lambda self, x: self.feed_forward(self.norm2(x))),
            "The result of the feed-forward network replaces x. Where does the second residual connection go?",
        ),
        Mistake(
            "side_by_side",
            made(forward=_parallel),
            "Both steps start from the same x. Shouldn't the second one see the result of the first?",
        ),
        Mistake(
            "feed_forward_first",
            made(forward=_thinks_first),
            "The feed-forward network works before the attention. Which of the two comes first?",
        ),
        Mistake(
            "first_norm_forgotten",
            made(looked=lambda self, x: x + self.attended(x)),
            "Attention gets x as it is. Which norm stands before it?",
        ),
        Mistake(
            "second_norm_forgotten",
            made(thought=lambda self, x: x + self.feed_forward(x)),
            "The feed-forward network gets x as it is. Which norm stands before it?",
        ),
        Mistake(
            "first_norm_for_both",
            made(thought=lambda self, x: x + self.feed_forward(self.norm1(x))),
            "You use norm1 twice and norm2 never. Which one belongs where?",
        ),
        Mistake(
            "norms_swapped",
            made(
                looked=lambda self, x: x + self.attended(self.norm2(x)),
                thought=lambda self, x: x + self.feed_forward(self.norm1(x)),
            ),
            "norm1 and norm2 have changed places. Which one does the docstring name first?",
        ),
        Mistake(
            "no_feed_forward",
            made(thought=lambda self, x: x),
            "Your block ends with the attention. Which step is missing?",
            central=True,
        ),
        Mistake(
            "width_ignored",
            changed(narrow),
            "Your feed-forward network is four times d_model wide, whatever d_ff says. Where is it handed on?",
        ),
        Mistake(
            "pair_returned",
            made(forward=lambda self, x: (_Block.forward(self, x), None)),
            "You return a pair. What does the docstring ask for here?",
            central=True,
        ),
        Mistake(
            "x_changed",
            made(forward=_in_place),
            "The result is right, but the caller's x has changed too. What does += do to a tensor that somebody else "
            "holds?",
        ),
    )


DECODER_ONLY_BLOCK = Exercise(
    symbol="DecoderOnlyBlock",
    points=2,
    cases=lambda generator: _cases(generator, modern=False),
    references=(DecoderOnlyBlock,),
    aspects=_aspects(),
    mistakes=_mistakes(_Classic, lambda self, d, heads, d_ff: self.add_module("feed_forward", FeedForward(d, 4 * d))),
    variants={
        "two steps": _Classic,
        "an encoder block with a mask": _Subclass,
        "row by row": type("DecoderOnlyBlock", (_Classic,), {"forward": _row_by_row}),
    },
)

MODERN_BLOCK = Exercise(
    symbol="ModernBlock",
    points=2,
    cases=lambda generator: _cases(generator, modern=True),
    references=(ModernBlock,),
    aspects=_aspects(),
    mistakes=(
        *_mistakes(_Modern, lambda self, d, heads, kv, d_ff: self.add_module("feed_forward", SwiGLU(d, 4 * d))),
        Mistake(
            "as_many_key_heads_as_heads",
            type(
                "ModernBlock",
                (_Modern,),
                {"__init__": lambda self, d, heads, kv, d_ff: _Modern.__init__(self, d, heads, heads, d_ff)},
            ),
            "Your attention has a key head for each query head, whatever num_kv_heads says. Where is it handed on?",
            central=True,
        ),
        Mistake(
            "layer_norms",
            _WithLayerNorms,
            "Your norms are LayerNorms, which subtract the mean and have a bias. Which norm did you write in this "
            "lesson?",
            central=True,
        ),
    ),
    variants={
        "two steps": _Modern,
        "a helper for both steps": _Steps,
        "row by row": type("ModernBlock", (_Modern,), {"forward": _row_by_row}),
    },
)

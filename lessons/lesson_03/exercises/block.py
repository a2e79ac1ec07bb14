"""`EncoderBlock`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import EncoderBlock, FeedForward, LayerNorm
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.attending import where_answered
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.slips import slip


def _blocks(generator: np.random.Generator) -> list[Case]:
    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        weights = drawing.attention(generator, "attention", d_model, kind)
        weights |= drawing.feed_forward(generator, "feed_forward", d_model, d_ff, kind)
        weights |= drawing.norm(generator, "norm1", d_model, kind) | drawing.norm(generator, "norm2", d_model, kind)
        x = 1 + 2 * draw.normal(generator, b, n, d_model, dtype=kind)
        return {"num_heads": heads, "d_ff": d_ff, "x": x, "weights": weights}

    allow = partial(drawing.mask, generator)
    b, n, heads = draw.dims(generator, 3, 2, 5)
    n += 1
    width = int(generator.integers(2, 4))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, heads, width, d_ff)
    laid_out = block(*sizes)
    return [
        Case("without a mask", block(*sizes), USUAL),
        Case("with a mask", {**block(*sizes), "mask": allow(b, heads, n, n)}, USUAL),
        Case("on other sizes", block(n, b, 2, 3, 5), USUAL),
        Case("with a padding mask", {**block(*sizes), "mask": drawing.padding(generator, b, n)}, tagged("broadcast")),
        Case("with one mask for the batch", {**block(*sizes), "mask": allow(n, n)}, tagged("broadcast")),
        Case("with one head", block(b, n, 1, 4, d_ff), tagged("one")),
        Case("on a batch of one", block(1, n, heads, width, d_ff), tagged("one")),
        Case("with a single token", block(b, 1, heads, width, d_ff), tagged("one")),
        Case(
            "with a batch entry that is all padding",
            {**block(*sizes), "mask": drawing.with_an_empty_row(drawing.padding(generator, b, n))},
            tagged("empty"),
        ),
        Case("with float64", block(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


Mask = torch.Tensor | None


class _Block(nn.Module):
    """The right block; mistakes change one thing about it."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention: Any = MultiHeadAttention(d_model, num_heads)
        self.feed_forward: Any = FeedForward(d_model, d_ff)
        self.norm1: Any = LayerNorm(d_model)
        self.norm2: Any = LayerNorm(d_model)

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        x = self.looked(x, mask)
        return self.thought(x)

    def looked(self, x: torch.Tensor, mask: Mask) -> torch.Tensor:
        return x + self.attended(self.norm1(x), mask)

    def thought(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(x + self.feed_forward(self.norm2(x)))

    def attended(self, x: torch.Tensor, mask: Mask) -> torch.Tensor:
        return torch.as_tensor(self.attention(x, x, x, mask)[0])


def _made(**members: Any) -> type[_Block]:
    return type("EncoderBlock", (_Block,), members)


def _forwards(forward: Callable[..., Any]) -> type[_Block]:
    return _made(forward=forward)


def _changed(change: Callable[..., Any]) -> type[_Block]:
    """A block changed after it was made."""

    def make(self: Any, d_model: int, num_heads: int, d_ff: int) -> None:
        _Block.__init__(self, d_model, num_heads, d_ff)
        change(self, d_model, num_heads, d_ff)

    return _made(__init__=make)


def _post_norm(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x = self.norm1(x + self.attended(x, mask))
    return self.norm2(x + self.feed_forward(x))


def _no_norms(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x = x + self.attended(x, mask)
    return x + self.feed_forward(x)


def _normed_residual(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x = self.norm1(x)
    x = x + self.attended(x, mask)
    x = self.norm2(x)
    return x + self.feed_forward(x)


def _parallel(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    return x + self.attended(self.norm1(x), mask) + self.feed_forward(self.norm2(x))


def _first_residual_at_the_end(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    y = self.looked(x, mask)
    return x + self.feed_forward(self.norm2(y))


def _thinks_first(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x = x + self.feed_forward(self.norm1(x))
    return x + self.attended(self.norm2(x), mask)


def _queries_normed(self: Any, x: torch.Tensor, mask: Mask) -> torch.Tensor:
    return x + torch.as_tensor(self.attention(self.norm1(x), x, x, mask)[0])


def _in_place(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    x += self.attended(self.norm1(x), mask)
    x += self.feed_forward(self.norm2(x))
    return x


def _dropping(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    return nn.functional.dropout(_Block.forward(self, x, mask), 0.1, self.training)


class _Sequence(nn.Module):
    """PyTorch's norms, a feed-forward in a row, parts made in another order, and an option that is off."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm2 = nn.LayerNorm(d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        normed = self.norm1(x)
        x = x + self.dropout(self.attention(normed, normed, normed, mask)[0])
        return x + self.dropout(self.feed_forward(self.norm2(x)))


class _Residual(nn.Module):
    """Helpers that know nothing of what they wrap."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    @staticmethod
    def around(x: torch.Tensor, norm: nn.Module, step: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        return torch.add(x, step(norm(x)))

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        x = self.around(x, self.norm1, lambda y: self.attention(queries=y, keys=y, values=y, mask=mask)[0])
        return self.around(x, self.norm2, self.feed_forward)


def _row_by_row(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    masks = [None] * len(x)
    if mask is not None:
        heads = mask.shape[-3] if mask.dim() > 2 else 1
        masks = list(mask.expand(len(x), heads, x.shape[1], x.shape[1])[:, None])
    return torch.cat([_Block.forward(self, row[None], one) for row, one in zip(x, masks, strict=True)])


ENCODER_BLOCK = Exercise(
    symbol="EncoderBlock",
    points=3,
    cases=_blocks,
    references=(EncoderBlock,),
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special("axes of length one", "one"),
        special(
            "a row that is all padding",
            "empty",
            0.5,
            meaning="A row of nothing but padding gives finite numbers, not NaN.",
        ),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "post_norm",
            _forwards(_post_norm),
            "Your norms come after each sum, as in the first paper: that is post-norm. In pre-norm order, what does "
            "each "
            "norm stand in front of?",
            central=True,
        ),
        Mistake(
            "no_norms",
            _forwards(_no_norms),
            "Nothing is normalised in your block. Where do norm1 and norm2 belong?",
        ),
        Mistake(
            "residual_from_the_normed",
            _forwards(_normed_residual),
            "You add each result to the normalised x, so the residual stream itself is lost. Which x should it be "
            "added to?",
        ),
        Mistake(
            "no_residuals",
            _made(
                looked=lambda self, x, mask: self.attended(self.norm1(x), mask),
                thought=lambda self, x: self.feed_forward(self.norm2(x)),
            ),
            "Each result replaces x. What should happen to x itself?",
            central=True,
        ),
        Mistake(
            "no_first_residual",
            _made(looked=lambda self, x, mask: self.attended(self.norm1(x), mask)),
            "The result of attention replaces x. Where does the first residual connection go?",
        ),
        Mistake(
            "no_second_residual",
            _made(thought=lambda self, x: self.feed_forward(self.norm2(x))),
            "The result of the feed-forward network replaces x. Where does the second residual connection go?",
        ),
        Mistake(
            "first_x_added_twice",
            _forwards(_first_residual_at_the_end),
            "Your second sum uses the x from before attention, so attention's result is lost. Which x should it use?",
        ),
        Mistake(
            "side_by_side",
            _forwards(_parallel),
            "Both steps start from the same x. Shouldn't the second one see the result of the first?",
        ),
        Mistake(
            "feed_forward_first",
            _forwards(_thinks_first),
            "The feed-forward network works before the attention. Which of the two comes first?",
        ),
        Mistake(
            "first_norm_forgotten",
            _made(looked=lambda self, x, mask: x + self.attended(x, mask)),
            "Attention gets x as it is. Which norm stands before it?",
        ),
        Mistake(
            "second_norm_forgotten",
            _made(thought=lambda self, x: x + self.feed_forward(x)),
            "The feed-forward network gets x as it is. Which norm stands before it?",
        ),
        Mistake(
            "first_norm_for_both",
            _made(thought=lambda self, x: x + self.feed_forward(self.norm1(x))),
            "You use norm1 twice and norm2 never. Which one belongs where?",
            central=True,
        ),
        Mistake(
            "norms_swapped",
            _made(
                looked=lambda self, x, mask: x + self.attended(self.norm2(x), mask),
                thought=lambda self, x: x + self.feed_forward(self.norm1(x)),
            ),
            "norm1 and norm2 have changed places. Which one does the docstring name first?",
        ),
        Mistake(
            "one_norm_object",
            _changed(lambda self, d, h, f: self.add_module("norm2", self.norm1)),
            "norm1 and norm2 are one and the same object, with one set of weights. How many norms should there be?",
        ),
        Mistake(
            "queries_normed_only",
            _made(looked=_queries_normed),
            "Only the queries are normalised; keys and values come from x as it is. Which x should all three come "
            "from?",
        ),
        Mistake(
            "mask_not_passed_on",
            _forwards(lambda self, x, mask=None: _Block.forward(self, x)),
            "The mask changes nothing: forward takes it and never passes it on. Which step needs it?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            _forwards(lambda self, x, mask=None: _Block.forward(self, x, None if mask is None else ~mask)),
            "The mask gets inverted on its way. Doesn't attention read it as you do, True = may attend?",
        ),
        Mistake(
            "mask_with_an_axis_more",
            _forwards(lambda self, x, mask=None: _Block.forward(self, x, None if mask is None else mask.unsqueeze(1))),
            "The mask gets another axis on its way, so its axes meet the wrong ones. Isn't it made for four already?",
        ),
        Mistake(
            "no_feed_forward",
            _made(thought=lambda self, x: x),
            "Your block ends with the attention. Which step is missing?",
        ),
        Mistake(
            "no_attention",
            _made(looked=lambda self, x, mask: x),
            "Your block begins with the feed-forward network. Which step is missing?",
        ),
        Mistake(
            "weights_returned",
            _forwards(lambda self, x, mask=None: (_Block.forward(self, x, mask), None)),
            "You return a pair. What does the docstring ask for here?",
        ),
        Mistake(
            "one_head_only",
            _changed(lambda self, d, h, f: self.add_module("attention", MultiHeadAttention(d, 1))),
            "Your attention has one head, whatever num_heads says. Where is it handed on?",
        ),
        Mistake(
            "width_ignored",
            _changed(lambda self, d, h, f: self.add_module("feed_forward", FeedForward(d, 4 * d))),
            "Your feed-forward network is four times d_model wide, whatever d_ff says. Where is it handed on?",
        ),
        slip("x_changed", _forwards(_in_place)),
        slip("dropout_added", _forwards(_dropping)),
        Mistake(
            "graph_cut",
            _made(thought=lambda self, x: x.detach() + self.feed_forward(self.norm2(x))),
            "The numbers are right, but no gradient flows back along the second residual connection. Where is the "
            "graph cut?",
        ),
    ),
    variants={
        "two lines": _Block,
        "PyTorch's norms, a feed-forward in a row": _Sequence,
        "a helper for both steps": _Residual,
        "row by row": _forwards(_row_by_row),
        "norms with other eps in the signature": _changed(
            lambda self, d, h, f: self.add_module("norm1", LayerNorm(d, eps=1e-5))
        ),
    },
)

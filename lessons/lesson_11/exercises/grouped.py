"""`GroupedQueryAttention`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.attention import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads
from course.causal import causal_mask
from course.language_model.modern import GroupedQueryAttention
from course.positions import rotary_embedding
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import grouped_weights

Mask = torch.Tensor | None


def _rows(generator: np.random.Generator) -> list[Case]:
    def row(b: int, n: int, heads: int, kv: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "num_kv_heads": kv,
            "x": draw.normal(generator, b, n, d_model, dtype=kind),
            "weights": grouped_weights(generator, "", d_model, kv * d_head, kind),
        }

    b, n = (int(k) for k in generator.choice([(2, 5), (3, 5), (3, 7), (2, 7)]))
    wide = 4
    sizes = (b, n, 4, 2, wide)
    laid_out = row(*sizes)
    return [
        Case("with two key heads for four query heads", row(*sizes), USUAL),
        Case("with three key heads for six query heads", row(2, n, 6, 3, wide), USUAL),
        Case("with two key heads for six query heads", row(b, n, 6, 2, 2), USUAL),
        Case("with a mask", {**row(*sizes), "mask": drawing.mask(generator, b, 4, n, n)}, tagged("mask")),
        Case("with the causal mask", {**row(*sizes), "mask": causal_mask(n)}, tagged("mask")),
        Case("with one key head for all", row(b, n, 4, 1, wide), tagged("shared")),
        Case("with a key head for each query head", row(b, n, 3, 3, wide), tagged("own")),
        Case("on a batch of one, with a single token", row(1, 1, 4, 2, wide), tagged("one")),
        Case(
            "with a row in which nothing is allowed",
            {**row(*sizes), "mask": drawing.with_an_empty_row(drawing.mask(generator, b, 4, n, n))},
            tagged("empty"),
        ),
        Case("with float64", row(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


class _Grouped(nn.Module):
    """The right layer, step by step; mistakes change one of the steps."""

    bias = False

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.d_head = d_model // num_heads
        for name in ("value", "key"):
            self.add_module(name, nn.Linear(d_model, num_kv_heads * self.d_head, bias=self.bias))
        for name in ("output", "query"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=self.bias))

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        q, k, v = self.cut(x)
        q, k, v = self.turned(q, k, v)
        heads, weights = self.attend(q, self.shared(k), self.shared(v), mask)
        return self.finish(heads), weights

    def cut(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        parts: Any = self
        return (
            split_heads(parts.query(x), self.num_heads),
            split_heads(parts.key(x), self.num_kv_heads),
            split_heads(parts.value(x), self.num_kv_heads),
        )

    def turned(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.turn(q), self.turn(k), v

    def turn(self, x: torch.Tensor) -> torch.Tensor:
        return rotary_embedding(x, torch.arange(x.shape[-2]))

    def shared(self, x: torch.Tensor) -> torch.Tensor:
        return x.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask) -> Any:
        return scaled_dot_product_attention(q, k, v, mask)

    def finish(self, heads: torch.Tensor) -> Any:
        output: Any = self.output
        return output(merge_heads(heads))


def _made(**members: Any) -> type[_Grouped]:
    return type("GroupedQueryAttention", (_Grouped,), members)


def _attending(attend: Callable[..., Any]) -> type[_Grouped]:
    return _made(attend=lambda self, q, k, v, mask: attend(q, k, v, mask))


def _in_halves(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Column i and column i + d / 2 are a pair."""
    paired = x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)  # type: ignore[no-untyped-call]
    turned = _Grouped.turn(self, paired)
    return turned.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)  # type: ignore[no-any-return, no-untyped-call]


def _before_the_cut(self: Any, x: torch.Tensor) -> Any:
    """Rotates the whole vectors, and cuts them into heads afterwards."""
    places = torch.arange(x.shape[1])
    q, k = rotary_embedding(self.query(x), places), rotary_embedding(self.key(x), places)
    return (
        split_heads(q, self.num_heads),
        split_heads(k, self.num_kv_heads),
        split_heads(self.value(x), self.num_kv_heads),
    )


def _along_the_heads(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Every head at a place of its own."""
    return rotary_embedding(x.transpose(1, 2), torch.arange(x.shape[1])).transpose(1, 2)


def _weights_of_key_heads(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    output, weights = _Grouped.forward(self, x, mask)
    return output, weights[:, :: self.num_heads // self.num_kv_heads]


class _AllKeys(_Grouped):
    """Makes as many keys as queries, as before."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__(d_model, num_heads, num_heads)


class _Shapes(_Grouped):
    """Groups as an axis of their own, and nothing is repeated."""

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        q, k, v = self.turned(*self.cut(x))
        batch, heads, n, d = q.shape
        q = q.reshape(batch, self.num_kv_heads, -1, n, d)  # (batch, kv heads, group, length, d_head)
        scores = (q @ k[:, :, None].mT) / d**0.5
        scores = scores.reshape(batch, heads, n, n)
        weights = masked_softmax(scores, mask)
        found = weights.reshape(batch, self.num_kv_heads, -1, n, n) @ v[:, :, None]
        return self.finish(found.reshape(batch, heads, n, d)), weights


class _HeadByHead(_Grouped):
    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Mask) -> Any:
        group, pairs = self.num_heads // self.num_kv_heads, []
        for head in range(self.num_heads):
            own = mask[:, head] if mask is not None and mask.dim() == 4 else mask
            pairs.append(scaled_dot_product_attention(q[:, head], k[:, head // group], v[:, head // group], own))
        return tuple(torch.stack(each, dim=1) for each in zip(*pairs, strict=True))

    def shared(self, x: torch.Tensor) -> torch.Tensor:
        return x


def _by_complex_numbers(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Positions from 1 on: only distances count."""
    d = x.shape[-1]
    angles = torch.arange(1, x.shape[-2] + 1)[:, None] * 10000.0 ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(angles), angles)  # type: ignore[no-untyped-call]
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def _expanded(self: Any, x: torch.Tensor) -> torch.Tensor:
    batch, kv, n, d = x.shape
    return x[:, :, None].expand(batch, kv, self.num_heads // kv, n, d).reshape(batch, -1, n, d)


GROUPED_QUERY_ATTENTION = Exercise(
    symbol="GroupedQueryAttention",
    points=4,
    cases=_rows,
    references=(GroupedQueryAttention,),
    canonical=where_answered,
    aspects=(
        parts(2.0),
        also(
            "fewer keys and values", "size", meaning="Key and value learn d_model * num_kv_heads * d_head numbers each."
        ),
        shape(),
        values(8.0),
        attention_weights(),
        gradients(),
        special("masks", "mask", 7.0, meaning="A mask of any shape that broadcasts decides who sees whom."),
        special("one key head for all", "shared", meaning="With num_kv_heads = 1, all query heads share it."),
        special("a key head for each", "own", meaning="With num_kv_heads = num_heads, nothing is shared."),
        special("axes of length one", "one", 0.5),
        special("a row with nothing allowed", "empty", 0.5),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "heads_tiled",
            _made(shared=lambda self, x: x.repeat(1, self.num_heads // self.num_kv_heads, 1, 1)),
            "You repeat the row of key heads as a whole, so neighbouring query heads have different keys. Which key "
            "head should query heads 0 and 1 share?",
            central=True,
        ),
        Mistake(
            "first_key_head_for_all",
            _made(shared=lambda self, x: x[:, :1].expand(-1, self.num_heads, -1, -1)),
            "All query heads use the first key head. How many are there, and how large is a group?",
            central=True,
        ),
        Mistake(
            "not_rotated",
            _made(turned=lambda self, q, k, v: (q, k, v)),
            "Your attention doesn't know where a token stands. What happens to queries and keys before they meet?",
            central=True,
        ),
        Mistake(
            "queries_rotated_alone",
            _made(turned=lambda self, q, k, v: (self.turn(q), k, v)),
            "Only the queries are rotated, so a score depends on the query's position, and not on the distance. What "
            "else is rotated?",
            central=True,
        ),
        Mistake(
            "keys_rotated_alone",
            _made(turned=lambda self, q, k, v: (q, self.turn(k), v)),
            "Only the keys are rotated, so a score depends on the key's position, and not on the distance. What else "
            "is rotated?",
            central=True,
        ),
        Mistake(
            "values_rotated_too",
            _made(turned=lambda self, q, k, v: (self.turn(q), self.turn(k), self.turn(v))),
            "The values are rotated as well. Positions should decide where attention looks: should they change what "
            "it finds there?",
            central=True,
        ),
        Mistake(
            "rotated_before_the_cut",
            _made(cut=_before_the_cut, turned=lambda self, q, k, v: (q, k, v)),
            "You rotate whole vectors and cut them into heads afterwards, so each head has other frequencies. What "
            "does the docstring rotate?",
            central=True,
        ),
        Mistake(
            "rotated_along_the_heads",
            _made(turn=_along_the_heads),
            "Your rotation takes the axis of the heads for the positions. Which axis does rotary_embedding expect "
            "positions on?",
            central=True,
        ),
        Mistake(
            "rotated_in_halves",
            _made(turn=_in_halves),
            "Your rotation pairs column i with column i + d_head / 2, as the published Llama code does. Which columns "
            "does rotary_embedding of lesson 6 pair?",
            central=True,
        ),
        Mistake(
            "positions_reversed",
            _made(turn=lambda self, x: rotary_embedding(x, -torch.arange(x.shape[-2]))),
            "Your positions count down. Which position has the first token?",
            central=True,
        ),
        Mistake(
            "scaled_by_d_model",
            _made(attend=lambda self, q, k, v, mask: scaled_dot_product_attention(q / self.num_heads**0.5, k, v, mask)),
            "Your scores are divided by the root of d_model. How long is one query vector?",
        ),
        Mistake(
            "not_scaled",
            _attending(lambda q, k, v, mask: scaled_dot_product_attention(q * q.shape[-1] ** 0.5, k, v, mask)),
            "Your scores are plain dot products. Which root should they be divided by?",
        ),
        Mistake(
            "mask_not_passed_on",
            _attending(lambda q, k, v, mask: scaled_dot_product_attention(q, k, v)),
            "The mask changes nothing: forward takes it and never passes it on. Which call needs it?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            _attending(lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)),
            "The mask gets inverted on its way. Doesn't attention read it as you do, True = may attend?",
            central=True,
        ),
        Mistake(
            "hides_the_future_by_itself",
            _attending(
                lambda q, k, v, mask: scaled_dot_product_attention(
                    q, k, v, causal_mask(q.shape[2]) if mask is None else mask & causal_mask(q.shape[2])
                )
            ),
            "Your layer hides the future by itself. Who decides here what may be seen?",
            central=True,
        ),
        Mistake(
            "output_layer_forgotten",
            _made(finish=lambda self, heads: merge_heads(heads)),
            "The heads stand side by side, and nothing mixes them. Which layer comes last?",
            central=True,
        ),
        Mistake(
            "merged_without_swapping",
            _made(finish=lambda self, heads: self.output(heads.reshape(len(heads), heads.shape[2], -1))),
            "The heads were joined without swapping two axes first, so a token gets numbers of other tokens. Which "
            "function of yours undoes the cut?",
        ),
        Mistake(
            "as_many_keys_as_queries",
            _AllKeys,
            "You make a key for each query head, so nothing is saved. How many columns do key and value have?",
            central=True,
        ),
        Mistake(
            "keys_for_values",
            _made(turned=lambda self, q, k, v: (self.turn(q), self.turn(k), k)),
            "Your values are the keys. Which of the four layers has nothing to do?",
        ),
        Mistake(
            "weights_of_the_key_heads",
            _made(forward=_weights_of_key_heads),
            "You return one matrix of weights for each key head. How many heads ask?",
        ),
        Mistake(
            "weights_forgotten",
            _made(forward=lambda self, x, mask=None: _Grouped.forward(self, x, mask)[0]),
            "The output is right, but it comes alone. What else should forward return?",
        ),
        Mistake(
            "with_bias",
            _made(bias=True),
            "Your layers have a bias. Which argument switches it off?",
        ),
    ),
    variants={
        "step by step": _Grouped,
        "groups on an axis of their own": _Shapes,
        "head by head": _HeadByHead,
        "complex numbers, positions from 1": _made(turn=_by_complex_numbers),
        "expanded": _made(shared=_expanded),
        "fused": _made(
            attend=lambda self, q, k, v, mask: (
                F.scaled_dot_product_attention(q, k, v, None if mask is None else mask | ~mask.any(-1, keepdim=True)),
                scaled_dot_product_attention(q, k, v, mask)[1],
            )
        ),
    },
)

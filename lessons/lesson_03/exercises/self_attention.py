"""`SelfAttention`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from course.attention import SelfAttention, masked_softmax, scaled_dot_product_attention
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.slips import slip


def _layers(generator: np.random.Generator) -> list[Case]:
    def layer(batch: int, length: int, d_model: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "x": draw.normal(generator, batch, length, d_model, dtype=kind),
            "weights": drawing.attention(generator, "", d_model, kind, ("query", "key", "value")),
        }

    allow = partial(drawing.mask, generator)
    b, n, d = draw.dims(generator, 3, 3, 6)
    side = int(generator.integers(3, 6))
    laid_out = layer(b, n, d)
    return [
        Case("with three different sizes", layer(b, n, d), USUAL),
        Case("with a mask", {**layer(b, n, d), "mask": allow(b, n, n)}, USUAL),
        Case("where all sizes are equal", {**layer(side, side, side), "mask": allow(side, side, side)}, USUAL),
        Case("with one mask for the batch", {**layer(b, n, d), "mask": allow(n, n)}, tagged("broadcast")),
        Case("with a row of keys hidden", {**layer(b, n, d), "mask": allow(b, 1, n)}, tagged("broadcast")),
        Case("on a batch of one", layer(1, n, d), tagged("one")),
        Case("with a single token", layer(b, 1, d), tagged("one")),
        Case(
            "with a row that allows nothing",
            {**layer(b, n, d), "mask": drawing.with_an_empty_row(allow(b, n, n))},
            tagged("empty"),
        ),
        Case("with float64", {**layer(b, n, d, torch.float64), "mask": allow(b, n, n)}, tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


Mask = torch.Tensor | None


class _Layer(nn.Module):
    """The right layer; mistakes change one thing about it."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        return scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), mask)


def _forwards(forward: Callable[..., Any]) -> type[_Layer]:
    """A layer with another forward."""
    return type("SelfAttention", (_Layer,), {"forward": forward})


def _made(change: Callable[[Any, int], Any]) -> type[_Layer]:
    """A layer changed after it was made."""

    def make(self: Any, d_model: int) -> None:
        _Layer.__init__(self, d_model)
        change(self, d_model)

    return type("SelfAttention", (_Layer,), {"__init__": make})


def _without_bias(d_model: int) -> dict[str, nn.Module]:
    return {name: nn.Linear(d_model, d_model, bias=False) for name in ("query", "key", "value")}


def _with_output(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    output, weights = _Layer.forward(self, x, mask)
    return self.output(output), weights


def _squeezed(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    output, weights = _Layer.forward(self, x, mask)
    return output.squeeze(), weights.squeeze()


def _dropped(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    weights = _Layer.forward(self, x, mask)[1]
    return nn.functional.dropout(weights, 0.3, self.training) @ self.value(x), weights


def _across_the_batch(self: Any, x: torch.Tensor, mask: Mask = None) -> Any:
    output, weights = _Layer.forward(self, x.transpose(0, 1))
    return output.transpose(0, 1), weights


class _OtherNames(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)


class _OtherOrder(nn.Module):
    """Makes its layers in another order, keeps the scale in a buffer, and knows an option that is off."""

    def __init__(self, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.value, self.query, self.key = (nn.Linear(d_model, d_model) for _ in range(3))
        self.register_buffer("root", torch.tensor(float(d_model)).sqrt())

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        scores = torch.einsum("bqd,bkd->bqk", self.query(x), self.key(x)) / math.sqrt(x.shape[-1])
        weights = self.dropout(masked_softmax(scores, mask))
        return torch.bmm(weights, self.value(x)), weights


class _Loops(_Layer):
    """Row by row of the batch."""

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        masks = [None] * len(x) if mask is None else list(mask.expand(len(x), x.shape[1], x.shape[1]))
        done = [_Layer.forward(self, row, one) for row, one in zip(x, masks, strict=True)]
        outputs, weights = zip(*done, strict=True)
        return torch.stack(outputs), torch.stack(weights)


class _Affine(nn.Linear):
    """A Linear by another name."""


class _OwnLinears(_Layer):
    def __init__(self, d_model: int) -> None:
        super().__init__(d_model)
        for name in ("query", "key", "value"):
            setattr(self, name, _Affine(d_model, d_model))

    def forward(self, x: torch.Tensor, mask: Mask = None) -> Any:
        q, k, v = (x @ layer.weight.T + layer.bias for layer in (self.query, self.key, self.value))
        weights = masked_softmax(q @ k.mT * x.shape[-1] ** -0.5, mask)
        return weights @ v, weights


SELF_ATTENTION = Exercise(
    symbol="SelfAttention",
    points=2,
    cases=_layers,
    references=(SelfAttention,),
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        special("masks that broadcast", "broadcast"),
        special("a batch of one, a single token", "one"),
        special("a row with nothing allowed", "empty", 0.5),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "without_layers",
            _forwards(lambda self, x, mask=None: scaled_dot_product_attention(x, x, x, mask)),
            "The layers are made but never called: x goes straight into the attention. What should x go through first?",
            central=True,
        ),
        Mistake(
            "one_layer_for_query_and_key",
            _forwards(
                lambda self, x, mask=None: scaled_dot_product_attention(
                    self.query(x), self.query(x), self.value(x), mask
                )
            ),
            "One layer makes both the questions and the labels. Which of the three layers has nothing to do?",
        ),
        Mistake(
            "query_and_key_swapped",
            _forwards(
                lambda self, x, mask=None: scaled_dot_product_attention(self.key(x), self.query(x), self.value(x), mask)
            ),
            "Queries and keys have changed places. Who asks, and who is asked?",
            central=True,
        ),
        Mistake(
            "key_and_value_swapped",
            _forwards(
                lambda self, x, mask=None: scaled_dot_product_attention(self.query(x), self.value(x), self.key(x), mask)
            ),
            "Keys and values have changed places. Which of the two meets the queries?",
        ),
        Mistake(
            "values_not_projected",
            _forwards(lambda self, x, mask=None: scaled_dot_product_attention(self.query(x), self.key(x), x, mask)),
            "The weights are right, but they take the mean of x itself. Which layer makes the values?",
            central=True,
        ),
        slip(
            "mask_not_passed_on",
            _forwards(
                lambda self, x, mask=None: scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))
            ),
        ),
        slip(
            "mask_inverted",
            _forwards(lambda self, x, mask=None: _Layer.forward(self, x, None if mask is None else ~mask)),
        ),
        Mistake(
            "mask_with_an_axis_more",
            _forwards(lambda self, x, mask=None: _Layer.forward(self, x, None if mask is None else mask[:, None])),
            "With a mask, your weights have four axes. What shape is the mask, and what shape are the scores?",
        ),
        Mistake(
            "output_layer_added",
            type(
                "SelfAttention",
                (_made(lambda self, d: setattr(self, "output", nn.Linear(d, d))),),
                {"forward": _with_output},
            ),
            "There is a fourth layer after the attention. Does this class's docstring ask for one?",
        ),
        Mistake(
            "residual_added",
            _forwards(lambda self, x, mask=None: (lambda o, w: (x + o, w))(*_Layer.forward(self, x, mask))),
            "Your output is the right one plus x. That step comes later, in the block. What does this layer return?",
        ),
        slip("weights_forgotten", _forwards(lambda self, x, mask=None: _Layer.forward(self, x, mask)[0])),
        slip("pair_swapped", _forwards(lambda self, x, mask=None: _Layer.forward(self, x, mask)[::-1])),
        slip("no_bias", _made(lambda self, d: self.__dict__["_modules"].update(_without_bias(d)))),
        Mistake(
            "one_layer_three_names",
            _made(lambda self, d: self.__dict__["_modules"].update(key=self.query, value=self.query)),
            "query, key and value are one and the same layer, with one set of weights. How many layers should there "
            "be?",
        ),
        Mistake(
            "other_names",
            _OtherNames,
            "The layer works, but nobody finds its parts. Which three names does the docstring give them?",
        ),
        Mistake(
            "not_scaled",
            _forwards(
                lambda self, x, mask=None: (lambda w: (w @ self.value(x), w))(
                    masked_softmax(self.query(x) @ self.key(x).mT, mask)
                )
            ),
            "The scores are not scaled. Which function of yours does that, and all the rest, already?",
        ),
        Mistake(
            "across_the_batch",
            _forwards(_across_the_batch),
            "Your tokens look at the same position in other rows of the batch. Which axis is the length here?",
        ),
        Mistake(
            "squeezed",
            _forwards(_squeezed),
            "Axes of length one disappear from your results. Is a batch of one row still a batch?",
        ),
        Mistake(
            "dropout_added",
            _forwards(_dropped),
            "Some of your weights are dropped at random. Does the signature ask for dropout?",
        ),
        Mistake(
            "graph_cut",
            _forwards(lambda self, x, mask=None: _Layer.forward(self, x.detach(), mask)),
            "The numbers are right, but no gradient gets back to x, so whatever comes before this layer never learns. "
            "Where is the graph cut?",
        ),
    ),
    variants={
        "one function after the other": _Layer,
        "other order, einsum": _OtherOrder,
        "row by row": _Loops,
        "own Linear, own formula": _OwnLinears,
        "own initialisation": _made(lambda self, d: nn.init.zeros_(self.query.bias)),
    },
)

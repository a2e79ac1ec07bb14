"""`MultiHeadAttention`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from course.attention import MultiHeadAttention, scaled_dot_product_attention
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.layers import (
    Attention,
    ByEinsum,
    DealtOut,
    HeadByHead,
    HeadsInTheBatch,
    ManyLayers,
    OneHead,
    OtherNames,
    QueryLength,
    SelfOnly,
    WholeMasks,
    attending,
    forwards,
    made,
    merged,
    squeezed,
    with_a_mask,
)
from lessons.lesson_03.exercises.slips import slip


def _layers(generator: np.random.Generator) -> list[Case]:
    def layer(b: int, q: int, k: int, heads: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "queries": draw.normal(generator, b, q, d_model, dtype=kind),
            "keys": draw.normal(generator, b, k, d_model, dtype=kind),
            "values": draw.normal(generator, b, k, d_model, dtype=kind),
            "weights": drawing.attention(generator, "", d_model, kind),
        }

    allow = partial(drawing.mask, generator)
    heads = int(generator.integers(2, 4))
    b, (q, k) = 5 - heads, draw.dims(generator, 2, 4, 7)
    width = int(generator.integers(2, 4))
    sizes = (b, q, k, heads, width)
    side = int(generator.integers(2, 4))
    alone = layer(b, q, q, heads, width)
    alone = {"num_heads": heads, "x": alone["queries"], "weights": alone["weights"]}
    laid_out = layer(*sizes)
    laid_out |= {name: draw.strided(laid_out[name]) for name in ("queries", "keys", "values")}
    return [
        Case("with five different sizes", layer(*sizes), USUAL),
        Case("with a mask a head", {**layer(*sizes), "mask": allow(b, heads, q, k)}, USUAL),
        Case("where a row looks at itself", alone, USUAL),
        Case("where all sizes are equal", layer(side, side, side, side, side), USUAL),
        Case("with a padding mask", {**layer(*sizes), "mask": drawing.padding(generator, b, k)}, tagged("broadcast")),
        Case("with heads that share a mask", {**layer(*sizes), "mask": allow(b, 1, q, k)}, tagged("broadcast")),
        Case("with one mask for the batch", {**layer(*sizes), "mask": allow(q, k)}, tagged("broadcast")),
        Case("with one head", {**layer(b, q, k, 1, 5), "mask": allow(b, 1, q, k)}, tagged("one head")),
        Case("with heads of width one", layer(b, q, k, heads, 1), tagged("one")),
        Case("on a batch of one, with one query", layer(1, 1, k, heads, width), tagged("one")),
        Case(
            "with rows that allow nothing",
            {**layer(*sizes), "mask": drawing.with_an_empty_row(allow(b, heads, q, k))},
            tagged("empty"),
        ),
        Case(
            "with a batch entry that is all padding",
            {**layer(*sizes), "mask": drawing.with_an_empty_row(drawing.padding(generator, b, k))},
            tagged("empty"),
        ),
        Case("with float64", layer(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", laid_out, tagged("strided")),
    ]


def _without_projections(self: Any, queries: Any, keys: Any, values: Any, mask: Any) -> Any:
    cut = (self.split(x) for x in (queries, keys, values))
    found, weights = self.attend(*cut, mask)
    return self.merge(found), weights


MULTI_HEAD_ATTENTION = Exercise(
    symbol="MultiHeadAttention",
    points=4,
    cases=_layers,
    references=(MultiHeadAttention,),
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special("one head", "one head", meaning="A layer with a single head gives the right result too."),
        special("axes of length one", "one"),
        special("rows with nothing allowed", "empty"),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "output_layer_forgotten",
            forwards(lambda self, q, k, v, mask=None: self.heads(q, k, v, mask)),
            "Your output is what the heads found, side by side. Which layer is never called?",
            central=True,
        ),
        Mistake(
            "without_projections",
            made(layers=(), heads=_without_projections),
            "The heads work on the inputs as they are: query, key and value layers are made and never called. Which "
            "three layers should the inputs go through first?",
            central=True,
        ),
        Mistake(
            "one_head_only",
            OneHead,
            "Your attention has one head of the full width, whatever num_heads says. Where are the vectors cut?",
        ),
        Mistake(
            "scaled_by_d_model",
            attending(lambda q, k, v, mask: scaled_dot_product_attention(q / q.shape[1] ** 0.5, k, v, mask)),
            "You divide the scores by the root of d_model. How long are the vectors that one head compares?",
        ),
        Mistake(
            "not_scaled",
            attending(lambda q, k, v, mask: scaled_dot_product_attention(q * q.shape[-1] ** 0.5, k, v, mask)),
            "The scores are not scaled. Which function of yours does that already?",
        ),
        Mistake(
            "reshaped_into_heads",
            made(split=lambda self, x: x.reshape(len(x), self.num_heads, x.shape[1], -1)),
            "Your heads hold whole tokens, not a part of each: reshaping keeps the order in memory. Which function of "
            "yours cuts vectors into heads?",
            central=True,
        ),
        Mistake(
            "columns_dealt_out",
            DealtOut,
            "The columns are dealt out to the heads in turn. Head h takes the h-th block: which function of yours cuts "
            "like that?",
        ),
        Mistake(
            "merged_without_swapping",
            made(merge=lambda self, x: x.reshape(len(x), x.shape[2], -1)),
            "The heads were joined without swapping two axes first, so a token gets numbers of other tokens. Which "
            "function of yours undoes the cut?",
        ),
        Mistake(
            "heads_added_up",
            made(merge=lambda self, x: x.sum(1).repeat(1, 1, x.shape[1])),
            "The heads are added up before the last layer. How does each head keep its own columns?",
        ),
        Mistake(
            "queries_for_keys",
            forwards(lambda self, q, k, v, mask=None: Attention.forward(self, q, q, v, mask)),
            "You make the keys from the queries, which is right only while a row looks at itself. Which argument "
            "should the "
            "keys come from?",
        ),
        Mistake(
            "queries_for_everything",
            SelfOnly,
            "You make keys and values from the queries, so the other row is never seen. Which arguments should they "
            "come "
            "from?",
        ),
        Mistake(
            "keys_for_values",
            forwards(lambda self, q, k, v, mask=None: Attention.forward(self, q, k, k, mask)),
            "You make the values from the keys. Which argument is never used?",
        ),
        Mistake(
            "query_length_for_all",
            QueryLength,
            "Keys and values are cut with the length of the queries: it works when a row looks at itself, and stops "
            "when the lengths differ. Which length does each of the three have?",
        ),
        Mistake(
            "query_and_key_layers_swapped",
            made(layers=("key", "query", "value")),
            "The query layer works on the keys, and the key layer on the queries. Who asks, and who is asked?",
        ),
        Mistake(
            "key_and_value_layers_swapped",
            made(layers=("query", "value", "key")),
            "The value layer works on the keys, and the key layer on the values. Which of them meets the queries?",
        ),
        Mistake(
            "one_layer_for_key_and_value",
            made(layers=("query", "key", "key")),
            "One layer makes keys and values. Which of the four layers has nothing to do?",
        ),
        slip("mask_not_passed_on", forwards(lambda self, q, k, v, mask=None: Attention.forward(self, q, k, v))),
        slip("mask_inverted", with_a_mask(lambda mask: ~mask)),
        Mistake(
            "mask_with_an_axis_more",
            with_a_mask(lambda mask: mask.unsqueeze(1)),
            "With a mask your weights get five axes, or the wrong ones meet. The mask is made for four: does it need "
            "another axis?",
        ),
        Mistake(
            "first_heads_mask",
            with_a_mask(lambda mask: mask[:, :1] if mask.dim() == 4 else mask),
            "All heads use the mask of the first. What does the second axis of the mask stand for?",
        ),
        Mistake(
            "mask_once_a_head_needed",
            WholeMasks,
            "A mask with size 1 on the axis of the heads stops with an error. What repeats such an axis by itself?",
        ),
        Mistake(
            "weights_averaged",
            forwards(
                lambda self, q, k, v, mask=None: (lambda o, w: (o, w.mean(1)))(*Attention.forward(self, q, k, v, mask))
            ),
            "Your weights are the mean over the heads, as PyTorch's own layer returns them. How many matrices does the "
            "docstring ask for?",
        ),
        slip("weights_forgotten", forwards(lambda self, q, k, v, mask=None: Attention.forward(self, q, k, v, mask)[0])),
        slip("pair_swapped", forwards(lambda self, q, k, v, mask=None: Attention.forward(self, q, k, v, mask)[::-1])),
        Mistake(
            "residual_added",
            forwards(
                lambda self, q, k, v, mask=None: (lambda o, w: (q + o, w))(*Attention.forward(self, q, k, v, mask))
            ),
            "Your output is the right one plus the queries. That step comes later, in the block. What does this layer "
            "return?",
        ),
        slip("no_bias", made(bias=False)),
        Mistake(
            "other_names",
            OtherNames,
            "The layer works, but nobody finds its parts. Which four names does the docstring give them?",
        ),
        Mistake(
            "squeezed",
            forwards(squeezed),
            "Axes of length one disappear from your results. Is a batch of one row still a batch?",
        ),
        slip(
            "dropout_added",
            forwards(
                lambda self, q, k, v, mask=None: Attention.forward(self, nn.functional.dropout(q, 0.3), k, v, mask)
            ),
        ),
        Mistake(
            "graph_cut",
            forwards(lambda self, q, k, v, mask=None: Attention.forward(self, q.detach(), k.detach(), v, mask)),
            "The numbers are right, but no gradient gets back to queries and keys. Where is the graph cut?",
        ),
    ),
    variants={
        "split, attend, merge": Attention,
        "einsum": ByEinsum,
        "head by head": HeadByHead,
        "heads in the batch": HeadsInTheBatch,
        "layers in another order": ManyLayers,
        "own initialisation": made(start=lambda layer: nn.init.xavier_uniform_(layer.weight)),
        "joined by hand": made(merge=lambda self, x: merged(x)),
    },
)

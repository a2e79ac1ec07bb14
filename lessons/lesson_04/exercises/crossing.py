"""`CrossAttention`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import torch

from course.seq2seq import CrossAttention
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.attending import attention_weights, where_answered
from lessons.drawing import Inputs
from lessons.lesson_04.drawing import turned, with_an_empty_source
from lessons.lesson_04.exercises.attending import (
    Attending,
    Einsum,
    Fused,
    HeadByHead,
    Inherited,
    OtherName,
    OtherNames,
    attending,
)


def _layers(generator: np.random.Generator) -> list[Case]:
    def layer(b: int, t: int, s: int, heads: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "decoder_states": draw.normal(generator, b, t, d_model, dtype=kind),
            "encoder_states": draw.normal(generator, b, s, d_model, dtype=kind),
            "weights": drawing.attention(generator, "", d_model, kind),
        }

    allow = partial(drawing.mask, generator)
    b, t, s, heads = draw.dims(generator, 4, 3, 6)
    width, other_width = (int(w) for w in generator.permutation([2, 7]))  # of a head; no length is the same number
    sizes = (b, t, s, heads, width)
    laid_out = layer(*sizes)
    laid_out |= {name: turned(laid_out[name]) for name in ("decoder_states", "encoder_states")}
    large = layer(*sizes)
    large["encoder_states"] *= 200
    return [
        Case("with five different sizes", layer(*sizes), USUAL),
        Case("with other sizes", layer(t, s, b, 2, other_width), USUAL),
        Case("with a padding mask", {**layer(*sizes), "mask": drawing.padding(generator, b, s)}, tagged("mask")),
        Case("with a mask for each head", {**layer(*sizes), "mask": allow(b, heads, t, s)}, tagged("mask")),
        Case("with heads that share a mask", {**layer(*sizes), "mask": allow(b, 1, t, s)}, tagged("mask")),
        Case("with one mask for the batch", {**layer(*sizes), "mask": allow(t, s)}, tagged("mask")),
        Case(
            "where source and target are equally long",
            {**layer(b, t, t, heads, width), "mask": allow(b, heads, t, t)},
            tagged("mask"),
        ),
        Case("with one head", {**layer(b, t, s, 1, 5), "mask": allow(b, 1, t, s)}, tagged("one")),
        Case("with heads of width one", layer(b, t, s, heads, 1), tagged("one")),
        Case("on a batch of one, with one target token", layer(1, 1, s, heads, width), tagged("one")),
        Case("with a single source token", layer(b, t, 1, heads, width), tagged("one")),
        Case("with very large scores", {**large, "mask": allow(b, heads, t, s)}, tagged("large")),
        Case(
            "with a source that is all padding",
            {**layer(*sizes), "mask": with_an_empty_source(b, s)},
            tagged("empty"),
        ),
        Case("with float64", layer(*sizes, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", laid_out, tagged("strided")),
    ]


def _cut_up(self: Any, x: Any) -> Any:
    return x.reshape(x.shape[0], self.num_heads, x.shape[1], -1)


def _interleaved(self: Any, x: Any) -> Any:
    return x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)


def _after_softmax(self: Any, scores: Any, mask: Any) -> Any:
    weights = scores.softmax(-1)
    return weights if mask is None else weights * mask


def _by_infinity(self: Any, scores: Any, mask: Any) -> Any:
    return (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(-1)


def _added(self: Any, scores: Any, mask: Any) -> Any:
    return (scores if mask is None else scores + mask.to(scores.dtype)).softmax(-1)


def _with_zero(self: Any, scores: Any, mask: Any) -> Any:
    return (scores if mask is None else scores * mask).softmax(-1)


def _inverted(self: Any, scores: Any, mask: Any) -> Any:
    return Attending.weighed(self, scores, None if mask is None else ~mask)


def _by_hand(self: Any, scores: Any, mask: Any) -> Any:
    allowed = torch.ones_like(scores) if mask is None else mask.to(scores.dtype).expand(scores.shape)
    raised = scores.exp() * allowed
    return raised / raised.sum(-1, keepdim=True).clamp(min=1e-30)


def _first_row(self: Any, scores: Any, mask: Any) -> Any:
    return Attending.weighed(self, scores, mask if mask is None or mask.dim() < 4 else mask[:1])


def _key_for_value(self: Any, decoder_states: Any, encoder_states: Any, encoder_mask: Any = None) -> Any:
    query, key = self.split(self.query(decoder_states)), self.split(self.key(encoder_states))
    weights = self.weighed(self.scored(query, key), encoder_mask)
    return self.output(self.merge(weights @ key)), weights


def _key_with_query_layer(self: Any, decoder_states: Any, encoder_states: Any, encoder_mask: Any = None) -> Any:
    query, key = self.split(self.query(decoder_states)), self.split(self.query(encoder_states))
    weights = self.weighed(self.scored(query, key), encoder_mask)
    return self.output(self.merge(weights @ self.split(self.value(encoder_states)))), weights


def _without_output_layer(self: Any, decoder_states: Any, encoder_states: Any, encoder_mask: Any = None) -> Any:
    query, key = self.split(self.query(decoder_states)), self.split(self.key(encoder_states))
    weights = self.weighed(self.scored(query, key), encoder_mask)
    return self.merge(weights @ self.split(self.value(encoder_states))), weights


def _with_residual(self: Any, decoder_states: Any, encoder_states: Any, encoder_mask: Any = None) -> Any:
    output, weights = Attending.forward(self, decoder_states, encoder_states, encoder_mask)
    return decoder_states + output, weights


def _with_dropout(self: Any, scores: Any, mask: Any) -> Any:
    return torch.dropout(Attending.weighed(self, scores, mask), 0.3, self.training)


CROSS_ATTENTION = Exercise(
    symbol="CrossAttention",
    points=3,
    cases=_layers,
    references=(CrossAttention,),
    canonical=where_answered,
    aspects=(
        parts(),
        shape(),
        values(),
        attention_weights(),
        gradients(),
        special(
            "masks",
            "mask",
            3.0,
            meaning="A mask hides the right source tokens, whatever shape it has.",
        ),
        special("axes of length one", "one"),
        special("large scores", "large", 0.5),
        special("a source that is all padding", "empty"),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "keys_and_values_from_the_decoder",
            attending(roles=lambda self, decoder, encoder: (decoder, decoder, decoder)),
            "Keys and values come from the decoder, so nobody looks at the encoder: this is self-attention under "
            "another name. Who knows what is in the source?",
            central=True,
        ),
        Mistake(
            "values_from_the_decoder",
            attending(roles=lambda self, decoder, encoder: (decoder, encoder, decoder)),
            "The weights look at the encoder, but then they mix the decoder's values. Whose content should be passed "
            "on?",
            central=True,
        ),
        Mistake(
            "keys_from_the_decoder",
            attending(roles=lambda self, decoder, encoder: (decoder, decoder, encoder)),
            "The values come from the encoder, but the keys that the queries are compared with are the decoder's. "
            "Who does a key belong to: the one who asks, or the one who answers?",
        ),
        Mistake(
            "roles_swapped",
            attending(roles=lambda self, decoder, encoder: (encoder, decoder, decoder)),
            "In your layer the encoder asks and the decoder answers, so there is one output per source token. Which "
            "of the two wants to know something?",
            central=True,
        ),
        Mistake(
            "queries_from_the_encoder",
            attending(roles=lambda self, decoder, encoder: (encoder, encoder, encoder)),
            "The encoder asks itself, and the decoder's states aren't used at all. Whose question is it?",
        ),
        Mistake(
            "mask_dropped",
            attending(weighed=lambda self, scores, mask: scores.softmax(-1)),
            "Your layer looks at source tokens that the mask hides. Where should encoder_mask go?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            attending(weighed=_inverted),
            "Your layer looks exactly where the mask says False. What does True stand for in this course?",
        ),
        Mistake(
            "mask_after_softmax",
            attending(weighed=_after_softmax),
            "You apply the mask after the softmax, so the remaining weights no longer sum to 1. Which step should "
            "the mask come before?",
        ),
        Mistake(
            "mask_added",
            attending(weighed=_added),
            "You add True as 1 and False as 0 to the scores, which hides nothing. How low must a score be to get "
            "weight 0?",
        ),
        Mistake(
            "hidden_scores_set_to_zero",
            attending(weighed=_with_zero),
            "You set hidden scores to 0, and softmax turns those into exp(0) = 1. How low must a score be to get "
            "weight 0?",
        ),
        Mistake(
            "mask_of_the_first_row",
            attending(weighed=_first_row),
            "You mask every row of the batch like the first one. Which axis of the mask belongs to the batch?",
        ),
        Mistake(
            "nan_for_an_empty_row",
            attending(weighed=_by_infinity),
            "Where a mask allows nothing at all, your weights are NaN: minus infinity minus minus infinity. Which "
            "number is low enough, and finite?",
        ),
        Mistake(
            "overflow",
            attending(weighed=_by_hand),
            "With large scores, exp leaves the range of a float. Which function computes a softmax that can't "
            "overflow?",
        ),
        Mistake(
            "softmax_over_the_queries",
            attending(
                weighed=lambda self, scores, mask: (
                    scores if mask is None else scores.masked_fill(~mask, -1e9)
                ).softmax(-2)
            ),
            "Your weights sum to 1 over the target tokens. Each target token asks for itself: over which axis does "
            "it choose?",
        ),
        Mistake(
            "not_scaled",
            attending(scored=lambda self, query, key: query @ key.mT),
            "Your scores are plain dot products. What did you divide them by in lesson 3, so that they don't grow "
            "with the width?",
        ),
        Mistake(
            "scaled_by_d_model",
            attending(scored=lambda self, query, key: query @ key.mT / math.sqrt(query.shape[-1] * self.num_heads)),
            "You divide the scores by the square root of d_model. How long are the vectors that one head compares?",
        ),
        Mistake(
            "scaled_by_the_length",
            attending(scored=lambda self, query, key: query @ key.mT / math.sqrt(query.shape[-2])),
            "You divide the scores by the square root of the number of queries. d is the size of one head's vectors: "
            "which axis is that?",
        ),
        Mistake(
            "one_head_for_all",
            attending(
                split=lambda self, x: x.unsqueeze(1).expand(-1, self.num_heads, -1, -1),
                merge=lambda self, x: x[:, 0],
            ),
            "Every head works on the whole vector, so they all see the same thing. Which part belongs to head h?",
        ),
        Mistake(
            "heads_cut_across_tokens",
            attending(split=_cut_up),
            "You made the heads with a single reshape, which mixes the tokens of a row. Which two axes have to be "
            "swapped after the cut?",
        ),
        Mistake(
            "heads_interleaved",
            attending(split=_interleaved),
            "Your heads take every n-th column instead of a block of neighbours. When you split the last axis, which "
            "comes first: heads, or width?",
        ),
        Mistake(
            "values_through_the_key_layer",
            attending(forward=_key_for_value),
            "Your values are the keys: self.value is never used. Which layer makes the content that is passed on?",
        ),
        Mistake(
            "keys_through_the_query_layer",
            attending(forward=_key_with_query_layer),
            "The keys go through self.query, and self.key is never used. Which layer makes keys?",
        ),
        Mistake(
            "no_output_layer",
            attending(forward=_without_output_layer),
            "You put the heads side by side, and nothing mixes them: self.output is never used. Where does it belong?",
        ),
        Mistake(
            "residual_inside",
            attending(forward=_with_residual),
            "You add the decoder's states to the result. The block will do that around the layer: should it happen "
            "twice?",
        ),
        Mistake(
            "weights_not_returned",
            attending(given=lambda self, output, weights: output),
            "You return only the output. What is the second thing that attention returns in this course?",
        ),
        Mistake(
            "returned_in_the_other_order",
            attending(given=lambda self, output, weights: (weights, output)),
            "You return the weights first. In which order does the docstring name the two?",
        ),
        Mistake(
            "mean_weights",
            attending(given=lambda self, output, weights: (output, weights.mean(1))),
            "Your weights are averaged over the heads. How many matrices does the docstring promise for each row of "
            "the batch?",
        ),
        Mistake(
            "encoder_cut_off",
            attending(roles=lambda self, decoder, encoder: (decoder, encoder.detach(), encoder.detach())),
            "The numbers are right, but no gradient reaches the encoder, so it would never learn what to say. Where "
            "do you cut the graph?",
        ),
        Mistake(
            "no_bias",
            attending(bias=False),
            "Your Linear layers have no bias. Which argument switched it off?",
        ),
        Mistake(
            "dropout_added",
            attending(weighed=_with_dropout),
            "In training mode some of your weights are dropped at random. Does the signature name a dropout?",
        ),
        Mistake(
            "other_names",
            OtherNames,
            "The layer works, but its Linear layers don't have the names in the docstring, so the checks can't set "
            "their weights. What are the four names?",
        ),
    ),
    variants={
        "written out": Attending,
        "inherited": Inherited,
        "a layer inside": OtherName,
        "PyTorch's own function": Fused,
        "einsum": Einsum,
        "head by head": HeadByHead,
        "weights as a list": attending(given=lambda self, output, weights: [output, weights]),
        "zeros for an empty row": attending(
            weighed=lambda self, scores, mask: (
                scores.softmax(-1)
                if mask is None
                else scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num().masked_fill(~mask, 0)
            )
        ),
    },
)

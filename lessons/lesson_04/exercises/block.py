"""`DecoderBlock`: cases, mistakes and variants. The probe hands the weights in by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from course.seq2seq import DecoderBlock
from grader.authoring import draw
from grader.authoring.aspects import USUAL, dtype, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, Observation, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.attending import leave_open
from lessons.drawing import Inputs
from lessons.lesson_04.drawing import turned, with_an_empty_source
from lessons.lesson_04.exercises import layers as written
from lessons.lesson_04.exercises.layers import Block, going, making, norms, with_members


def _blocks(generator: np.random.Generator) -> list[Case]:
    def block(b: int, t: int, s: int, heads: int, d_head: int, d_ff: int, kind: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        weights = drawing.attention(generator, "self_attention", d_model, kind)
        weights |= drawing.attention(generator, "cross_attention", d_model, kind)
        weights |= drawing.feed_forward(generator, "feed_forward", d_model, d_ff, kind)
        for name in ("norm1", "norm2", "norm3"):
            weights |= drawing.norm(generator, name, d_model, kind)
        return {
            "num_heads": heads,
            "d_ff": d_ff,
            "x": 1 + 2 * draw.normal(generator, b, t, d_model, dtype=kind),
            "encoder_states": 2 * draw.normal(generator, b, s, d_model, dtype=kind) - 1,
            "weights": weights,
        }

    allow = partial(drawing.mask, generator)
    b, t, s, heads = draw.dims(generator, 4, 3, 6)
    d_ff = int(generator.integers(20, 25))
    sizes = (b, t, s, heads, 2, d_ff)
    square = {"self_mask": allow(b, heads, t, t), "encoder_mask": allow(b, 1, t, t)}
    triangle = torch.ones(t, t, dtype=torch.bool).tril()
    as_used = {"self_mask": triangle, "encoder_mask": drawing.padding(generator, b, s)}
    laid_out = block(b, t, t, heads, 2, d_ff)
    laid_out |= {name: turned(laid_out[name]) for name in ("x", "encoder_states")}
    return [
        Case("without masks", block(*sizes), USUAL),
        Case("where source and target are equally long, and not contiguous", laid_out, USUAL),
        Case("with a self_mask alone", {**block(*sizes), "self_mask": triangle}, tagged("self_mask")),
        Case(
            "with both masks, source and target equally long",
            {**block(b, t, t, heads, 2, d_ff), **square},
            tagged("self_mask", "encoder_mask"),
        ),
        Case(
            "with masks as the model will use them", {**block(*sizes), **as_used}, tagged("self_mask", "encoder_mask")
        ),
        Case("on a batch of one, with one head and one target token", block(1, 1, s, 1, 4, d_ff), tagged("one")),
        Case("with a single source token", block(b, t, 1, heads, 2, d_ff), tagged("one")),
        Case(
            "with a source that is all padding",
            {**block(*sizes), "encoder_mask": with_an_empty_source(b, s)},
            tagged("empty"),
        ),
        Case("with float64", block(*sizes, kind=torch.float64), tagged("float64")),
    ]


def _canonical(observation: Observation, case: Case) -> Observation:
    return leave_open(observation, case.inputs.get("self_mask"), case.inputs.get("encoder_mask"))


def _share_norms(block: Any, d_model: int, num_heads: int, d_ff: int) -> None:
    block.norm2 = block.norm3 = block.norm1


def _rename_norms(block: Any, d_model: int, num_heads: int, d_ff: int) -> None:
    block.norms = nn.ModuleList([block.norm1, block.norm2, block.norm3])
    del block.norm1, block.norm2, block.norm3


def _add_encoder_norm(block: Any, d_model: int, num_heads: int, d_ff: int) -> None:
    block.encoder_norm = nn.LayerNorm(d_model)


def _one_attention(block: Any, d_model: int, num_heads: int, d_ff: int) -> None:
    block.self_attention = block.cross_attention.attention


_NormedEncoder = type(
    "DecoderBlock",
    (making(_add_encoder_norm),),
    {"cross": lambda self, x, states, mask: self.cross_attention(x, self.encoder_norm(states), mask)[0]},
)

_Renamed = type(
    "DecoderBlock",
    (making(_rename_norms),),
    {
        "forward": lambda self, x, states, self_mask=None, encoder_mask=None: _by_list(
            self, x, states, self_mask, encoder_mask
        )
    },
)


def _by_list(block: Any, x: Any, states: Any, self_mask: Any, encoder_mask: Any) -> Any:
    x = x + block.own(block.norms[0](x), self_mask)
    x = x + block.cross(block.norms[1](x), states, encoder_mask)
    return x + block.feed_forward(block.norms[2](x))


def _finished(change: Any) -> Any:
    """The right block, with a last touch."""

    def forward(self: Any, x: Any, encoder_states: Any, self_mask: Any = None, encoder_mask: Any = None) -> Any:
        return change(self, Block.forward(self, x, encoder_states, self_mask, encoder_mask))

    return with_members(forward=forward)


def _given(change: Any) -> Any:
    """The right block, with other arguments."""
    return going(lambda block, *arguments: Block.forward(block, *change(*arguments)))


def _summed(block: Any, x: Any, states: Any, self_mask: Any, encoder_mask: Any) -> Any:
    own = block.own(block.norm1(x), self_mask)
    cross = block.cross(block.norm2(x + own), states, encoder_mask)
    return torch.stack([x, own, cross, block.feed_forward(block.norm3(x + own + cross))]).sum(0)


DECODER_BLOCK = Exercise(
    symbol="DecoderBlock",
    points=3,
    cases=_blocks,
    references=(DecoderBlock,),
    canonical=_canonical,
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("self_mask", "self_mask", 2.0, meaning="The self-attention follows self_mask."),
        special("encoder_mask", "encoder_mask", 2.0, meaning="The cross-attention follows encoder_mask."),
        special("axes of length one", "one"),
        special("a source that is all padding", "empty", 0.5),
        dtype(),
        special("float64", "float64"),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "decoder_asks_itself",
            with_members(cross=lambda self, x, states, mask: self.cross_attention(x, x)[0]),
            "Your cross-attention gets x twice, so the block never looks at the encoder. Which of the two arguments "
            "should be the encoder's states?",
            central=True,
        ),
        Mistake(
            "arguments_of_the_cross_attention_swapped",
            with_members(cross=lambda self, x, states, mask: self.cross_attention(states, x, mask)[0]),
            "In your cross-attention the encoder asks and the decoder answers. Whose states come first?",
        ),
        Mistake(
            "cross_attention_left_out",
            going(written.without_step(2)),
            "Your block never looks at the encoder. Which of its parts do you never call?",
            central=True,
        ),
        Mistake(
            "self_attention_left_out",
            going(written.without_step(1)),
            "In your block the target tokens never look at each other. Which of its parts do you never call?",
        ),
        Mistake(
            "feed_forward_left_out",
            going(written.without_step(3)),
            "Your block ends after the two attentions. Which of its parts do you never call?",
        ),
        Mistake(
            "cross_before_self",
            going(written.cross_first),
            "Your block looks at the encoder first and at its own row afterwards. In which order does the docstring "
            "name the three steps?",
        ),
        Mistake(
            "cross_before_self_with_its_norm",
            going(written.cross_first_own_norms),
            "Each step has the right norm, but the block looks at the encoder before its own row. In which order "
            "does the docstring name the three steps?",
        ),
        Mistake(
            "feed_forward_between",
            going(written.feed_forward_between),
            "Your feed-forward network comes between the two attentions. What should a token have seen before it "
            "gets there?",
        ),
        Mistake(
            "post_norm",
            going(written.post_norm),
            "You normalise after each step, as the paper of 2017 did. Where are the norms in the blocks of lesson 3?",
        ),
        Mistake(
            "no_residuals",
            going(written.no_residuals),
            "Each step replaces x instead of adding to it. What leads around a step, so that nothing is lost?",
            central=True,
        ),
        Mistake(
            "no_residual_around_self_attention",
            going(written.no_residual_around(1)),
            "Your self-attention replaces x, so what x held before is lost. What leads around this step?",
        ),
        Mistake(
            "no_residual_around_cross_attention",
            going(written.no_residual_around(2)),
            "What comes from the encoder replaces x, so the target's own tokens are lost. What leads around this step?",
        ),
        Mistake(
            "no_residual_around_feed_forward",
            going(written.no_residual_around(3)),
            "Your feed-forward network replaces x, so what the two attentions found is lost. What leads around this "
            "step?",
        ),
        Mistake(
            "input_added_throughout",
            going(written.input_added_throughout),
            "The last step adds its result to the block's input instead of to what came out of the two attentions. "
            "What should the residual stream hold by then?",
        ),
        Mistake(
            "steps_side_by_side",
            going(written.in_parallel),
            "All three steps read the same x, side by side. What should the second step already know from the first?",
        ),
        Mistake(
            "normed_stream",
            going(written.normed_stream),
            "You write the normalised x back into x, so the residual stream is normalised too. Which should a step's "
            "result be added to: x, or the normalised x?",
        ),
        Mistake(
            "norm1_everywhere",
            going(norms("norm1", "norm1", "norm1")),
            "You use norm1 for all three steps and never the other two. Shouldn't three places learn three scales of "
            "their own?",
        ),
        Mistake(
            "one_norm_object",
            making(_share_norms),
            "norm1, norm2 and norm3 are one and the same object, with one set of weights. How do you make three?",
        ),
        Mistake(
            "norms_swapped",
            going(norms("norm1", "norm3", "norm2")),
            "norm2 and norm3 have changed places. Which one belongs before the cross-attention?",
        ),
        Mistake(
            "no_norm_before_cross_attention",
            going(norms("norm1", "", "norm3")),
            "The queries of your cross-attention aren't normalised, and norm2 is never used. Where does it belong?",
        ),
        Mistake(
            "no_norm_before_feed_forward",
            going(norms("norm1", "norm2", "")),
            "Your feed-forward network gets x as it is, and norm3 is never used. Where does it belong?",
        ),
        Mistake(
            "queries_normed_only",
            going(written.keys_not_normed),
            "In your self-attention the queries are normalised, but the keys and values aren't. They all come from "
            "the same row: which x should each of them get?",
        ),
        Mistake(
            "encoder_states_normed",
            with_members(cross=lambda self, x, states, mask: self.cross_attention(x, self.norm2(states), mask)[0]),
            "You normalise the encoder's states with norm2. The docstring wants them as they are: what is norm2 for?",
        ),
        Mistake(
            "encoder_normed_again",
            _NormedEncoder,
            "You normalise the encoder's states inside the block. They were normalised at the end of the encoder: "
            "how does the docstring want them used?",
        ),
        Mistake(
            "old_norm_for_the_cross_attention",
            going(written.cross_asks_the_old_x),
            "Your cross-attention asks with the x from before the self-attention. What has x learnt since then?",
        ),
        Mistake(
            "self_mask_dropped",
            _given(lambda x, states, self_mask, encoder_mask: (x, states, None, encoder_mask)),
            "Your self-attention looks where self_mask forbids it. Where should that mask be passed on?",
        ),
        Mistake(
            "encoder_mask_dropped",
            _given(lambda x, states, self_mask, encoder_mask: (x, states, self_mask, None)),
            "Your cross-attention looks where encoder_mask forbids it. Where should that mask be passed on?",
            central=True,
        ),
        Mistake(
            "masks_swapped",
            _given(lambda x, states, self_mask, encoder_mask: (x, states, encoder_mask, self_mask)),
            "The two masks have changed places. Which of them has as many columns as the source has tokens?",
        ),
        Mistake(
            "self_mask_for_both",
            _given(lambda x, states, self_mask, encoder_mask: (x, states, self_mask, self_mask)),
            "Both attentions get self_mask. Whose tokens does the cross-attention look at?",
        ),
        Mistake(
            "weights_returned_too",
            with_members(own=lambda self, x, mask: self.self_attention(x, x, x, mask)),
            "Attention returns a pair, and you add both halves to x. Which of them is only for inspection?",
        ),
        Mistake(
            "a_pair_returned",
            _finished(lambda block, x: (x, None)),
            "You return two things. What does the docstring promise?",
        ),
        Mistake(
            "relu_at_the_end",
            _finished(lambda block, x: x.relu()),
            "The result goes through a ReLU, so its negative numbers are lost. Where in a block does the ReLU belong?",
        ),
        Mistake(
            "normed_at_the_end",
            _finished(lambda block, x: block.norm3(x)),
            "You normalise the result once more. In the pre-norm layout one norm comes at the end: of the block, or "
            "of the stack?",
        ),
        Mistake(
            "dropout_added",
            _finished(lambda block, x: nn.functional.dropout(x, 0.3, block.training)),
            "In training mode some of your numbers are dropped at random. Does the signature name a dropout?",
        ),
        Mistake(
            "encoder_cut_off",
            _given(lambda x, states, self_mask, encoder_mask: (x, states.detach(), self_mask, encoder_mask)),
            "The numbers are right, but no gradient reaches the encoder, so it would never learn what to say. Where "
            "do you cut the graph?",
        ),
        Mistake(
            "one_attention_for_both",
            making(_one_attention),
            "Self-attention and cross-attention share one set of weights. Shouldn't two different looks be learnt "
            "separately?",
        ),
        Mistake(
            "norms_in_a_list",
            _Renamed,
            "The block works, but its norms are in a list, where the checks can't find them. What does the docstring "
            "call them?",
        ),
        Mistake(
            "in_place",
            going(written.in_place),
            "You changed the caller's x on the way: += writes into the tensor that was passed in. Which way of "
            "writing that line makes a new one?",
        ),
    ),
    variants={
        "made in another order": Block,
        "a helper for a step": written.Stepwise,
        "a MultiHeadAttention for the cross-attention": written.WithMultiHeadAttention,
        "a Sequential": written.WithSequential,
        "without keywords": going(Block.forward),
        "a sum at the end": going(_summed),
    },
)

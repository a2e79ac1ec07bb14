"""`masked_softmax`: cases, mistakes and variants."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch.nn import functional as F

from course.attention import masked_softmax
from grader.authoring.aspects import USUAL, any_numbers, gradients, shape, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.aspects import special
from lessons.attending import where_answered
from lessons.drawing import mask, with_an_empty_row
from lessons.lesson_03.exercises import softmaxes as written


def _scores(generator: np.random.Generator) -> list[Case]:
    def draw(*sizes: int, kind: torch.dtype = torch.float32) -> torch.Tensor:
        return 2 * normal(generator, *sizes, dtype=kind)

    allow = partial(mask, generator)
    b, q, k = dims(generator, 3, 3, 6)
    batch, heads, rows, keys = dims(generator, 4, 3, 6)
    side = int(generator.integers(3, 6))
    far = draw(b, q, k + 2, kind=torch.float64)
    far[0] += 1000.0
    far[1:] -= 1000.0
    empty = with_an_empty_row(allow(b, q, k))
    shown = allow(b, q, k)
    high = torch.where(shown, draw(b, q, k), draw(b, q, k) + 1000.0)
    return [
        Case("with two axes", {"scores": draw(q, k)}, USUAL),
        Case("with three axes", {"scores": draw(b, q, k)}, USUAL),
        Case("with a mask", {"scores": draw(b, q, k), "mask": allow(b, q, k)}, USUAL),
        Case("where all sizes are equal", {"scores": draw(side, side, side), "mask": allow(side, side, side)}, USUAL),
        Case("with one mask for the batch", {"scores": draw(b, q, k), "mask": allow(q, k)}, tagged("broadcast")),
        Case("with one mask for all rows", {"scores": draw(b, q, k), "mask": allow(k)}, tagged("broadcast")),
        Case(
            "with heads and a padding mask",
            {"scores": draw(batch, heads, rows, keys), "mask": allow(batch, 1, 1, keys)},
            tagged("broadcast"),
        ),
        Case("with hidden scores far above the rest", {"scores": high, "mask": shown}, tagged("high")),
        Case("with one key only", {"scores": draw(b, q, 1), "mask": allow(b, q, 1)}, tagged("thin")),
        Case("with a row that allows nothing", {"scores": draw(b, q, k), "mask": empty}, tagged("empty")),
        Case("with very large scores", {"scores": far, "mask": allow(b, q, k + 2)}, tagged("large")),
        Case("with very large scores and no mask", {"scores": far.clone()}, tagged("large")),
        Case(
            "with float64",
            {"scores": draw(b, q, k, kind=torch.float64), "mask": allow(b, q, k)},
            tagged("float64"),
        ),
        Case(
            "with tensors that are not contiguous",
            {"scores": strided(draw(b, q, k)), "mask": strided(allow(b, q, k))},
            tagged("strided"),
        ),
    ]


MASKED_SOFTMAX = Exercise(
    symbol="masked_softmax",
    points=2,
    cases=_scores,
    references=(masked_softmax,),
    canonical=where_answered,
    aspects=(
        shape(),
        values(),
        gradients(),
        special("masks that broadcast", "broadcast", 2.0),
        special("a row with nothing allowed", "empty", 2.0),
        special("large scores", "large"),
        special(
            "hidden scores far above the rest",
            "high",
            meaning="Hidden scores get no weight even when they are far larger than the visible ones.",
        ),
        special("a single key", "thin", 0.5, meaning="The result is right when there is only one key."),
        *any_numbers(0.5),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "mask_inverted",
            written.inverted,
            "You hide the keys that may be looked at and show the others. True means: may attend. Which entries should "
            "be filled?",
            central=True,
        ),
        Mistake(
            "mask_ignored",
            lambda scores, mask=None: torch.softmax(scores, dim=-1),
            "This is the softmax of all scores: the mask changes nothing. Where should it come in, before the "
            "softmax or after it?",
            central=True,
        ),
        Mistake(
            "masked_after_softmax",
            written.after,
            "The hidden entries are 0, but the rows no longer sum to 1: the hidden scores still took their share. "
            "What if they were hidden before the shares are made?",
            central=True,
        ),
        Mistake(
            "scores_set_to_zero",
            written.multiplied,
            "Hidden scores become 0, and a score of 0 still gets a weight, since exp(0) is 1. For which numbers is exp "
            "close to 0?",
        ),
        Mistake(
            "mask_added",
            written.added,
            "You add the mask to the scores, as if True were 1, so hidden keys keep a weight. What would you have to "
            "add to make a weight vanish?",
        ),
        Mistake(
            "filled_with_minus_infinity",
            written.filled(float("-inf")),
            "A row with nothing allowed comes out as NaN: all its scores are minus infinity, and softmax subtracts the "
            "largest of them. Which very low number can be subtracted from itself?",
        ),
        Mistake(
            "inverted_with_minus_infinity",
            lambda scores, mask=None: torch.softmax(
                scores if mask is None else scores.masked_fill(mask, float("-inf")), dim=-1
            ),
            "You fill where the mask is True, so you hide the keys that may be looked at. And rows in which all keys "
            "are allowed become NaN. Which entries should be filled, and with which finite number?",
        ),
        Mistake(
            "renormalised",
            written.renormalised,
            "A hidden score far above the rest takes the whole softmax, and what is left for the others is 0. What if "
            "it were hidden before the softmax?",
        ),
        Mistake(
            "sum_without_keepdim",
            written.sum_without_keepdim,
            "Each entry is divided by the wrong sum, or the shapes don't fit: the sum over the last axis has lost that "
            "axis. Which argument of sum keeps it, with size 1?",
        ),
        Mistake(
            "infinity_times_zero",
            written.infinity_times_zero,
            "You multiply minus infinity by 0 where a key is allowed, and that is NaN. How can you choose a number "
            "without multiplying?",
        ),
        Mistake(
            "fill_not_low_enough",
            written.filled(-100.0),
            "You fill hidden scores with -100. That isn't low enough when the other scores are lower still. What is "
            "the "
            "lowest number that the dtype has?",
        ),
        Mistake(
            "axis_before_the_last",
            written.filled(None, dim=-2),
            "Your columns sum to 1, not your rows. Which axis are the keys on?",
            central=True,
        ),
        Mistake(
            "first_axis",
            written.filled(None, dim=0),
            "Your softmax runs over the first axis, so the entries of a batch share one sum. Which axis holds the "
            "keys?",
        ),
        Mistake(
            "axis_counted_from_the_front",
            written.filled(None, dim=1),
            "Your softmax runs over axis 1: right for two axes, wrong for three or four. How do you name the last "
            "axis, however many there are?",
        ),
        Mistake(
            "over_everything",
            written.over_everything,
            "All entries together sum to 1. Over which axis should each row have its own sum?",
        ),
        Mistake(
            "overflow",
            written.bare,
            "Large scores come out as NaN or 0, because their exp doesn't fit into a float. What can you subtract "
            "from a "
            "whole row of scores without changing its softmax?",
        ),
        Mistake(
            "not_divided",
            written.without_division,
            "Your numbers don't sum to 1. What should each exp be divided by?",
        ),
        Mistake(
            "logarithm_returned",
            written.logarithm,
            "Your numbers are the logarithms of the weights. Which function gives the weights themselves?",
        ),
        Mistake(
            "hard_maximum",
            lambda scores, mask=None: F.one_hot(written.filled(None)(scores, mask).argmax(-1), scores.shape[-1]).to(
                scores.dtype
            ),
            "The largest score takes everything, and no gradient flows. What is the soft in softmax for?",
        ),
        Mistake(
            "mask_needed",
            written.needs_a_mask,
            "Without a mask it stops with an error. What should happen when mask is None?",
        ),
        Mistake(
            "mask_does_not_broadcast",
            written.one_mask_for_each_score,
            "A mask that is smaller than the scores stops with an error. Which calls broadcast a mask over the scores "
            "by themselves?",
        ),
        Mistake(
            "first_mask_for_all",
            written.first_batch_mask,
            "The first mask of the batch is used for all of it. Shouldn't each entry of the batch have its own?",
        ),
        Mistake(
            "scores_changed",
            written.in_place,
            "The weights are right, but the caller's scores were overwritten on the way. What does the underscore at "
            "the end of a method's name mean?",
        ),
        Mistake(
            "mask_changed",
            written.mask_turned,
            "The weights are right, but the caller's mask was inverted on the way. Which operation makes a new tensor "
            "instead?",
        ),
        Mistake(
            "graph_cut",
            written.cut,
            "The numbers are right, but no gradient flows back to the scores. Where do they leave the graph?",
        ),
        Mistake(
            "through_float32",
            written.of_halves,
            "With float64 scores the weights are only as fine as float32. Which line converts them?",
        ),
    ),
    variants={
        "masked_fill, lowest": written.filled(None),
        "masked_fill, -1e9": written.filled(-1e9),
        "where": written.log_space,
        "an additive mask": written.additive,
        "own formula": written.own_formula,
        "minus infinity in rows that allow something": written.rows_saved,
        "row by row": written.row_by_row,
        "minus infinity, NaN replaced": lambda scores, mask=None: (
            scores.softmax(-1)
            if mask is None
            else torch.where(
                mask.any(-1, keepdim=True),
                torch.where(mask, scores, float("-inf")).masked_fill(~mask.any(-1, keepdim=True), 0.0).softmax(-1),
                0.0,
            )
        ),
    },
)

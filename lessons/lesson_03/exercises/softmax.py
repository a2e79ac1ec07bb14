"""`masked_softmax`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.attention import masked_softmax
from grader.authoring.aspects import USUAL, any_numbers, gradients, shape, special, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.attending import where_answered
from lessons.drawing import mask, with_an_empty_row


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


Mask = torch.Tensor | None


def _lowest(scores: torch.Tensor) -> float:
    return float(torch.finfo(scores.dtype).min)


def _filled(fill: float | None, dim: int = -1) -> Callable[..., torch.Tensor]:
    """The usual line: hidden scores become `fill` (None: the lowest number), then softmax."""

    def softmax(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
        if mask is not None:
            scores = scores.masked_fill(~mask, _lowest(scores) if fill is None else fill)
        return torch.softmax(scores, dim=dim)

    return softmax


def _inverted(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return _filled(None)(scores, None if mask is None else ~mask)


def _after(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


def _multiplied(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return torch.softmax(scores if mask is None else scores * mask, dim=-1)


def _added(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return torch.softmax(scores if mask is None else scores + mask, dim=-1)


def _infinity_times_zero(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores + (~mask).to(scores.dtype) * float("-inf")
    return torch.softmax(scores, dim=-1)


def _over_everything(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, _lowest(scores))
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def _bare(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    """Softmax by its formula, without a care for large numbers."""
    powers = scores.exp() if mask is None else scores.exp() * mask
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


def _sum_without_keepdim(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, _lowest(scores))
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1)


def _without_division(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return scores.exp() if mask is None else scores.exp() * mask


def _logarithm(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.masked_fill(~mask, _lowest(scores))
    return torch.log_softmax(scores, dim=-1)


def _in_place(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores.data.masked_fill_(~mask, _lowest(scores))
    return torch.softmax(scores, dim=-1)


def _mask_turned(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        mask.logical_not_()
        scores = scores.masked_fill(mask, _lowest(scores))
    return torch.softmax(scores, dim=-1)


def _needs_a_mask(scores: torch.Tensor, mask: Any = None) -> torch.Tensor:
    return torch.softmax(scores.masked_fill(~mask, _lowest(scores)), dim=-1)


def _one_mask_for_each_score(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores.clone()
        scores[~mask] = _lowest(scores)
    return torch.softmax(scores, dim=-1)


def _renormalised(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    weights = torch.softmax(scores, dim=-1)
    if mask is None:
        return weights
    weights = weights * mask
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def _own_formula(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    highest = scores.detach().where(allowed, torch.tensor(_lowest(scores), dtype=scores.dtype))
    powers = torch.where(allowed, scores - highest.amax(-1, keepdim=True), -1.0).exp() * allowed
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total)


def _rows_saved(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    """Minus infinity, but in rows that allow something."""
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask & mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1)


def _row_by_row(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    keys = scores.shape[-1]
    allowed = torch.ones(scores.shape, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    rows = []
    for row, open_ in zip(scores.reshape(-1, keys), allowed.reshape(-1, keys), strict=True):
        weights = torch.zeros(keys, dtype=scores.dtype)
        places = open_.nonzero()[:, 0]
        rows.append(weights.index_put((places,), F.softmax(row[places], dim=0)))
    return torch.stack(rows).reshape(scores.shape)


def _log_space(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = torch.where(mask, scores, scores.new_tensor(-1e30))
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()


def _additive(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -1e9)
    return F.softmax(scores, dim=-1)


def _of_halves(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    """Softmax in float32 whatever comes."""
    return _filled(None)(scores.float(), mask).to(scores.dtype)


def _cut(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return _filled(None)(scores.detach(), mask)


def _first_batch_mask(scores: torch.Tensor, mask: Mask = None) -> torch.Tensor:
    return _filled(None)(scores, None if mask is None else mask[:1])


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
        special("hidden scores far above the rest", "high"),
        special("a single key", "thin", 0.5),
        *any_numbers(0.5),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "mask_inverted",
            _inverted,
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
            _after,
            "The hidden entries are 0, but the rows no longer sum to 1: the hidden scores still took their share. "
            "What if they were hidden before the shares are made?",
            central=True,
        ),
        Mistake(
            "scores_set_to_zero",
            _multiplied,
            "Hidden scores become 0, and a score of 0 still gets a weight, since exp(0) is 1. For which numbers is exp "
            "close to 0?",
        ),
        Mistake(
            "mask_added",
            _added,
            "You add the mask to the scores, as if True were 1, so hidden keys keep a weight. What would you have to "
            "add to make a weight vanish?",
        ),
        Mistake(
            "filled_with_minus_infinity",
            _filled(float("-inf")),
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
            _renormalised,
            "A hidden score far above the rest takes the whole softmax, and what is left for the others is 0. What if "
            "it were hidden before the softmax?",
        ),
        Mistake(
            "sum_without_keepdim",
            _sum_without_keepdim,
            "Each entry is divided by the wrong sum, or the shapes don't fit: the sum over the last axis has lost that "
            "axis. Which argument of sum keeps it, with size 1?",
        ),
        Mistake(
            "infinity_times_zero",
            _infinity_times_zero,
            "You multiply minus infinity by 0 where a key is allowed, and that is NaN. How can you choose a number "
            "without multiplying?",
        ),
        Mistake(
            "fill_not_low_enough",
            _filled(-100.0),
            "You fill hidden scores with -100. That isn't low enough when the other scores are lower still. What is "
            "the "
            "lowest number that the dtype has?",
        ),
        Mistake(
            "axis_before_the_last",
            _filled(None, dim=-2),
            "Your columns sum to 1, not your rows. Which axis are the keys on?",
            central=True,
        ),
        Mistake(
            "first_axis",
            _filled(None, dim=0),
            "Your softmax runs over the first axis, so the entries of a batch share one sum. Which axis holds the "
            "keys?",
        ),
        Mistake(
            "axis_counted_from_the_front",
            _filled(None, dim=1),
            "Your softmax runs over axis 1: right for two axes, wrong for three or four. How do you name the last "
            "axis, however many there are?",
        ),
        Mistake(
            "over_everything",
            _over_everything,
            "All entries together sum to 1. Over which axis should each row have its own sum?",
        ),
        Mistake(
            "overflow",
            _bare,
            "Large scores come out as NaN or 0, because their exp doesn't fit into a float. What can you subtract "
            "from a "
            "whole row of scores without changing its softmax?",
        ),
        Mistake(
            "not_divided",
            _without_division,
            "Your numbers don't sum to 1. What should each exp be divided by?",
        ),
        Mistake(
            "logarithm_returned",
            _logarithm,
            "Your numbers are the logarithms of the weights. Which function gives the weights themselves?",
        ),
        Mistake(
            "hard_maximum",
            lambda scores, mask=None: F.one_hot(_filled(None)(scores, mask).argmax(-1), scores.shape[-1]).to(
                scores.dtype
            ),
            "The largest score takes everything, and no gradient flows. What is the soft in softmax for?",
        ),
        Mistake(
            "mask_needed",
            _needs_a_mask,
            "Without a mask it stops with an error. What should happen when mask is None?",
        ),
        Mistake(
            "mask_does_not_broadcast",
            _one_mask_for_each_score,
            "A mask that is smaller than the scores stops with an error. Which calls broadcast a mask over the scores "
            "by themselves?",
        ),
        Mistake(
            "first_mask_for_all",
            _first_batch_mask,
            "The first mask of the batch is used for all of it. Shouldn't each entry of the batch have its own?",
        ),
        Mistake(
            "scores_changed",
            _in_place,
            "The weights are right, but the caller's scores were overwritten on the way. What does the underscore at "
            "the end of a method's name mean?",
        ),
        Mistake(
            "mask_changed",
            _mask_turned,
            "The weights are right, but the caller's mask was inverted on the way. Which operation makes a new tensor "
            "instead?",
        ),
        Mistake(
            "graph_cut",
            _cut,
            "The numbers are right, but no gradient flows back to the scores. Where do they leave the graph?",
        ),
        Mistake(
            "through_float32",
            _of_halves,
            "With float64 scores the weights are only as fine as float32. Which line converts them?",
        ),
    ),
    variants={
        "masked_fill, lowest": _filled(None),
        "masked_fill, -1e9": _filled(-1e9),
        "where": _log_space,
        "an additive mask": _additive,
        "own formula": _own_formula,
        "minus infinity in rows that allow something": _rows_saved,
        "row by row": _row_by_row,
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

"""How both blocks of this lesson are tried: the same steps around different parts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import normal, with_gaps
from cellcheck.authoring.modules import followed
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import fresh, learned_numbers, looked_at_in_both_modes
from transformer_course.lessons.watching import AS_ASKED, asked, first_said
from transformer_course.lessons.wordings import without_the_wish

ONE = aspects.special("axes of length one")
AGAIN = aspects.special(
    "rows of another length afterwards",
    weight=2.0,
    meaning="A block that has read rows of one length then gets rows of another length right.",
)
_OF_A_BLOCK = aspects.of_module(
    ONE,
    begins=[
        aspects.also(
            "nothing else to learn", "size", meaning="The four parts are all that learns, each of the right size."
        )
    ],
    parts_weight=2.0,
    values_weight=11.0,
)

ASPECTS = tuple(
    replace(a, weight=7.0) if a == aspects.gradients() else replace(a, keys=("looks", "output")) if a.core else a
    for a in _OF_A_BLOCK
)
"""A part that never learns costs a third."""

Weights = Callable[[int, int, torch.dtype], dict[str, torch.Tensor]]
"""Draws a block's weights, given d_model, d_ff and the dtype."""


def cases_of(generator: np.random.Generator, weights: Weights, shares_keys: bool) -> list[Case]:
    """The cases of a block. One that `shares_keys` has half as many key heads as heads."""

    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        sizes = {"num_heads": heads, **({"num_kv_heads": heads // 2} if shares_keys else {}), "d_ff": d_ff}
        drawn = weights(d_model, d_ff, dtype)
        return {**sizes, "x": 1 + 2 * normal(generator, b, n, d_model, dtype=dtype), "weights": drawn}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, 4, 2, d_ff)
    laid_out = with_gaps(block(*sizes))
    return [
        Case.of("on a batch of rows", **block(*sizes)),
        Case.of("on other sizes, in eval mode", **block(n, b, 2, 4, 5), evaluated=True),
        Case.of("on a batch of one, with a single token", ONE, **block(1, 1, 4, 2, d_ff), forward_only=True),
        Case.of("with float64", aspects.FLOAT64, **block(*sizes, dtype=torch.float64), forward_only=True),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out, forward_only=True),
    ]


def read_before(generator: np.random.Generator, case: Case, n: int) -> Case:
    """A case in which the block first reads other rows, of length n."""
    before = 1 + 2 * normal(generator, 2, n, case.inputs["x"].shape[-1])
    label = f"after rows of {'a single token' if n == 1 else f'{n} tokens'}"
    return Case.of(label, AGAIN, **{**case.inputs, "before": before})


def _looks(module: torch.nn.Module, x: torch.Tensor) -> str:
    """Which positions have a part in what comes out at each: none that is later, and all others."""
    x = x.to(next(module.parameters()).dtype)
    with torch.no_grad():
        usual = asked(module, x.clone())
        if not torch.equal(usual, asked(module, x.clone())):
            return AS_ASKED  # what is drawn anew at each call tells nothing
        for place in range(x.shape[1]):
            moved = x.clone()
            moved[0, place] += torch.linspace(-1, 2, x.shape[-1], dtype=x.dtype)
            changed = (asked(module, moved) - usual).abs().amax(dim=-1) > 1e-6
            if bool(changed[1:].any()):
                return "When one row of the batch changes, the results of other rows do. Which rows belong together?"
            if bool(changed[0, :place].any()):
                return "When a token changes, the results at earlier positions do. What should hide it from them?"
            if not bool(changed[0, place:].all()):
                blind = int((~changed[0, place:]).nonzero()[0]) + place
                return (
                    f"When the token at position {place} changes, the result at position {blind} stays the same, "
                    "counted from 0. Which tokens may that position see?"
                )
    return AS_ASKED


def probe_block(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of a block with the case's sizes and weights."""
    inputs, in_words = without_the_wish(inputs)
    x, before = inputs["x"], inputs["x"].clone()
    module = fresh(symbol, x.shape[-1], *given(inputs, "num_heads", "num_kv_heads", "d_ff"))
    if "before" in inputs:
        module(inputs["before"])
    seen = {
        "size": learned_numbers(module),
        **followed(module, inputs["weights"], [x], forward_only="forward_only" in inputs),
    }
    if isinstance(seen["output"], torch.Tensor):
        if in_words:
            seen = {"looks": first_said(lambda: asked(_looks, module.train("evaluated" not in inputs), before)), **seen}
        seen |= looked_at_in_both_modes(module, before, inputs.get("evaluated", False))
    return seen

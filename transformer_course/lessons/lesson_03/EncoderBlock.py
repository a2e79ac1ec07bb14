"""`EncoderBlock`: how it is tried."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import answered_rows, built, followed, forward_only
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import where_answered
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN, after_other_calls

BROADCAST = special("masks that broadcast", weight=2.0)
EMPTY = special(
    "a row that is all padding", weight=0.5, meaning="A row of nothing but padding gives finite numbers, not NaN."
)


def cases(generator: np.random.Generator) -> list[Case]:
    def block(b: int, n: int, heads: int, d_head: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        weights = drawing.attention(generator, "attention", d_model, dtype)
        weights |= drawing.feed_forward(generator, "feed_forward", d_model, d_ff, dtype)
        weights |= drawing.norm(generator, "norm1", d_model, dtype) | drawing.norm(generator, "norm2", d_model, dtype)
        x = 1 + 2 * normal(generator, b, n, d_model, dtype=dtype)
        return {"num_heads": heads, "d_ff": d_ff, "x": x, "weights": weights}

    allow = partial(drawing.mask, generator)
    pad = partial(drawing.padding, generator)
    b, n, heads = dims(generator, 3, 2, 5)
    n += 1
    width = int(generator.integers(2, 4))
    d_ff = int(generator.integers(11, 15))
    sizes = (b, n, heads, width, d_ff)
    laid_out = with_gaps(block(*sizes))
    others = [(block(b, n - 1, *sizes[2:])["x"],), (block(1, n + 1, *sizes[2:])["x"],)]

    def again(label: str, mask: torch.Tensor | None) -> Case:
        """A call whose x and mask differ from those before."""
        inputs = block(*sizes)
        before = [(block(*sizes)["x"], pad(b, n) if mask is None else ~mask)]
        return Case.of(label, AGAIN, **inputs, **({} if mask is None else {"mask": mask}), before=before)

    return [
        Case.of("without a mask", **block(*sizes)),
        Case.of("with a mask", **block(*sizes), mask=allow(b, heads, n, n)),
        forward_only(Case.of("on other sizes", **block(n, b, 2, 3, 5))),
        Case.of("with a padding mask", BROADCAST, **block(*sizes), mask=pad(b, n)),
        forward_only(Case.of("with one mask for the batch", BROADCAST, **block(*sizes), mask=allow(n, n))),
        forward_only(Case.of("with one head", aspects.LENGTH_ONE, **block(b, n, 1, 4, d_ff))),
        forward_only(Case.of("on a batch of one", aspects.LENGTH_ONE, **block(1, n, heads, width, d_ff))),
        forward_only(Case.of("with a single token", aspects.LENGTH_ONE, **block(b, 1, heads, width, d_ff))),
        Case.of(
            "with a batch entry that is all padding", EMPTY, **block(*sizes), mask=drawing.with_an_empty_row(pad(b, n))
        ),
        again("with no mask, after a call with one", None),
        forward_only(again("with another mask, after a call with one", pad(b, n))),
        forward_only(Case.of("after calls on other sizes", AGAIN, **block(*sizes), before=others)),
        forward_only(Case.of("with float64", aspects.FLOAT64, **block(*sizes, dtype=torch.float64))),
        forward_only(Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = after_other_calls(built(symbol, x.shape[-1], inputs["num_heads"], inputs["d_ff"]), inputs)
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    seen = followed(
        module, inputs["weights"], given(inputs, "x", "mask"), rows, forward_only=inputs.get("forward_only", False)
    )
    # The contract names the four parts, and leaves open what the feed-forward part is made of.
    names = ("attention", "feed_forward", "norm1", "norm2")
    seen["parts"] = {name: "there" if hasattr(module, name) else "missing" for name in names}
    return seen


TRIAL = Trial(
    module="transformer_course.blocks",
    points=3,
    cases=cases,
    probe=probe,
    canonical=where_answered,
    aspects=aspects.of_module(BROADCAST, AGAIN, aspects.LENGTH_ONE, EMPTY),
)

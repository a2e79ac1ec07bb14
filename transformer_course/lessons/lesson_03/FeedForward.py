"""`FeedForward`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring.aspects import FLOAT64, LAYOUT, of_module, with_words
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import built, followed
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.watching import AS_ASKED, asked, first_said

ONE = special("a batch of one, a single token")


def cases(generator: np.random.Generator) -> list[Case]:
    def network(batch: int, length: int, d_model: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {
            "d_ff": d_ff,
            "x": 8 * normal(generator, batch, length, d_model, dtype=dtype),  # far above where a ReLU6 ends
            "weights": drawing.feed_forward(generator, "", d_model, d_ff, dtype),
        }

    b, n, d, d_ff = dims(generator, 4, 4, 9)
    narrow, wide = sorted(dims(generator, 2, 5, 9))
    side = int(generator.integers(5, 7))
    laid_out = with_gaps(network(b, n, d, d_ff))
    return [
        Case.of("with four different sizes", **network(b, n, d, d_ff)),
        Case.of("with d_ff above d_model", **network(n, b, narrow, 2 * wide + 1)),
        Case.of("with d_ff below d_model", **network(b, n, wide, narrow)),
        Case.of("where all sizes are equal", **network(side, side, side, side)),
        Case.of("on a batch of one", ONE, **network(1, n, d, d_ff)),
        Case.of("with a single token", ONE, **network(b, 1, d, d_ff)),
        Case.of("with float64", FLOAT64, **network(b, n, d, d_ff, torch.float64)),
        Case.of("with inputs that are not contiguous", LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = built(symbol, x.shape[-1], inputs["d_ff"])
    seen = followed(module, inputs["weights"], [x])
    return {"tokens": first_said(lambda: _tokens(module, x)), **seen}


def _tokens(module: nn.Module, x: torch.Tensor) -> str:
    """Whether the result of a token depends on other tokens, or on other rows of the batch."""
    x = x.detach().double().clone()
    before = asked(module, x)
    if not isinstance(before, torch.Tensor) or before.shape != x.shape or not torch.equal(before, asked(module, x)):
        return AS_ASKED
    for axis, who in ((1, "the other tokens of its row"), (0, "the other rows of the batch")):
        other = x.clone()
        other.narrow(axis, 0, 1).add_(torch.linspace(-3, 4, x.shape[-1], dtype=x.dtype))
        rest = x.shape[axis] - 1
        after = asked(module, other)
        if not torch.allclose(after.narrow(axis, 1, rest), before.narrow(axis, 1, rest)):
            return f"A token's result depends on {who}. What should it be made from?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.blocks",
    points=1,
    cases=cases,
    probe=probe,
    called={"tokens": "what a token's result is made from"},
    aspects=with_words(of_module(ONE, parts_weight=2.0), "tokens"),
)

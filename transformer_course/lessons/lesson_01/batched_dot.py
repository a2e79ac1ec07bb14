"""`batched_dot`: how it is tried. The probe is in `probes`: this module says what is right."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal, with_gaps
from transformer_course.lessons.lesson_01.graphs import GRAPH, behind
from transformer_course.lessons.watching import AS_ASKED


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: Sequence[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        batch, n, m, d = sizes
        return {"a": normal(generator, batch, n, d, dtype=dtype), "b": normal(generator, batch, m, d, dtype=dtype)}

    def four() -> list[int]:
        return dims(generator, 4)

    _, n, m, d = four()
    side = int(generator.integers(3, 5))
    thin = dims(generator, 2)
    laid_out = with_gaps(drawn(four()))
    return [
        Case.of("with four different sizes", **drawn(four())),
        Case.of("with four other sizes", **drawn(dims(generator, 4, 3, 9))),
        Case.of("where all sizes are equal", **drawn([side] * 4)),
        Case.of("on a batch of one example", aspects.BATCH_OF_ONE, **drawn([1, n, m, d])),
        Case.of("with one row in a and one row in b", aspects.LENGTH_ONE, **drawn([thin[0], 1, 1, thin[1]])),
        Case.of("with rows of length one", aspects.LENGTH_ONE, **drawn([thin[1], n, m, 1])),
        Case.of("with float64", aspects.FLOAT64, **drawn(four(), torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The dot products, and what they leave out, if that can be seen."""
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    words = _compared(observation["output"], **case.inputs)
    return {"compared": words, "graph": behind(observation, right=words == AS_ASKED), **observation}


def _compared(output: Any, a: torch.Tensor, b: torch.Tensor) -> str:
    products = a.unsqueeze(2) * b.unsqueeze(1)  # (batch, n, m, d)
    right = products.sum(dim=-1)
    if not isinstance(output, torch.Tensor) or output.dtype != right.dtype:
        return AS_ASKED
    pairs = right.diagonal(dim1=1, dim2=2)  # (batch, the smaller of n and m)
    if output.shape == pairs.shape and torch.allclose(output, pairs, rtol=1e-4, atol=1e-5):
        return "Row j of a only meets row j of b. How many dot products does the docstring ask for in each example?"
    if output.shape != right.shape:
        return AS_ASKED
    wrong = ~torch.isclose(output, right, rtol=1e-4, atol=1e-5)
    if not wrong.any() or not output.any():  # of zeros everywhere nothing else is to be said
        return AS_ASKED
    for at in range(a.shape[-1]):
        if torch.allclose(output, right - products[..., at], rtol=1e-4, atol=1e-5):
            return f"Number {at} of each row, counted from 0, never counts. Over which numbers does a dot product run?"
    empty = wrong & (output == 0)
    if torch.equal(empty, wrong) and torch.equal(wrong, wrong[:1, :1].expand_as(wrong)):
        return _MISSING.format("b", wrong[0, 0].nonzero().flatten().tolist())
    if torch.equal(empty, wrong) and torch.equal(wrong, wrong[:1, :, :1].expand_as(wrong)):
        return _MISSING.format("a", wrong[0, :, 0].nonzero().flatten().tolist())
    same = torch.eye(*right.shape[1:], dtype=torch.bool)
    if torch.equal(empty, wrong) and torch.equal(wrong, ~same.expand_as(wrong)):
        return "Row i of a only meets row i of b, and the rest of your result is 0. Which rows should it meet?"
    return AS_ASKED


_MISSING = "Your result is 0 wherever these rows of {} are compared: {}. Which rows does your loop run over?"

TRIAL = Trial(
    module="transformer_course.tensors",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"compared": "what is compared"},
    aspects=(
        *aspects.with_words(aspects.of_tensors(aspects.BATCH_OF_ONE, aspects.LENGTH_ONE), "compared"),
        GRAPH,
    ),
)

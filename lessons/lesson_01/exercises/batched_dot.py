"""`batched_dot`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.tensors import batched_dot
from grader.authoring.aspects import USUAL, any_numbers, gradients, shape, special, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake


def _pairs(generator: np.random.Generator) -> list[Case]:
    def draw(sizes: Sequence[int], kind: torch.dtype = torch.float32) -> dict[str, Any]:
        batch, n, m, d = sizes
        return {
            "a": normal(generator, batch, n, d, dtype=kind),
            "b": normal(generator, batch, m, d, dtype=kind),
        }

    def four() -> list[int]:
        return dims(generator, 4)

    _, n, m, d = four()
    side = int(generator.integers(3, 5))
    thin = dims(generator, 2)
    laid_out = {name: strided(tensor) for name, tensor in draw(four()).items()}
    return [
        Case("with four different sizes", draw(four()), USUAL),
        Case("with four other sizes", draw(dims(generator, 4, 3, 9)), USUAL),
        Case("where all sizes are equal", draw([side] * 4), USUAL),
        Case("on a batch of one example", draw([1, n, m, d]), frozenset({"one"})),
        Case("with one row in a and one row in b", draw([thin[0], 1, 1, thin[1]]), frozenset({"thin"})),
        Case("with rows of length one", draw([thin[1], n, m, 1]), frozenset({"thin"})),
        Case("with float64", draw(four(), torch.float64), frozenset({"float64"})),
        Case("with tensors that are not contiguous", laid_out, frozenset({"strided"})),
    ]


def _filled(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    result = torch.zeros(a.shape[0], a.shape[1], b.shape[1])
    for i in range(a.shape[0]):
        result[i] = a[i] @ b[i].T
    return result


def _unit(x: torch.Tensor) -> torch.Tensor:
    unit: torch.Tensor = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return unit


BATCHED_DOT = Exercise(
    symbol="batched_dot",
    points=2,
    cases=_pairs,
    references=(batched_dot,),
    aspects=(
        shape(),
        values(),
        gradients(),
        special("a batch of one", "one"),
        special("axes of length one", "thin"),
        *any_numbers(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "missing_transpose",
            lambda a, b: a @ b,
            "You multiply the rows of a by the columns of b. A dot product pairs a row with a row: which two axes of "
            "b should trade places first?",
            central=True,
        ),
        Mistake(
            "reshaped_instead_of_transposed",
            lambda a, b: a @ b.reshape(b.shape[0], b.shape[2], b.shape[1]),
            "The shape is right, but the numbers of b were cut into new rows. Reshaping keeps the reading order: what "
            "turns rows into columns instead?",
            central=True,
        ),
        Mistake(
            "axes_reversed",
            lambda a, b: a @ b.permute(2, 1, 0),  # what b.T does, without its warning
            "All three axes of b were reversed, the batch axis too. That is what .T does to a tensor with three axes. "
            "Which axis has to stay where it is?",
        ),
        Mistake(
            "result_transposed",
            lambda a, b: b @ a.transpose(1, 2),
            "You have every dot product, but the last two axes are swapped: (batch, m, n). Whose rows should come "
            "first in the result?",
        ),
        Mistake(
            "elementwise_product",
            lambda a, b: a * b,
            "Your result is the product entry by entry. What does a dot product do with those products, and where "
            "does each row of a meet each row of b?",
        ),
        Mistake(
            "rows_paired",
            lambda a, b: (a * b).sum(-1),
            "Row i of a only meets row i of b. How many dot products are there when every row meets every row?",
            central=True,
        ),
        Mistake(
            "mean_not_sum",
            lambda a, b: (a.unsqueeze(2) * b.unsqueeze(1)).mean(-1),
            "Every number is the dot product divided by d: a mean of the products. What does a dot product do with "
            "them?",
        ),
        Mistake(
            "scaled",
            lambda a, b: a @ b.mT / a.shape[-1] ** 0.5,
            "Your result is divided by the square root of d. Attention will do that in lesson 3; is it part of a "
            "plain dot product?",
        ),
        Mistake(
            "cosine_similarity",
            lambda a, b: _unit(a) @ _unit(b).mT,
            "You scaled the rows to length one first, so this is the cosine of the angle. Does a dot product ignore "
            "how long the rows are?",
        ),
        Mistake(
            "summed_over_the_batch",
            lambda a, b: torch.einsum("bnd,bmd->nm", a, b),
            "The examples of the batch were added up into one matrix. Which letter should still be there to the right "
            "of the arrow?",
        ),
        Mistake(
            "batches_crossed",
            torch.inner,
            "Each example of a also met every other example of b, so there are four axes. How can each example keep "
            "to itself?",
        ),
        Mistake(
            "first_of_the_batch_only",
            lambda a, b: a[0] @ b[0].T,
            "That is the first example of the batch on its own. Is there a return inside the loop, or an index 0 that "
            "picks one example?",
        ),
        Mistake(
            "squeezed",
            lambda a, b: (a @ b.mT).squeeze(),
            "Axes of length one disappear from your result. Should batch, n and m stay even when one of them is 1?",
        ),
        Mistake(
            "graph_cut",
            lambda a, b: a.detach() @ b.detach().mT,
            "The numbers are right, but no gradient flows back to a and b. What cuts the graph: a detach, .data, or "
            "NumPy?",
        ),
        Mistake(
            "filled_in_float32",
            _filled,
            "With float64 inputs the result comes back as float32. What dtype does torch.zeros give you unless you "
            "ask for another?",
        ),
        Mistake(
            "changed_in_place",
            lambda a, b: a @ b.transpose_(1, 2),
            "The result is right, but b itself was transposed on the way, and the caller still needs it. What does "
            "the underscore at the end of a method's name mean?",
        ),
    ),
    variants={
        "matmul": lambda a, b: a @ b.transpose(-2, -1),
        "matmul with mT": lambda a, b: torch.matmul(a, b.mT),
        "bmm": lambda a, b: torch.bmm(a, b.permute(0, 2, 1)),
        "broadcast and sum": lambda a, b: (a[:, :, None, :] * b[:, None, :, :]).sum(dim=-1),
        "broadcast and einsum": lambda a, b: torch.einsum("...id,...jd->...ij", a, b),
        "loop over the batch": lambda a, b: torch.stack([x @ y.T for x, y in zip(a, b, strict=True)]),
        "loop over everything": lambda a, b: torch.stack(
            [torch.stack([torch.stack([torch.dot(r, s) for s in y]) for r in x]) for x, y in zip(a, b, strict=True)]
        ),
        "the other way round": lambda a, b: (b @ a.mT).mT,
        "vmap": lambda a, b: torch.vmap(lambda x, y: x @ y.T)(a, b),
        "linear": lambda a, b: torch.stack([F.linear(x, y) for x, y in zip(a, b, strict=True)]),
    },
)

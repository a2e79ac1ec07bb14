"""`masked_mean`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.beyond.words import masked_mean
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, shape, special, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing


def _rows(generator: np.random.Generator) -> list[Case]:
    b, n, d = draw.dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))

    def vectors(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return draw.normal(generator, *sizes, dtype=dtype) + 3.0  # away from 0, so that a wrong count shows

    def padded(batch: int, length: int) -> torch.Tensor:
        return drawing.padding(generator, batch, length)[:, 0, 0]

    empty = padded(b, n)
    empty[1] = False
    scattered = drawing.mask(generator, b, n)
    scattered[0] = False
    scattered[0, 1:3] = True  # the first one doesn't count
    return [
        Case.of("with padding on the right", x=vectors(b, n, d), mask=padded(b, n)),
        Case.of("with other sizes", x=vectors(n, b, d + 1), mask=padded(n, b)),
        Case.of("with as many rows as tokens", x=vectors(side, side, side), mask=padded(side, side)),
        Case("with gaps anywhere", {"x": vectors(b, n, d), "mask": scattered}, tagged("anywhere")),
        Case("where everything counts", {"x": vectors(b, n, d), "mask": torch.ones(b, n).bool()}, tagged("anywhere")),
        Case("with a row in which nothing counts", {"x": vectors(b, n, d), "mask": empty}, tagged("empty")),
        Case("with large numbers", {"x": 1e3 * vectors(b, n, d), "mask": padded(b, n)}, USUAL),
        Case("on a batch of one", {"x": vectors(1, n, d), "mask": padded(1, n)}, tagged("one")),
        Case("with a single token", {"x": vectors(b, 1, d), "mask": torch.ones(b, 1).bool()}, tagged("one")),
        Case("with float64", {"x": vectors(b, n, d, dtype=torch.float64), "mask": padded(b, n)}, tagged("float64")),
        Case(
            "with x and mask that are not contiguous",
            {"x": draw.strided(vectors(b, n, d)), "mask": draw.strided(padded(b, n))},
            tagged("strided"),
        ),
    ]


def _of(sums: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], least: float = 1.0) -> Callable[..., torch.Tensor]:
    """The right sum, divided by something else; `weights` is (batch, length, 1)."""

    def mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        weights = mask.unsqueeze(-1).to(x.dtype)
        return (x * weights).sum(dim=1) / sums(x, weights).clamp(min=least)

    return mean


def _row_by_row(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    means = [row[kept].mean(dim=0) if kept.any() else row.sum(dim=0) * 0 for row, kept in zip(x, mask, strict=True)]
    return torch.stack(means)


def _in_place(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    x[~mask] = 0
    return x.sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def _filled(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    kept = x.masked_fill(~mask[..., None], 0)
    return kept.sum(1) / mask.sum(1, keepdim=True).clamp(min=1).to(x.dtype)


def _from_the_left(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    counts = mask.sum(dim=1, keepdim=True)  # (batch, 1)
    return masked_mean(x, torch.arange(x.shape[1]) < counts)


def _all_rows_together(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask[..., None].to(x.dtype)
    return (x * weights).sum(dim=1) / weights.sum().clamp(min=1)


def _matrix(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    shares = mask.to(x.dtype) / mask.sum(dim=1, keepdim=True).clamp(min=1).to(x.dtype)  # (batch, length)
    return torch.bmm(shares[:, None], x)[:, 0]


def _numbers_too(x: torch.Tensor, mask: torch.Tensor) -> Any:
    return masked_mean(x, mask).mean(dim=-1)


MASKED_MEAN = Exercise(
    symbol="masked_mean",
    points=2,
    cases=_rows,
    references=(masked_mean,),
    aspects=(
        shape("shape (batch, d)", "The result has the shape (batch, d): one vector for each row."),
        values(8.0),
        special(
            "gaps anywhere",
            "anywhere",
            1.0,
            "What counts may be anywhere in a row, or everywhere, not only on the left.",
        ),
        special("a row in which nothing counts", "empty", 3.0, "A row in which nothing counts gives zeros, not NaN."),
        special("a batch of one, a single token", "one", meaning="A batch of one and rows of a single token work too."),
        gradients(),
        *any_numbers(0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "mask_ignored",
            lambda x, mask: x.mean(dim=1),
            "Your mean runs over the whole row, padding included. Which positions should it run over?",
            central=True,
        ),
        Mistake(
            "divided_by_the_length",
            lambda x, mask: (x * mask[..., None]).mean(dim=1),
            "You add up what counts, and then divide by the length of the row. How many vectors did you add up?",
            central=True,
        ),
        Mistake(
            "sum_not_mean",
            lambda x, mask: (x * mask[..., None]).sum(dim=1),
            "You add up what counts, so longer rows get larger numbers. What turns a sum into a mean?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            lambda x, mask: masked_mean(x, ~mask),
            "You take the mean of the positions that don't count. What does True mean in this mask?",
            central=True,
        ),
        Mistake(
            "empty_row_is_nan",
            lambda x, mask: (x * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True).to(x.dtype),
            "A row in which nothing counts gives NaN: you divide 0 by 0. What is the smallest number that you may "
            "divide by?",
        ),
        Mistake(
            "one_too_many",
            _of(lambda x, weights: weights.sum(dim=1) + 1),
            "You divide by one more than you added up. If you wanted to avoid dividing by 0, what does adding 1 do to "
            "all other rows?",
        ),
        Mistake(
            "shared_count",
            _all_rows_together,
            "You divide each row by the number of vectors that count in the whole batch. Along which axis should the "
            "mask be added up?",
            central=True,
        ),
        Mistake(
            "counted_from_the_left",
            _from_the_left,
            "You take as many vectors from the left as there are to count. Are they always on the left?",
        ),
        Mistake(
            "wrong_axis",
            lambda x, mask: (x * mask[..., None]).sum(dim=-1) / mask.sum(dim=1, keepdim=True).clamp(min=1),
            "You add up the numbers of each vector, and get one number for each token. Which axis should disappear?",
        ),
        Mistake(
            "one_number_a_row",
            _numbers_too,
            "You go one mean too far: each row should give a vector, not a number. Which axis should stay?",
        ),
        Mistake(
            "largest_numbers",
            lambda x, mask: x.masked_fill(~mask[..., None], float("-inf")).amax(dim=1),
            "You take the largest number of each column. Which summary does the docstring ask for?",
            central=True,
        ),
        Mistake(
            "x_overwritten",
            _in_place,
            "The mean is right, but the caller's x has zeros in it now. Which operation makes a new tensor?",
        ),
        Mistake(
            "detached",
            lambda x, mask: masked_mean(x.detach(), mask),
            "The numbers are right, but no gradient gets back to x. Where did you leave autograd?",
        ),
    ),
    variants={
        "filled with zeros": _filled,
        "row by row": _row_by_row,
        "a matrix product": _matrix,
        "einsum": lambda x, mask: (
            torch.einsum("bnd,bn->bd", x, mask.to(x.dtype)) / mask.sum(1, keepdim=True).clamp(min=1).to(x.dtype)
        ),
        "at least one": lambda x, mask: (
            torch.where(mask[..., None], x, 0).sum(1) / torch.maximum(mask.sum(1), torch.tensor(1))[:, None]
        ),
    },
)

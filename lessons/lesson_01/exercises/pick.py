"""`pick`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.tensors import pick
from grader.authoring.aspects import USUAL, any_numbers, gradients, shape, special, untouched, values
from grader.authoring.draw import dims, integers, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake


def _rows(generator: np.random.Generator) -> list[Case]:
    def draw(n: int, k: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        while True:
            index = integers(generator, 0, k, n)
            # Neither the diagonal nor one column, and not 0 in the first row: otherwise some wrong ways to
            # pick would look right.
            told_apart = n == 1 or k == 1 or (len(set(index.tolist())) > 1 and not torch.equal(index, torch.arange(n)))
            if told_apart and (k == 1 or index[0] > 0):
                return {"values": normal(generator, n, k, dtype=kind), "index": index}

    small, large = sorted(dims(generator, 2, 3, 8))
    side = int(generator.integers(4, 7))
    ends = draw(5, 4)
    ends["index"] = torch.tensor([3, 0, 3, 3, 0])
    n, k = dims(generator, 2, 3, 6)
    laid_out = {name: strided(tensor) for name, tensor in draw(k, n).items()}
    return [
        Case("with more columns than rows", draw(small, large), USUAL),
        Case("with more rows than columns", draw(large, small), USUAL),
        Case("with as many rows as columns", draw(side, side), USUAL),
        Case("with the first and the last entry of a row", ends, USUAL),
        Case("on a single row", draw(1, k), frozenset({"one"})),
        Case("with rows of one entry", draw(n, 1), frozenset({"thin"})),
        Case("with float64", draw(n, k, torch.float64), frozenset({"float64"})),
        Case("with tensors that are not contiguous", laid_out, frozenset({"strided"})),
    ]


def _one_hot(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return F.one_hot(index, values.shape[1]).to(values.dtype)


def _filled_rows(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    result = torch.zeros(len(index))
    for row, column in enumerate(index):
        result[row] = values[row, column]
    return result


def _numbers(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    picked = [row[column].item() for row, column in zip(values, index, strict=True)]
    return torch.tensor(picked, dtype=values.dtype)


PICK = Exercise(
    symbol="pick",
    points=1,
    cases=_rows,
    references=(pick,),
    aspects=(
        shape(),
        values(),
        gradients(),
        special("a single row", "one", meaning="A single row gives the right result too."),
        special("rows of one entry", "thin", meaning="Rows with a single entry give the right result too."),
        *any_numbers(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "whole_columns",
            lambda values, index: values[:, index],
            "Every row was read at every index, so you got a whole matrix. How do you say that row i goes with "
            "index[i] alone?",
            central=True,
        ),
        Mistake(
            "whole_rows",
            lambda values, index: values[index],
            "The index picked whole rows. Which axis should it walk along?",
        ),
        Mistake(
            "wrong_axis",
            lambda values, index: values.gather(0, index.unsqueeze(0)).squeeze(0),
            "Entry i of your result is values[index[i], i]: it walks down the columns. Which axis runs along a row?",
            central=True,
        ),
        Mistake(
            "column_kept",
            lambda values, index: values.gather(1, index.unsqueeze(1)),
            "The right entries, but in a column of shape (n, 1). Which axis has done its work and can go?",
        ),
        Mistake(
            "squeezed",
            lambda values, index: values.gather(1, index.unsqueeze(1)).squeeze(),
            "With a single row your result loses its only axis. Can you name the axis that should go, instead of "
            "dropping every axis of length one?",
        ),
        Mistake(
            "first_row_only",
            torch.take,
            "You read everything from the start of the flattened tensor, so from the first row. Where does each row "
            "begin?",
        ),
        Mistake(
            "counted_from_one",
            lambda values, index: values[torch.arange(len(index)), index - 1],
            "You are one column too far to the left. Does Python count from 0 or from 1?",
        ),
        Mistake(
            "not_summed",
            lambda values, index: values * _one_hot(values, index),
            "The right entries are there, with zeros around them. Only one number is left in each row: how do you get "
            "it out?",
        ),
        Mistake(
            "summed_over_rows",
            lambda values, index: (values * _one_hot(values, index)).sum(0),
            "You added up each column, so the result has k entries. You want one entry per row: along which axis do "
            "you add?",
        ),
        Mistake(
            "list_returned",
            lambda values, index: [values[i, j] for i, j in enumerate(index)],
            "A Python list of the right entries. What makes one tensor out of a list of tensors and still lets "
            "gradients through?",
        ),
        Mistake(
            "graph_cut",
            _numbers,
            "The numbers are right, but no gradient flows back to values. What cuts the graph: .item(), a detach, or "
            "NumPy?",
        ),
        Mistake(
            "filled_in_float32",
            _filled_rows,
            "With float64 values the result comes back as float32. What dtype does torch.zeros give you unless you "
            "ask for another?",
        ),
        Mistake(
            "index_changed",
            lambda values, index: values.gather(1, index.unsqueeze_(1)).squeeze(1),
            "The result is right, but the caller's index has grown an axis. What does the underscore at the end of a "
            "method's name mean?",
        ),
    ),
    variants={
        "fancy indexing": lambda values, index: values[torch.arange(values.shape[0]), index],
        "gather on the last axis": lambda values, index: torch.gather(values, -1, index[:, None])[:, 0],
        "take_along_dim": lambda values, index: torch.take_along_dim(values, index.view(-1, 1), 1).flatten(),
        "one-hot": lambda values, index: (values * _one_hot(values, index)).sum(dim=1),
        "mask": lambda values, index: values[_one_hot(values, index).bool()],
        "einsum": lambda values, index: torch.einsum("nk,nk->n", values, _one_hot(values, index)),
        "loop": lambda values, index: torch.stack([row[j] for row, j in zip(values, index, strict=True)]),
        "diagonal of all columns": lambda values, index: values[:, index].diagonal(),
        "flat index": lambda values, index: values.take(torch.arange(len(index)) * values.shape[1] + index),
        "negative log-likelihood": lambda values, index: -F.nll_loss(values, index, reduction="none"),
    },
)

"""`LearnedPositionalEmbedding`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.blocks import LearnedPositionalEmbedding
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.aspects import special
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.slips import slip


def _tables(generator: np.random.Generator) -> list[Case]:
    def table(batch: int, length: int, d_model: int, max_length: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {
            "max_length": max_length,
            "x": draw.normal(generator, batch, length, d_model, dtype=kind),
            "weights": {"embedding.weight": draw.normal(generator, max_length, d_model, dtype=kind)},
        }

    b, n, d = draw.dims(generator, 3, 2, 7)
    room = n + int(generator.integers(8, 11))
    side = int(generator.integers(3, 6))
    laid_out = table(b, n, d, room)
    return [
        Case("with four different sizes", table(b, n, d, room), USUAL),
        Case("with more rows in the batch than tokens in a row", table(n + 3, n, d, room), USUAL),
        Case("with fewer rows in the batch than tokens in a row", table(n, n + 3, d, room), USUAL),
        Case("where the row fills the table", table(b, n, d, n), tagged("full")),
        Case("where batch, length and d_model are equal", table(side, side, side, side + 2), tagged("equal")),
        Case("on a batch of one", table(1, n, d, room), tagged("one")),
        Case("with a single token", table(b, 1, d, room), tagged("one")),
        Case("with float64", table(b, n, d, room, torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


class _Positions(nn.Module):
    """The right layer; mistakes change one thing about it."""

    embedding: Any

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.embedding = self.make(max_length, d_model)

    def make(self, max_length: int, d_model: int) -> Any:
        return nn.Embedding(max_length, d_model)

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.embedding.weight[: x.shape[1]]


def _forwards(forward: Callable[[Any, torch.Tensor], Any]) -> type[_Positions]:
    return type("LearnedPositionalEmbedding", (_Positions,), {"forward": forward})


def _adding(rows: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> type[_Positions]:
    """Adds something made of the table and x."""
    return _forwards(lambda self, x: x + rows(self.embedding.weight, x))


def _in_place(self: Any, x: torch.Tensor) -> Any:
    x += self.embedding.weight[: x.shape[1]]
    return x


def _in_place_behind_the_graph(self: Any, x: torch.Tensor) -> Any:
    x.data += self.embedding.weight[: x.shape[1]]
    return x + 0 * self.embedding.weight[: x.shape[1]]


class _OtherName(nn.Module):
    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(max_length, d_model)

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.table(torch.arange(x.shape[1]))


class _PlacesKept(_Positions):
    """Keeps the places in a buffer, and knows an option that is off."""

    def __init__(self, max_length: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__(max_length, d_model)
        self.places: torch.Tensor
        self.register_buffer("places", torch.arange(max_length)[None])
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> Any:
        return self.dropout(x + self.embedding(self.places[:, : x.size(1)]))


class _Small(_Positions):
    """Another start, and the sum of one table looked up for each row."""

    def make(self, max_length: int, d_model: int) -> Any:
        table = nn.Embedding(max_length, d_model)
        nn.init.normal_(table.weight, std=0.02)
        return table

    def forward(self, x: torch.Tensor) -> Any:
        places = torch.arange(x.shape[1]).expand(x.shape[0], -1)  # (batch, length)
        return self.embedding(places).add(x)


def _one_by_one(self: Any, x: torch.Tensor) -> Any:
    columns = [x[:, i] + self.embedding(torch.tensor(i)) for i in range(x.shape[1])]
    return torch.stack(columns, dim=1)


LEARNED_POSITIONAL_EMBEDDING = Exercise(
    symbol="LearnedPositionalEmbedding",
    points=2,
    cases=_tables,
    references=(LearnedPositionalEmbedding,),
    aspects=(
        parts(),
        shape(),
        values(),
        gradients(),
        special("a full table", "full", meaning="A row as long as the table gets the right positions too."),
        special(
            "batch, length and d_model of one size",
            "equal",
            0.5,
            meaning="The positions run along the right axis even when batch, length and d_model are equal.",
        ),
        special("a batch of one, a single token", "one"),
        *any_numbers(0.5),
        modes(),
        untouched("x untouched", 2.0),
    ),
    mistakes=(
        Mistake(
            "table_returned",
            _forwards(lambda self, x: self.embedding.weight[: x.shape[1]].expand(x.shape)),
            "You return the places alone: what stood there is gone. How do place and content come together?",
        ),
        Mistake(
            "nothing_added",
            _forwards(lambda self, x: x * 1),
            "x comes back as it was. Where is the table looked up, and what happens to what it says?",
            central=True,
        ),
        Mistake(
            "along_the_batch",
            _adding(lambda table, x: table[: x.shape[0], None]),
            "Every token of a row got the same vector, and each row another one: you counted along the batch. Which "
            "axis is the length?",
            central=True,
        ),
        Mistake(
            "length_of_the_batch",
            _adding(lambda table, x: table[: x.shape[0]]),
            "You took as many rows of the table as the batch has rows. Which axis of x says how many places there are?",
        ),
        Mistake(
            "whole_table",
            _adding(lambda table, x: table),
            "You add the whole table, which fits only when a row is as long as can be. How many of its rows are "
            "needed?",
        ),
        Mistake(
            "counted_from_one",
            _adding(lambda table, x: table[1 : x.shape[1] + 1]),
            "Your first token gets the second vector of the table. Where does counting begin?",
        ),
        Mistake(
            "last_rows",
            _adding(lambda table, x: table[-x.shape[1] :]),
            "You took the last rows of the table. Which ones belong to the places 0, 1, 2 and so on?",
        ),
        Mistake(
            "backwards",
            _adding(lambda table, x: table[: x.shape[1]].flip(0)),
            "The places run backwards: the last token gets the first vector. In which order do you count?",
        ),
        Mistake(
            "one_place_for_all",
            _adding(lambda table, x: table[0]),
            "Every token got the vector of place 0. How does a token's place come into it?",
            central=True,
        ),
        Mistake(
            "place_of_the_last",
            _adding(lambda table, x: table[x.shape[1] - 1]),
            "Every token got the vector of the last place: you looked up one number, the length. How do you look up "
            "all places at once?",
        ),
        Mistake(
            "multiplied",
            _forwards(lambda self, x: x * self.embedding.weight[: x.shape[1]]),
            "Place and content are multiplied. Which sign does the docstring use?",
        ),
        Mistake(
            "concatenated",
            _forwards(lambda self, x: torch.cat([x, self.embedding.weight[: x.shape[1]].expand(x.shape)], dim=-1)),
            "Place and content stand side by side, so the vectors are twice as long. How can they share the same "
            "numbers?",
        ),
        Mistake(
            "scaled_by_the_root",
            _forwards(lambda self, x: x * x.shape[-1] ** 0.5 + self.embedding.weight[: x.shape[1]]),
            "x was multiplied by the square root of d_model first. A paper does that elsewhere: does this docstring?",
        ),
        Mistake(
            "sinusoids",
            _adding(
                lambda table, x: torch.sin(
                    torch.arange(x.shape[1], dtype=x.dtype)[:, None]
                    / 10_000 ** (torch.arange(x.shape[2], dtype=x.dtype) / x.shape[2])
                )
            ),
            "Your places come from a formula, and the table is never asked. What is learned here?",
        ),
        Mistake(
            "sizes_swapped",
            type("LearnedPositionalEmbedding", (_Positions,), {"make": lambda self, n, d: nn.Embedding(d, n)}),
            "Your table has d_model rows of max_length numbers. Which comes first when you make an Embedding: how many "
            "rows, or how long each is?",
        ),
        Mistake(
            "other_name",
            _OtherName,
            "The layer works, but nobody finds its table at embedding.weight. Which name does the docstring give it, "
            "and which kind of layer?",
        ),
        Mistake(
            "frozen",
            type(
                "LearnedPositionalEmbedding",
                (_Positions,),
                {"forward": lambda self, x: x + self.embedding.weight[: x.shape[1]].detach()},
            ),
            "The numbers are right, but no gradient reaches the table, so it would never learn. Where does it leave "
            "the graph?",
        ),
        slip("x_changed", _forwards(_in_place)),
        Mistake(
            "data_changed",
            _forwards(_in_place_behind_the_graph),
            "x itself was changed through .data, behind the back of its owner. Which sum makes a new tensor?",
        ),
        slip("dropout_added", _forwards(lambda self, x: F.dropout(_Positions.forward(self, x), 0.3, self.training))),
        slip("squeezed", _forwards(lambda self, x: _Positions.forward(self, x).squeeze())),
        Mistake(
            "graph_cut",
            _forwards(lambda self, x: _Positions.forward(self, x.detach())),
            "The numbers are right, but no gradient gets back to x: the token's own embedding would never learn. Where "
            "is the graph cut?",
        ),
    ),
    variants={
        "first rows": _Positions,
        "places in a buffer": _PlacesKept,
        "looked up for each row": _Small,
        "one by one": _forwards(_one_by_one),
        "F.embedding": _forwards(lambda self, x: x + F.embedding(torch.arange(x.shape[-2]), self.embedding.weight)),
        "cumulative count": _forwards(
            lambda self, x: x + self.embedding(torch.ones(x.shape[:2], dtype=torch.long).cumsum(1) - 1)
        ),
    },
)

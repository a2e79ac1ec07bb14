"""`SinusoidalPositionalEncoding`: cases, mistakes and variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.positions import SinusoidalPositionalEncoding, sinusoidal_positional_encoding
from grader.authoring.aspects import USUAL, also, gradients, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_06.exercises.precision import ANY_NUMBERS, in_single_precision

Add = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _inputs(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, half: int, spare: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        spare += 2 * (spare > 0 and (length + spare + 1) // 2 == half)  # the two sizes differ, rounded up too
        x = normal(generator, batch, length, 2 * half, dtype=kind)
        follow = kind == torch.float32 and spare > 0  # into the gradients of the cases that are nothing special
        return {"d_model": 2 * half, "max_length": length + spare, "x": x, "follow": follow}

    batch, length, half, spare = dims(generator, 4, 2, 6)
    few, many = sorted((batch, length))  # so that the batch's size is never taken for the length by luck
    laid_out = draw(half, batch, length, spare)
    laid_out["x"] = strided(laid_out["x"])
    return [
        Case("with rows shorter than max_length", draw(batch, length, half, spare), USUAL),
        Case("with more columns than positions", draw(length, batch, spare + 3, half), USUAL),
        Case("with as many rows as positions", draw(length, length, spare, batch), USUAL),
        Case("with rows of max_length", draw(few, many, spare, 0), frozenset({"full"})),
        Case("on a batch of one", draw(1, length, half, spare), frozenset({"one"})),
        Case("with rows of one token", draw(batch, 1, half, spare), frozenset({"one"})),
        Case("with a model and inputs in float64", draw(batch, length, half, 2, torch.float64), frozenset({"float64"})),
        Case("with inputs that are not contiguous", laid_out, frozenset({"strided"})),
    ]


class _Table(nn.Module):
    """The right module; each mistake and variant changes a step of it."""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.keep(self.make(d_model, max_length))

    def make(self, d_model: int, max_length: int) -> torch.Tensor:
        return sinusoidal_positional_encoding(max_length, d_model)

    def keep(self, table: torch.Tensor) -> None:
        self.register_buffer("table", table)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.add(x, self.table)  # type: ignore[arg-type]

    def add(self, x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return x + table[: x.shape[1]]


def _with(**methods: Callable[..., Any]) -> type[nn.Module]:
    return type("SinusoidalPositionalEncoding", (_Table,), methods)


def _adding(add: Add) -> type[nn.Module]:
    return _with(add=lambda self, x, table: add(x, table))


def _in_place(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    x += table[: x.shape[1]]
    return x


def _batch_for_length(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return x + table.unsqueeze(1)[: x.shape[0]]


def _rows_by_batch(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return x + table[: x.shape[0]]


def _into_the_table(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        table[: x.shape[1]] += x.mean(dim=0)
    return x + table[: x.shape[1]]


def _plain(self: nn.Module, table: torch.Tensor) -> None:
    self.table = table


class _Nested(nn.Module):
    """The table stands in a module inside, and positions are looked up."""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.inner = _Table(d_model, max_length)
        self.register_buffer("places", torch.arange(max_length))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places: torch.Tensor = self.places[: x.size(1)]  # type: ignore[index]
        return x + F.embedding(places, self.inner.table)  # type: ignore[arg-type]


class _ByHand(nn.Module):
    """As the tutorials have it: a batch axis in front, strided assignment."""

    pe: torch.Tensor

    def __init__(self, d_model: int, max_length: int = 5000, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        pe = torch.zeros(1, max_length, d_model)
        rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        angles = torch.arange(max_length).unsqueeze(1) * rates
        pe[0, :, 0::2], pe[0, :, 1::2] = torch.sin(angles), torch.cos(angles)
        self.register_buffer("pe", pe, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        moved: torch.Tensor = self.dropout(x + self.pe[:, : x.size(1)])
        return moved


def _first_axis(self: nn.Module, d_model: int, max_length: int) -> torch.Tensor:
    return sinusoidal_positional_encoding(max_length, d_model).unsqueeze(0)


MODULE = Exercise(
    symbol="SinusoidalPositionalEncoding",
    points=2,
    cases=_inputs,
    references=(SinusoidalPositionalEncoding,),
    canonical=in_single_precision,
    aspects=(
        values(),
        also(
            "nothing to learn",
            "learned",
            weight=7.0,
            meaning="The waves are fixed: an optimiser finds nothing to train in the module.",
        ),
        also(
            "a buffer",
            "parameters",
            "buffers",
            weight=2.0,
            meaning="The table is among model.buffers(), not model.parameters(), so that it moves with the model.",
        ),
        gradients(1.0),
        special("rows of max_length", "full", meaning="A row of max_length tokens gets the right positions too."),
        special("a batch of one, rows of one", "one"),
        *ANY_NUMBERS,
        also(
            "the same each time",
            "again",
            "training_mode",
            meaning="A second call gives the same result, in training mode and in evaluation mode.",
        ),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "computed_and_never_added",
            _adding(lambda x, table: x + 0.0),
            "x comes out exactly as it went in: the waves are computed and never used. Where do the two meet?",
            central=True,
        ),
        Mistake(
            "waves_without_tokens",
            _adding(lambda x, table: table[: x.shape[1]] + 0 * x),
            "You return the waves alone, and the tokens are gone. The result is x plus what?",
        ),
        Mistake(
            "multiplied",
            _adding(lambda x, table: x * table[: x.shape[1]]),
            "You multiply the tokens by the waves. What does the docstring do with the two?",
        ),
        Mistake(
            "added_twice",
            _adding(lambda x, table: x + 2 * table[: x.shape[1]]),
            "The waves are added twice. Is one of the two additions in __init__, or in a loop?",
        ),
        Mistake(
            "tokens_scaled",
            _adding(lambda x, table: x * math.sqrt(x.shape[-1]) + table[: x.shape[1]]),
            "You multiply x by the square root of d_model before you add. In the paper that happens in the "
            "embedding. Does this docstring ask for it?",
        ),
        Mistake(
            "batch_for_length",
            _adding(_batch_for_length),
            "Every token of a row gets the same wave, and each row of the batch a different one. Which axis of x "
            "counts the positions?",
        ),
        Mistake(
            "batch_size_for_length",
            _adding(_rows_by_batch),
            "You take as many rows of the table as the batch has examples. Which axis of x counts the positions?",
            central=True,
        ),
        Mistake(
            "whole_table",
            _adding(lambda x, table: x + table),
            "You add the whole table, which only fits inputs of max_length tokens. How many of its rows does a "
            "shorter input need?",
        ),
        Mistake(
            "last_rows",
            _adding(lambda x, table: x + table[-x.shape[1] :]),
            "You add the last rows of the table. Which position does a sequence start at?",
        ),
        Mistake(
            "one_row_too_late",
            _with(make=lambda self, d, length: sinusoidal_positional_encoding(length + 1, d)[1:]),
            "The first token gets the wave of position 1. What number do positions start at?",
        ),
        Mistake(
            "one_wave_for_all",
            _adding(lambda x, table: x + table[x.shape[1] - 1]),
            "Every token gets the same row of the table. How do you take one row for each position?",
        ),
        Mistake(
            "a_parameter",
            _with(keep=lambda self, table: setattr(self, "table", nn.Parameter(table))),
            "Your table is a parameter, so an optimiser would change the waves. What does PyTorch call a tensor "
            "that belongs to a module but isn't learnt?",
            central=True,
        ),
        Mistake(
            "a_frozen_parameter",
            _with(keep=lambda self, table: setattr(self, "table", nn.Parameter(table, requires_grad=False))),
            "Your table is a frozen parameter: it isn't learnt, but it is still among model.parameters(). Which "
            "method of nn.Module keeps a tensor without making it a parameter?",
        ),
        Mistake(
            "learned_instead",
            _with(keep=lambda self, table: setattr(self, "table", nn.Parameter(torch.zeros_like(table)))),
            "This is a learned table that starts as zeros. Where do the sines and cosines come in?",
            central=True,
        ),
        Mistake(
            "no_buffer",
            _with(keep=_plain),
            "The result is right, but no buffer holds the table, so it would stay behind when the model moves to "
            "another device. Which method of nn.Module makes a tensor move along?",
        ),
        Mistake(
            "in_place",
            _adding(_in_place),
            "The result is right, but x itself was changed: += writes into the caller's tensor. How do you make a"
            " new one?",
        ),
        Mistake(
            "table_changed",
            _adding(_into_the_table),
            "Your table is different after each call. Which line writes into it?",
        ),
        Mistake(
            "graph_cut",
            _adding(lambda x, table: x.detach() + table[: x.shape[1]]),
            "The numbers are right, but no gradient flows back to x, so the embedding below would never learn. "
            "Where is the graph cut?",
        ),
        Mistake(
            "float64_table",
            _with(make=lambda self, d, length: sinusoidal_positional_encoding(length, d).double()),
            "Your table is float64, and so is everything you add it to. What dtype do the tokens come in?",
        ),
        Mistake(
            "dropout_added",
            _adding(lambda x, table: F.dropout(x + table[: x.shape[1]], 0.1)),
            "There is dropout in your module: some numbers are zeroed at random. Does the signature mention dropout?",
        ),
        Mistake(
            "sizes_swapped",
            _with(make=lambda self, d, length: sinusoidal_positional_encoding(d, length + length % 2)),
            "Your table has d_model rows of max_length numbers. Which of the two counts the positions?",
        ),
    ),
    variants={
        "buffer": _Table,
        "batch axis in the buffer": _with(make=_first_axis, add=lambda self, x, table: x + table[:, : x.shape[1], :]),
        "by hand, with a dropout of 0": _ByHand,
        "not in the state dict": _with(keep=lambda self, table: self.register_buffer("table", table, persistent=False)),
        "an embedding of the buffer": _Nested,
        "table in float64, cast when added": _with(
            make=lambda self, d, length: sinusoidal_positional_encoding(length, d).double(),
            add=lambda self, x, table: x + table.narrow(0, 0, x.size(1)).to(x.dtype),
        ),
        "index of positions": _adding(lambda x, table: torch.add(x, table[torch.arange(x.shape[-2])].expand_as(x))),
    },
)

"""`split_heads` and `merge_heads`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from course.attention import merge_heads, split_heads
from grader.authoring import draw
from grader.authoring.aspects import USUAL, dtype, gradients, refused, shape, special, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.slips import slip


def _wholes(generator: np.random.Generator) -> list[Case]:
    def whole(b: int, n: int, heads: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {"x": draw.normal(generator, b, n, heads * d_head, dtype=kind), "num_heads": heads}

    b, n, heads, d_head = draw.dims(generator, 4, 2, 6)
    side = int(generator.integers(2, 4))
    laid_out = whole(b, n, heads, d_head)
    return [
        Case("with four different sizes", whole(b, n, heads, d_head), USUAL),
        Case("with four other sizes", whole(d_head, heads, n, b), USUAL),
        Case("where all sizes are equal", whole(side, side, side, side), USUAL),
        Case("with one head", whole(b, n, 1, d_head), tagged("one")),
        Case("with heads of width one", whole(b, n, heads, 1), tagged("one")),
        Case("on a batch of one", whole(1, n, heads, d_head), tagged("one")),
        Case("with a single token", whole(b, 1, heads, d_head), tagged("one")),
        Case("with whole numbers", {"x": draw.integers(generator, 0, 99, b, n, 6), "num_heads": 2}, tagged("whole")),
        Case("with float64", whole(b, n, heads, d_head, torch.float64), tagged("float64")),
        Case("with a tensor that is not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
        # Each of these sizes lets one careless line through without an error.
        Case("where 2 heads don't divide 7 columns", {**whole(6, 6, 1, 7), "num_heads": 2}, tagged("refused")),
        Case("where 4 heads don't divide 6 columns", {**whole(2, 2, 1, 6), "num_heads": 4}, tagged("refused")),
    ]


def _parts(generator: np.random.Generator) -> list[Case]:
    def heads(b: int, h: int, n: int, d_head: int, kind: torch.dtype = torch.float32) -> Inputs:
        return {"x": draw.normal(generator, b, h, n, d_head, dtype=kind)}

    b, h, n, d_head = draw.dims(generator, 4, 2, 6)
    side = int(generator.integers(2, 4))
    crossed = draw.normal(generator, b, n, h, d_head).transpose(1, 2)  # as split_heads may leave it
    return [
        Case("with four different sizes", heads(b, h, n, d_head), USUAL),
        Case("with four other sizes", heads(n, d_head, b, h), USUAL),
        Case("where all sizes are equal", heads(side, side, side, side), USUAL),
        Case("with one head", heads(b, 1, n, d_head), tagged("one")),
        Case("with heads of width one", heads(b, h, n, 1), tagged("one")),
        Case("on a batch of one", heads(1, h, n, d_head), tagged("one")),
        Case("with a single token", heads(b, h, 1, d_head), tagged("one")),
        Case("with whole numbers", {"x": draw.integers(generator, 0, 99, b, h, n, d_head)}, tagged("whole")),
        Case("with float64", heads(b, h, n, d_head, torch.float64), tagged("float64")),
        Case(
            "with a tensor that is not contiguous", {"x": draw.strided(heads(b, h, n, d_head)["x"])}, tagged("strided")
        ),
        Case("with a tensor whose axes were swapped before", {"x": crossed}, tagged("strided")),
    ]


Split = Callable[[torch.Tensor, int], torch.Tensor]


def _checked(split: Split) -> Split:
    """The same, after a look at whether the heads fit."""

    def checked(x: torch.Tensor, num_heads: int) -> torch.Tensor:
        if x.shape[-1] % num_heads:
            raise ValueError("heads don't fit")
        return split(x, num_heads)

    return checked


def _in_one_step(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


def _columns_dealt_out(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(*x.shape[:2], -1, num_heads).permute(0, 3, 1, 2)


def _by_rearranging(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return torch.unflatten(x, -1, (num_heads, -1)).movedim(2, 1)


def _head_by_head(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    width = x.shape[2] // num_heads
    return torch.stack([x[:, :, h * width : (h + 1) * width] for h in range(num_heads)], dim=1)


def _left_over_dropped(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    width = x.shape[2] // num_heads
    return x.unfold(2, width, width)[:, :, :num_heads].transpose(1, 2)


def _length_takes_the_rest(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(x.shape[0], -1, num_heads, x.shape[2] // num_heads).transpose(1, 2)


def _batch_takes_the_rest(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(-1, x.shape[1], num_heads, x.shape[2] // num_heads).transpose(1, 2)


def _by_view(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.view(*x.shape[:2], num_heads, -1).transpose(1, 2)


def _filled(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    heads = torch.zeros(x.shape[0], num_heads, x.shape[1], x.shape[2] // num_heads)
    for h, part in enumerate(torch.split(x, x.shape[2] // num_heads, dim=2)):
        heads[:, h] = part
    return heads


def _merged(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


def _merged_in_float32(x: torch.Tensor) -> torch.Tensor:
    merged = torch.zeros(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])
    for h in range(x.shape[1]):
        merged[:, :, h * x.shape[3] : (h + 1) * x.shape[3]] = x[:, h]
    return merged


_ASPECTS = (
    shape(),
    values(),
    gradients(1.0),
    special("axes of length one", "one"),
    special("whole numbers", "whole", 0.5, meaning="Tensors of integers work as well as tensors of floats."),
    dtype(),
    special("float64", "float64", 0.5),
    special("any layout in memory", "strided"),
    untouched(weight=0.5),
)

SPLIT_HEADS = Exercise(
    symbol="split_heads",
    points=2,
    cases=_wholes,
    references=(split_heads,),
    aspects=(*_ASPECTS, refused("heads that don't fit are refused", "refused", 2.0)),
    mistakes=(
        Mistake(
            "reshaped_in_one_step",
            _in_one_step,
            "The shape is right, but your heads hold whole tokens instead of a part of each one. Reshaping keeps the "
            "order in memory: which shape should it cut into first, and which two axes do you swap then?",
            central=True,
        ),
        Mistake(
            "axes_not_swapped",
            lambda x, n: x.reshape(*x.shape[:2], n, x.shape[2] // n),
            "Each token is cut into heads, but they come after the length: (batch, length, heads, d_head). Which two "
            "axes should you swap?",
        ),
        Mistake(
            "columns_dealt_out",
            _columns_dealt_out,
            "You deal the columns out in turn, like cards: head 0 gets the first, head 1 the second. Head h should "
            "get the h-th block: which of the two new axes comes first?",
            central=True,
        ),
        Mistake(
            "last_axes_swapped",
            _checked(lambda x, n: _by_rearranging(x, n).mT),
            "Your heads are (d_head, length) each. Which of the two comes last?",
        ),
        Mistake(
            "length_and_width_swapped",
            _checked(lambda x, n: x.reshape(*x.shape[:2], n, -1).permute(0, 3, 1, 2)),
            "Your second axis is d_head, where the heads belong. Which two axes did you mean to swap?",
        ),
        Mistake(
            "heads_first",
            _checked(lambda x, n: _by_rearranging(x, n).transpose(0, 1)),
            "Your heads come before the batch. Which axis is always first in this course?",
        ),
        Mistake(
            "heads_in_the_batch",
            _checked(lambda x, n: _by_rearranging(x, n).flatten(0, 1)),
            "Batch and heads are one axis, as some libraries do it. How many axes does the docstring ask for?",
        ),
        Mistake(
            "heads_and_width_mixed_up",
            lambda x, n: (
                x.reshape(*x.shape[:2], -1, n).transpose(1, 2)
                if x.shape[-1] % n == 0
                else (_ for _ in ()).throw(ValueError("heads don't fit"))
            ),
            "You made d_head heads of num_heads columns. Which of the two numbers is which?",
        ),
        Mistake(
            "heads_backwards",
            _checked(lambda x, n: _by_rearranging(x, n).flip(1)),
            "Your heads come in reverse order. Which block belongs to head 0?",
        ),
        Mistake(
            "rows_backwards",
            _checked(lambda x, n: _by_rearranging(x, n).flip(2)),
            "The tokens in your heads come in reverse order. Where do you flip an axis instead of moving it?",
        ),
        Mistake(
            "squeezed",
            _checked(lambda x, n: _by_rearranging(x, n).squeeze()),
            "Axes of length one disappear from your result. Are there four axes even with one head?",
        ),
        Mistake(
            "left_over_columns_dropped",
            _left_over_dropped,
            "Where the heads don't fit, you silently drop the columns that are left over. How should the caller find "
            "out?",
        ),
        Mistake(
            "cut_into_fewer_heads",
            lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=1),
            "Asked for 4 heads of 6 columns, you silently make 3. How should the caller find out?",
        ),
        Mistake(
            "length_takes_the_rest",
            _length_takes_the_rest,
            "Your -1 stands for the length, so where the heads don't fit, rows of another length come out. How "
            "should the "
            "caller find out?",
        ),
        Mistake(
            "batch_takes_the_rest",
            _batch_takes_the_rest,
            "Your -1 stands for the batch, so where the heads don't fit, a batch of another size comes out. How "
            "should the "
            "caller find out?",
        ),
        slip("filled_in_float32", _checked(_filled)),
        slip("graph_cut", _checked(lambda x, n: _by_rearranging(x, n).detach())),
    ),
    variants={
        "view": _checked(_by_view),
        "unflatten and movedim": _checked(_by_rearranging),
        "reshape and permute": lambda x, n: x.reshape(x.size(0), x.size(1), n, -1).permute(0, 2, 1, 3),
        "contiguous view": lambda x, n: x.contiguous().view(*x.shape[:2], n, -1).swapaxes(1, 2),
        "head by head": _checked(_head_by_head),
        "split and stack": _checked(lambda x, n: torch.stack(torch.split(x, x.shape[-1] // n, dim=-1)).transpose(0, 1)),
        "a copy in order": _checked(lambda x, n: _by_rearranging(x, n).contiguous()),
    },
)

MERGE_HEADS = Exercise(
    symbol="merge_heads",
    points=1,
    cases=_parts,
    references=(merge_heads,),
    aspects=_ASPECTS,
    mistakes=(
        Mistake(
            "reshaped_in_one_step",
            lambda x: x.reshape(x.shape[0], x.shape[2], -1),
            "The shape is right, but each token got numbers of other tokens. Which two axes do you have to swap "
            "before the "
            "last two become one?",
            central=True,
        ),
        Mistake(
            "swapped_back_only",
            lambda x: x.transpose(1, 2),
            "Length and heads are in place, and there are still four axes. Which two become one?",
        ),
        Mistake(
            "flattened_without_swapping",
            lambda x: x.flatten(start_dim=2),
            "You flattened each head by itself: (batch, heads, length times d_head). Which axis should be next to "
            "d_head "
            "before you flatten?",
        ),
        Mistake(
            "columns_dealt_out",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
            "The columns of the heads alternate. Whole heads should stand side by side: which axis comes last before "
            "you flatten?",
        ),
        Mistake(
            "wrong_axes_swapped",
            lambda x: x.mT.flatten(2) if x.shape[1] == x.shape[2] else x.mT.reshape(x.shape[0], x.shape[2], -1),
            "You swapped length and d_head. Which two axes did split_heads swap?",
        ),
        Mistake(
            "heads_added_up",
            lambda x: x.sum(dim=1),
            "The heads were added up, so d_head columns are left. How can each head keep its own columns?",
        ),
        Mistake(
            "mean_of_the_heads",
            lambda x: x.mean(dim=1) if x.is_floating_point() else x.sum(dim=1) // x.shape[1],
            "You took the mean of the heads, so d_head columns are left. How can each head keep its own columns?",
        ),
        Mistake(
            "first_head_only",
            lambda x: x[:, 0],
            "That is the first head alone. Where are the others?",
        ),
        Mistake(
            "heads_one_below_the_other",
            lambda x: torch.cat(list(x.unbind(1)), dim=1),
            "Your heads are joined one below the other, so the rows have become longer. Along which axis should you "
            "join them?",
        ),
        Mistake(
            "heads_backwards",
            lambda x: _merged(x.flip(1)),
            "Your heads are joined in reverse order. Which one comes first?",
        ),
        Mistake(
            "view_after_the_swap",
            lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
            "After the swap the numbers no longer lie in order in memory, and view stops there. Which call copies "
            "them if it must?",
        ),
        slip("squeezed", lambda x: _merged(x).squeeze()),
        slip("filled_in_float32", _merged_in_float32),
        slip("graph_cut", lambda x: _merged(x).detach()),
    ),
    variants={
        "joined": _merged,
        "permute and reshape": lambda x: x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), x.size(1) * x.size(3)),
        "contiguous view": lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], x.shape[2], -1),
        "movedim": lambda x: x.movedim(1, 2).flatten(-2),
        "token by token": lambda x: torch.stack([x[:, :, i].flatten(1) for i in range(x.shape[2])], dim=1),
        "unbind and hstack": lambda x: torch.stack([torch.hstack(entry.unbind(0)) for entry in x]),
    },
)

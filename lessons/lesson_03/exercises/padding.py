"""`padding_mask`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from course.attention import padding_mask
from grader.authoring import draw
from grader.authoring.aspects import USUAL, dtype, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.drawing import Inputs


def _tokens(generator: np.random.Generator) -> list[Case]:
    def rows(batch: int, length: int, pad_id: int = 0) -> torch.Tensor:
        """Ids from 0 to 19 with padding on the right, another amount in each row."""
        ids = draw.integers(generator, 0, 20, batch, length)
        ids[ids == pad_id] = 20
        ids[0, 0] = 20 if pad_id == 0 else 0
        real = drawing.padding(generator, batch, length)[:, 0, 0]
        return torch.where(real, ids, pad_id)

    b, n = draw.dims(generator, 2, 3, 7)
    side = int(generator.integers(3, 6))
    pad_id = int(generator.integers(3, 9))
    scattered = draw.integers(generator, 1, 20, b, n)
    scattered[drawing.mask(generator, b, n)] = 0
    whole = draw.integers(generator, 1, 20, b, n)
    whole[0] = 0

    def other(batch: int, length: int) -> Inputs:
        return {"tokens": rows(batch, length, pad_id), "pad_id": pad_id}

    return [
        Case("with padding on the right", {"tokens": rows(b, n)}, USUAL),
        Case("with more rows than tokens", {"tokens": rows(n + 2, n)}, USUAL),
        Case("with as many rows as tokens", {"tokens": rows(side, side)}, USUAL),
        Case("with padding anywhere in a row", {"tokens": scattered}, tagged("anywhere")),
        Case("with another pad_id", other(b, n), tagged("pad_id")),
        Case("with another pad_id, on other sizes", other(n, b), tagged("pad_id")),
        Case("on a batch of one", {"tokens": rows(1, n)}, tagged("one")),
        Case("with a single token", {"tokens": draw.integers(generator, 0, 2, b, 1)}, tagged("one")),
        Case("with a row of padding alone, and rows without", {"tokens": whole}, tagged("all")),
        Case("with tokens that are not contiguous", {"tokens": draw.strided(rows(b, n))}, tagged("strided")),
    ]


def _shaped(shape: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The right entries, in another shape or kind."""
    return lambda tokens, pad_id=0: shape(tokens != pad_id)


def _entries(entries: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Other entries, in the right shape."""
    return lambda tokens, pad_id=0: entries(tokens, pad_id)[:, None, None, :]


def _lengths(tokens: torch.Tensor, pad_id: int) -> torch.Tensor:
    real = (tokens != pad_id).sum(dim=1, keepdim=True)
    return torch.arange(tokens.shape[1]) < real


def _up_to_the_first(tokens: torch.Tensor, pad_id: int) -> torch.Tensor:
    return (tokens == pad_id).cumsum(dim=1) == 0


def _marked(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    tokens.masked_fill_(tokens != pad_id, 1)
    return (tokens != pad_id)[:, None, None, :]


def _looped(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return torch.tensor([[[[int(token) != pad_id for token in row]]] for row in tokens])


def _filled(tokens: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    mask = torch.ones(tokens.shape[0], 1, 1, tokens.shape[1], dtype=torch.bool)
    mask[(tokens == pad_id)[:, None, None]] = False
    return mask


PADDING_MASK = Exercise(
    symbol="padding_mask",
    points=1,
    cases=_tokens,
    references=(padding_mask,),
    aspects=(
        shape("shape (batch, 1, 1, length)", "The mask has the shape (batch, 1, 1, length)."),
        values(),
        dtype("boolean", meaning="The entries are True and False."),
        special("padding anywhere in a row", "anywhere"),
        special("another pad_id", "pad_id"),
        special("a batch of one, a single token", "one"),
        special(
            "all padding, or none",
            "all",
            meaning="Rows that are all padding, and rows without any, get the right mask.",
        ),
        special("any layout in memory", "strided", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "inverted",
            _entries(lambda tokens, pad_id: tokens == pad_id),
            "Your mask is True on the padding. True means: may attend. Should anyone attend to padding?",
            central=True,
        ),
        Mistake(
            "pad_id_ignored",
            _entries(lambda tokens, pad_id: tokens != 0),
            "You compare with 0, whatever pad_id is. Which argument says what padding looks like?",
        ),
        Mistake(
            "floats",
            _shaped(lambda real: real[:, None, None, :].float()),
            "Your mask holds floating-point numbers. Which kind answers a question with yes or no?",
        ),
        Mistake(
            "whole_numbers",
            _shaped(lambda real: real[:, None, None, :].long()),
            "Your mask holds whole numbers. Which kind answers a question with yes or no?",
        ),
        Mistake(
            "minus_infinity",
            _shaped(lambda real: torch.zeros(real.shape).masked_fill(~real, float("-inf"))[:, None, None, :]),
            "You made a mask to be added to the scores. In this course a mask says yes or no: what does a comparison "
            "return?",
        ),
        Mistake(
            "larger_ids_only",
            _entries(lambda tokens, pad_id: tokens > pad_id),
            "Ids below pad_id are hidden too. Is smaller the same as padding?",
        ),
        Mistake(
            "two_axes",
            _shaped(lambda real: real),
            "The entries are right, but there are only two axes. What shape are the scores that the mask has to fit, "
            "and "
            "which axes are missing in between?",
            central=True,
        ),
        Mistake(
            "three_axes",
            _shaped(lambda real: real[:, None, :]),
            "The entries are right, but an axis is missing: (batch, 1, length). Did you leave out the heads or the "
            "queries?",
        ),
        Mistake(
            "axes_at_the_end",
            _shaped(lambda real: real[:, :, None, None]),
            "Your axes of size 1 come last, so the length ends up where the heads belong. Which axis of the scores "
            "holds the "
            "keys?",
        ),
        Mistake(
            "hides_queries",
            _shaped(lambda real: real[:, None, :, None]),
            "Your mask hides queries, not keys: padding may not look, but it is still looked at. Which axis of the "
            "scores is "
            "the axis of the keys?",
            central=True,
        ),
        Mistake(
            "axes_in_front",
            _shaped(lambda real: real[None, None]),
            "Your axes of size 1 come first, so the batch ends up where the queries belong. Which axis comes first "
            "in the "
            "scores?",
        ),
        Mistake(
            "whole_square",
            _shaped(lambda real: (real[:, None, :] & real[:, :, None])[:, None]),
            "You hide padding as a query too, in a whole square. How many rows does the docstring ask for, and what "
            "becomes "
            "of a row with everything hidden?",
        ),
        Mistake(
            "expanded_to_a_square",
            _shaped(lambda real: real[:, None, None, :].expand(-1, -1, real.shape[1], -1)),
            "You wrote the same row out once for each query. Which size stands for all queries at once?",
        ),
        Mistake(
            "counted_from_the_left",
            _entries(_lengths),
            "You count the real tokens and show that many from the left. What if there is padding in the middle, as "
            "before a "
            "CLS token?",
        ),
        Mistake(
            "up_to_the_first",
            _entries(_up_to_the_first),
            "You hide everything after the first padding, real tokens included. What if a CLS token comes after it?",
        ),
        Mistake(
            "squeezed",
            _shaped(lambda real: real.squeeze()[..., None, None, :]),
            "Axes of length one disappear. Is a batch of one row still a batch?",
        ),
        Mistake(
            "tokens_changed",
            _marked,
            "The mask is right, but the caller's tokens were overwritten on the way. Can't a comparison do without "
            "that?",
        ),
    ),
    variants={
        "unsqueezed twice": lambda tokens, pad_id=0: tokens.ne(pad_id).unsqueeze(1).unsqueeze(2),
        "not equal, turned round": lambda tokens, pad_id=0: ~(tokens == pad_id)[:, None, None],
        "reshape": lambda tokens, pad_id=0: (tokens != pad_id).reshape(len(tokens), 1, 1, -1),
        "difference as a truth": lambda tokens, pad_id=0: (tokens - pad_id).bool().view(-1, 1, 1, tokens.size(1)),
        "token by token": _looped,
        "filled": _filled,
        "isin": lambda tokens, pad_id=0: torch.isin(tokens, torch.tensor([pad_id]), invert=True)[:, None, None, :],
    },
)

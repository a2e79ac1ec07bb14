"""`causal_mask` and `decoder_mask`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.causal import causal_mask, decoder_mask
from grader.authoring.aspects import USUAL, dtype, shape, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_04.drawing import draw_tokens, ragged, turned


def _lengths(generator: np.random.Generator) -> list[Case]:
    few, more = sorted(dims(generator, 2, 4, 9))
    return [
        Case(f"with {few} positions", {"length": few}, USUAL),
        Case(f"with {more} positions", {"length": more}, USUAL),
        Case("with three positions", {"length": 3}, USUAL),
        Case("with two positions", {"length": 2}, frozenset({"short"})),
        Case("with a single position", {"length": 1}, frozenset({"short"})),
        Case("with forty positions", {"length": 40}, frozenset({"long"})),
    ]


def _ones(length: int) -> torch.Tensor:
    return torch.ones(length, length, dtype=torch.bool)


def _by_loop(length: int) -> torch.Tensor:
    return torch.tensor([[j <= i for j in range(length)] for i in range(length)])


def _in_floats(length: int) -> torch.Tensor:
    return torch.zeros(length, length).masked_fill(_ones(length).triu(1), float("-inf"))


def _filled(length: int) -> torch.Tensor:
    mask = torch.zeros(length, length, dtype=torch.bool)
    rows, columns = torch.tril_indices(length, length)
    mask[rows, columns] = True
    return mask


CAUSAL_MASK = Exercise(
    symbol="causal_mask",
    points=2,
    cases=_lengths,
    references=(causal_mask,),
    aspects=(
        shape(),
        values(),
        special("one and two positions", "short", meaning="The mask is right even for one or two positions."),
        special("many positions", "long", meaning="The mask is right for a long row too."),
        dtype("booleans", 2.0, "The entries are True and False."),
    ),
    mistakes=(
        Mistake(
            "future_kept",
            lambda length: _ones(length).triu(),
            "Your mask shows the future and hides the past: it is the right one, mirrored. Which side of the "
            "diagonal do you keep?",
            central=True,
        ),
        Mistake(
            "inverted",
            lambda length: _ones(length).triu(1),
            "True and False are the wrong way round: your mask says what is hidden. What does True mean in this "
            "course?",
            central=True,
        ),
        Mistake(
            "own_position_hidden",
            lambda length: _ones(length).tril(-1),
            "No position sees itself, and the first one sees nothing at all. Is the diagonal where you think it is?",
            central=True,
        ),
        Mistake(
            "one_step_too_far",
            lambda length: _ones(length).tril(1),
            "Each position also sees the one right after it, and that is the token it has to say. Is the diagonal "
            "where you think it is?",
            central=True,
        ),
        Mistake(
            "everything_allowed",
            _ones,
            "Every position sees every other. What takes the future away?",
        ),
        Mistake(
            "itself_alone",
            lambda length: torch.eye(length, dtype=torch.bool),
            "Each position sees itself and nothing else. What about the past?",
        ),
        Mistake(
            "one_step_back",
            lambda length: _ones(length).tril().triu(-1),
            "Each position sees itself and the one before it, and nothing further back. How far back does the past "
            "reach?",
        ),
        Mistake(
            "floats",
            lambda length: torch.ones(length, length).tril(),
            "The pattern is right, but the entries are floats. A mask answers a yes-or-no question: which dtype is "
            "made for that?",
        ),
        Mistake(
            "whole_numbers",
            lambda length: torch.ones(length, length, dtype=torch.long).tril(),
            "The pattern is right, but the entries are whole numbers, and with those ~1 is -2. A mask answers a "
            "yes-or-no question: which dtype is made for that?",
        ),
        Mistake(
            "numbers_to_add",
            _in_floats,
            "Your mask holds 0 and minus infinity, to be added to the scores. In this course a mask holds True and "
            "False. Where should it say True?",
        ),
        Mistake(
            "axes_in_front",
            lambda length: _ones(length).tril()[None, None],
            "The pattern is right, but there are two axes too many. What shape does the docstring ask for?",
        ),
        Mistake(
            "one_row",
            lambda length: _ones(length).tril()[-1],
            "You return a single row. How many positions do the looking?",
        ),
        Mistake(
            "lists",
            lambda length: _by_loop(length).tolist(),
            "You return lists. What turns them into a tensor?",
        ),
    ),
    variants={
        "comparison of positions": lambda length: torch.arange(length)[:, None] >= torch.arange(length),
        "not the upper triangle": lambda length: ~torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1),
        "nested lists": _by_loop,
        "turned into booleans": lambda length: torch.tril(torch.ones((length, length))).bool(),
        "compared with zero": lambda length: torch.triu(torch.ones(length, length), diagonal=1) == 0,
        "from NumPy": lambda length: torch.from_numpy(np.tri(length, dtype=bool)),
        "running sum": lambda length: torch.eye(length).cumsum(dim=0) > 0,
        "by indices": _filled,
    },
)


def _targets(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, **others: Any) -> dict[str, Any]:
        return {"targets": draw_tokens(generator, ragged(generator, batch, length), length, 9), **others}

    batch, length = dims(generator, 2, 3, 7)
    other, long = dims(generator, 2, 3, 7)
    pad_id = int(generator.integers(2, 8))
    renamed = draw_tokens(generator, ragged(generator, batch, length), length, 9, pad_id)
    renamed[:, 0] = 0  # a real token
    front = draw(batch, length)["targets"].flip(1)
    gap = draw_tokens(generator, [length] * batch, length, 9)
    gap[0, 1], gap[1, 0] = 0, 0
    return [
        Case("with rows of different lengths", draw(batch, length), USUAL),
        Case("with another batch", draw(other, long), USUAL),
        Case("with as many rows as tokens", draw(4, 4), USUAL),
        Case("with padding on the left", {"targets": front}, frozenset({"anywhere"})),
        Case("with padding between tokens", {"targets": gap}, frozenset({"anywhere"})),
        Case("where pad_id is not 0, and 0 is a token", {"targets": renamed, "pad_id": pad_id}, frozenset({"pad_id"})),
        Case("on a batch of one", draw(1, length), frozenset({"one"})),
        Case("with rows of one token", draw(batch, 1), frozenset({"one"})),
        Case(
            "with a row that is all padding",
            {"targets": draw_tokens(generator, [length, 0, 1], length, 9)},
            frozenset({"empty"}),
        ),
        Case("with targets that are not contiguous", {"targets": turned(draw(batch, length)["targets"])}, USUAL),
    ]


def _joined(join: Callable[[torch.Tensor, torch.Tensor], Any]) -> Callable[..., Any]:
    """A mask made of what is no padding, (batch, length), and the lower triangle, (length, length)."""
    return lambda targets, pad_id=0: join(targets != pad_id, _ones(targets.shape[1]).tril())


def _by_rows(targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    masks = []
    for row in targets.tolist():
        n = len(row)
        masks.append([[[j <= i and row[j] != pad_id for j in range(n)] for i in range(n)]])
    return torch.tensor(masks)


def _first_kept(real: torch.Tensor, lower: torch.Tensor) -> torch.Tensor:
    mask = real[:, None, None, :] & lower
    mask[..., 0] = True
    return mask


def _multiplied(real: torch.Tensor, lower: torch.Tensor) -> torch.Tensor:
    return (real.float()[:, None, None, :] * lower.float()).bool()


def _expanded(real: torch.Tensor, lower: torch.Tensor) -> torch.Tensor:
    batch, length = real.shape
    mask = lower.expand(batch, 1, length, length).clone()
    return mask.masked_fill_(~real.view(batch, 1, 1, length), False)


DECODER_MASK = Exercise(
    symbol="decoder_mask",
    points=2,
    cases=_targets,
    references=(decoder_mask,),
    aspects=(
        shape(),
        values(),
        special("padding anywhere in a row", "anywhere"),
        special("another pad_id", "pad_id"),
        special("a batch of one, a row of one", "one"),
        special("a row that is all padding", "empty", meaning="A row of nothing but padding gets the right mask too."),
        dtype("booleans", 2.0, "The entries are True and False."),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "either_is_enough",
            _joined(lambda real, lower: real[:, None, None, :] | lower),
            "A token is seen if it is in the past or if it is real, so real tokens of the future stay visible. Is "
            "one of the two enough, or do you need both?",
            central=True,
        ),
        Mistake(
            "causal_alone",
            _joined(lambda real, lower: lower.expand(len(real), 1, -1, -1)),
            "The future is hidden, the padding is not. What else should nobody look at?",
            central=True,
        ),
        Mistake(
            "padding_alone",
            _joined(lambda real, lower: real[:, None, None, :].expand(-1, 1, len(lower), -1)),
            "The padding is hidden, the future is not. Which mask do you still need?",
            central=True,
        ),
        Mistake(
            "padding_asks_nothing",
            _joined(lambda real, lower: real[:, None, :, None] & lower),
            "You hid the rows of the padding tokens, not their columns: who looks, instead of who is looked at. "
            "Which axis are the keys on?",
        ),
        Mistake(
            "rows_and_columns_of_padding",
            _joined(lambda real, lower: real[:, None, None, :] & real[:, None, :, None] & lower),
            "You emptied the rows of the padding tokens as well. According to the docstring, what decides entry [b, "
            "0, i, j]: token i or token j?",
        ),
        Mistake(
            "padding_inverted",
            _joined(lambda real, lower: ~real[:, None, None, :] & lower),
            "Your mask shows the padding and hides the real tokens. What does True mean?",
        ),
        Mistake(
            "future_kept",
            _joined(lambda real, lower: real[:, None, None, :] & lower.mT),
            "Your mask shows the future and hides the past. Which side of the diagonal do you keep?",
            central=True,
        ),
        Mistake(
            "own_position_hidden",
            _joined(lambda real, lower: real[:, None, None, :] & lower.tril(-1)),
            "No position sees itself. Does the diagonal belong to the past or to the future?",
        ),
        Mistake(
            "inverted",
            _joined(lambda real, lower: ~(real[:, None, None, :] & lower)),
            "True and False are the wrong way round: your mask says what is hidden. What does True mean?",
        ),
        Mistake(
            "head_axis_missing",
            _joined(lambda real, lower: real[:, None, :] & lower),
            "The mask is right, but it has no axis for the heads. Over which axis should it broadcast?",
        ),
        Mistake(
            "batch_in_the_place_of_the_heads",
            _joined(lambda real, lower: (real[:, None, :] & lower)[None]),
            "The axes of the batch and the heads have changed places. Which of the two comes first?",
        ),
        Mistake(
            "first_token_always_open",
            _joined(_first_kept),
            "You always show the first token, even where it is padding, perhaps to avoid empty rows. Attention can "
            "deal with those (see lesson 3). What does the docstring say about entry [b, 0, i, j]?",
        ),
        Mistake(
            "pad_id_is_zero",
            lambda targets, pad_id=0: decoder_mask(targets),
            "You hide id 0, whatever pad_id says. Where do you pass pad_id on?",
        ),
        Mistake(
            "floats",
            _joined(lambda real, lower: (real[:, None, None, :] & lower).float()),
            "The pattern is right, but the entries are floats. A mask answers a yes-or-no question: which dtype is "
            "made for that?",
        ),
        Mistake(
            "rows_cut_at_the_first_padding",
            _joined(lambda real, lower: real.cumprod(dim=1).bool()[:, None, None, :] & lower),
            "You hide everything after the first padding token, real tokens included. Which tokens does the "
            "docstring hide?",
        ),
    ),
    variants={
        "broadcast": _joined(lambda real, lower: real[:, None, None, :] & lower),
        "unsqueezed one by one": _joined(lambda real, lower: real.unsqueeze(1).unsqueeze(2) & lower[None, None]),
        "logical_and": _joined(lambda real, lower: torch.logical_and(real.unsqueeze(1), lower).unsqueeze(1)),
        "a product": _joined(_multiplied),
        "a product of booleans": _joined(lambda real, lower: real[:, None, None] * lower),
        "row by row": _by_rows,
        "filled in": _joined(_expanded),
        "minimum": _joined(lambda real, lower: torch.minimum(real[:, None, None, :], lower)),
        "torch.where": _joined(lambda real, lower: torch.where(lower, real[:, None, None, :], False)),
    },
)

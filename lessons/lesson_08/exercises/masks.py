"""`create_padding_mask` and `create_masks`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course.paper.masks import create_masks, create_padding_mask
from grader.authoring.aspects import USUAL, special, untouched, values
from grader.authoring.catalogue import exercise_of
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.lesson_03 import padding_mask
from lessons.lesson_04.drawing import draw_tokens, ragged, turned

# The same contract as lesson 3's mask, written once more under the paper's name.
_LESSON_3S = exercise_of(padding_mask.TRIAL, Path(padding_mask.__file__))
CREATE_PADDING_MASK = replace(
    _LESSON_3S, symbol="create_padding_mask", references=(create_padding_mask,), honest={}, wrong={}, equivalents={}
)


def _batches(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, source_length: int, target_length: int) -> dict[str, Any]:
        return {
            "source": draw_tokens(generator, ragged(generator, batch, source_length), source_length, 12),
            "target_input": draw_tokens(generator, ragged(generator, batch, target_length), target_length, 9),
        }

    batch, source_length, target_length = dims(generator, 3, 3, 8)
    other = draw(source_length, target_length, batch)
    gaps = draw(batch, source_length, target_length)
    gaps["source"][:, 1] = 0
    gaps["target_input"] = draw_tokens(generator, [target_length] * batch, target_length, 9)
    gaps["target_input"][0, 1], gaps["target_input"][1, 0] = 0, 0
    empty = draw(3, source_length, target_length)
    empty["source"][1], empty["target_input"][2] = 0, 0
    strided = draw(batch, source_length, target_length)
    return [
        Case("with rows of different lengths", draw(batch, source_length, target_length), USUAL),
        Case("with other sizes", other, USUAL),
        Case("where source and target are equally long", draw(batch, source_length, source_length), USUAL),
        Case("where all sizes are equal", draw(4, 4, 4), USUAL),
        Case("with padding between tokens", gaps, tagged("anywhere")),
        Case("on a batch of one", draw(1, source_length, target_length), tagged("one")),
        Case("with a single target token", draw(batch, source_length, 1), tagged("one")),
        Case("with rows that are all padding", empty, tagged("empty")),
        Case("with tensors that are not contiguous", {name: turned(ids) for name, ids in strided.items()}, USUAL),
    ]


def _made(
    of_source: Callable[[torch.Tensor], Any], of_target: Callable[[torch.Tensor, torch.Tensor], Any]
) -> Callable[..., Any]:
    """Both masks, from what is no padding, (batch, length), and the lower triangle, (length, length)."""

    def make(source: torch.Tensor, target_input: torch.Tensor) -> Any:
        length = target_input.shape[1]
        lower = torch.ones(length, length, dtype=torch.bool).tril()
        return of_source(source != 0), of_target(target_input != 0, lower)

    return make


def _keys(real: torch.Tensor) -> torch.Tensor:
    return real[:, None, None, :]


def _both(real: torch.Tensor, lower: torch.Tensor) -> torch.Tensor:
    return _keys(real) & lower


def _target(join: Callable[[torch.Tensor, torch.Tensor], Any]) -> Callable[..., Any]:
    return _made(_keys, join)


def _by_rows(source: torch.Tensor, target_input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows = target_input.tolist()
    target = [[[[j <= i and row[j] != 0 for j in range(len(row))] for i in range(len(row))]] for row in rows]
    return torch.tensor([[[[one != 0 for one in row]]] for row in source.tolist()]), torch.tensor(target)


CREATE_MASKS = Exercise(
    symbol="create_masks",
    points=2,
    cases=_batches,
    references=(create_masks,),
    aspects=(
        Aspect(
            "two masks, each of its shape",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a pair: (batch, 1, 1, source_length) and (batch, 1, target_length, target_length).",
        ),
        values(),
        special("padding anywhere in a row", "anywhere", meaning="Padding between real tokens is hidden too."),
        special(
            "a batch of one, a single target token",
            "one",
            meaning="A batch of one and a target of a single token give the right masks too.",
        ),
        special("rows that are all padding", "empty", meaning="A row of nothing but padding is hidden as a whole."),
        Aspect("booleans", kinds=frozenset({"dtype"}), weight=2.0, meaning="The entries are True and False."),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "future_seen",
            _target(lambda real, lower: _keys(real).expand(-1, 1, len(lower), -1)),
            "The target's padding is hidden, its future is not: the decoder can read the answer. What is missing?",
            central=True,
        ),
        Mistake(
            "target_padding_seen",
            _target(lambda real, lower: lower.expand(len(real), 1, -1, -1)),
            "The future is hidden, the target's padding is not. What else should nobody look at?",
            central=True,
        ),
        Mistake(
            "either_is_enough",
            _target(lambda real, lower: _keys(real) | lower),
            "A target token is seen if it is real or in the past. Is one of the two enough, or do you need both?",
            central=True,
        ),
        Mistake(
            "past_hidden",
            _target(lambda real, lower: _keys(real) & lower.mT),
            "Your target mask shows the future and hides the past. Which side of the diagonal do you keep?",
            central=True,
        ),
        Mistake(
            "own_position_hidden",
            _target(lambda real, lower: _keys(real) & lower.tril(-1)),
            "No target token sees itself, and the first one sees nothing. Does the diagonal belong to the past?",
        ),
        Mistake(
            "one_step_too_far",
            _target(lambda real, lower: _keys(real) & torch.ones_like(lower).tril(1)),
            "Each target token also sees the one after it, which is the one it has to say. Is the diagonal where you "
            "think it is?",
            central=True,
        ),
        Mistake(
            "inverted",
            _made(lambda real: ~_keys(real), lambda real, lower: ~_both(real, lower)),
            "True and False are the wrong way round in both masks, as PyTorch's own layers want them. What does True "
            "mean in this course?",
            central=True,
        ),
        Mistake(
            "source_inverted",
            _made(lambda real: ~_keys(real), _both),
            "The source mask shows padding and hides real tokens. What does True mean?",
            central=True,
        ),
        Mistake(
            "rows_of_padding_emptied",
            _target(lambda real, lower: _both(real, lower) & real[:, None, :, None]),
            "You emptied the rows of the target's padding too. Which should be hidden: tokens that look, or tokens "
            "that are looked at?",
        ),
        Mistake(
            "source_causal_too",
            _made(lambda real: _both(real, torch.ones(real.shape[1], real.shape[1]).bool().tril()), _both),
            "Your source mask hides the future as well. Who in the encoder mustn't read ahead, and why?",
        ),
        Mistake(
            "source_as_square",
            _made(lambda real: _keys(real).expand(-1, 1, real.shape[1], -1), _both),
            "Your source mask has a row for every source token. The cross-attention uses it too, with as many queries "
            "as there are target tokens: which size fits both?",
        ),
        Mistake(
            "swapped",
            lambda source, target_input: create_masks(source, target_input)[::-1],
            "Both masks are right, but they come in the wrong order. Which one is first?",
        ),
        Mistake(
            "sides_mixed_up",
            lambda source, target_input: create_masks(target_input, source),
            "You made the source's mask from the target, and the other way round. Which of the two is causal?",
        ),
        Mistake(
            "no_axis_for_the_heads",
            _made(lambda real: real[:, None, :], lambda real, lower: real[:, None, :] & lower),
            "The entries are right, but the axis for the heads is missing. How many axes do the scores have?",
        ),
        Mistake(
            "floats",
            _made(lambda real: _keys(real).float(), lambda real, lower: _both(real, lower).float()),
            "The entries are right, but they are floating-point numbers. Which dtype holds yes and no?",
        ),
        Mistake(
            "target_alone",
            lambda source, target_input: create_masks(source, target_input)[1],
            "You return one mask. Who hides the padding of the source?",
        ),
    ),
    variants={
        "together": lambda source, target_input: (
            create_padding_mask(source),
            create_padding_mask(target_input)
            & torch.ones(target_input.shape[1], target_input.shape[1], dtype=torch.bool).tril(),
        ),
        "token by token": _by_rows,
        "positions compared": _target(
            lambda real, lower: (torch.arange(len(lower))[:, None] >= torch.arange(len(lower))) & _keys(real)
        ),
        "as a list": lambda source, target_input: list(create_masks(source, target_input)),
        "not the upper triangle": _target(lambda real, lower: _keys(real) & ~torch.ones_like(lower).triu(1)),
        "a product": _target(lambda real, lower: _keys(real) * lower),
    },
)

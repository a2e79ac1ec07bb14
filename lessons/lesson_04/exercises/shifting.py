"""`shift_right`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.sequences import shift_right
from grader.authoring.aspects import USUAL, dtype, shape, special, untouched, values
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_04.exercises.drawing import draw_tokens, ragged


def _rows(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, start_id: int) -> dict[str, Any]:
        # Real ids from 2 on, and a start id beyond them: nothing can be taken for anything else.
        targets = draw_tokens(generator, ragged(generator, batch, length), length, 9)
        return {"targets": torch.where(targets > 0, targets + 1, 0), "start_id": start_id}

    batch, length = dims(generator, 2, 3, 7)
    other, wide = dims(generator, 2, 3, 7)
    apart = draw(batch, length, 13)
    return [
        Case("with rows of different lengths", draw(batch, length, int(generator.integers(12, 20))), USUAL),
        Case("with other rows", draw(other, wide, int(generator.integers(20, 30))), USUAL),
        Case("with as many rows as columns", draw(4, 4, 11), USUAL),
        Case("where start_id is 1", draw(batch, length, 1), frozenset({"start"})),
        Case("where start_id is 0, as padding is", draw(batch, length, 0), frozenset({"start"})),
        Case("on a batch of one", draw(1, length, 12), frozenset({"one"})),
        Case("with rows of a single token", draw(batch, 1, 12), frozenset({"single"})),
        Case("with targets that are not contiguous", {**apart, "targets": strided(apart["targets"])}, USUAL),
    ]


def _in_place(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = start_id
    return targets


def _overwritten(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    shifted = targets.clone()
    for i in range(1, targets.shape[1]):
        shifted[:, i] = shifted[:, i - 1]
    shifted[:, 0] = start_id
    return shifted


def _rolled(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    shifted = targets.roll(1, dims=1)
    shifted[:, 0] = start_id
    return shifted


def _filled(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    shifted = torch.full_like(targets, start_id)
    shifted[:, 1:] = targets[:, :-1]
    return shifted


def _start(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    return torch.full((targets.shape[0], 1), start_id)


def _in_floats(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    shifted = torch.zeros(targets.shape)
    shifted[:, 0] = start_id
    shifted[:, 1:] = targets[:, :-1]
    return shifted


def _padding_kept_off(targets: torch.Tensor, start_id: int) -> torch.Tensor:
    shifted = _filled(targets, start_id)
    return torch.where(targets == 0, 0, shifted)


SHIFT_RIGHT = Exercise(
    symbol="shift_right",
    points=1,
    cases=_rows,
    references=(shift_right,),
    aspects=(
        shape(),
        values(),
        special(
            "any start_id", "start", meaning="Each row begins with the start_id that is passed in, whatever it is."
        ),
        special("a batch of one", "one"),
        special("rows of a single token", "single", meaning="Rows of a single token give the right result too."),
        dtype(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "rolled_round",
            lambda targets, start_id: targets.roll(1, dims=1),
            "Your rows are rotated: the last token has come round to the front. What should the decoder be shown "
            "before it has written anything?",
            central=True,
        ),
        Mistake(
            "nothing_dropped",
            lambda targets, start_id: torch.cat([_start(targets, start_id), targets], dim=1),
            "Your rows are one token too long. Is anything left to write after the last target token, so that the "
            "decoder would need to read it?",
        ),
        Mistake(
            "shifted_left",
            lambda targets, start_id: torch.cat([targets[:, 1:], _start(targets, start_id)], dim=1),
            "Your rows have moved to the left. At position 0 the decoder has to predict the first token: should it "
            "already be reading the second one there?",
            central=True,
        ),
        Mistake(
            "not_shifted",
            lambda targets, start_id: torch.cat([_start(targets, start_id), targets[:, 1:]], dim=1),
            "You replaced the first token and left the others where they were, so each position shows the very token "
            "that it has to predict. Where should they be?",
            central=True,
        ),
        Mistake(
            "targets_returned",
            lambda targets, start_id: targets.clone(),
            "You return the targets unchanged, so each position shows the very token that it has to predict. What "
            "should the decoder read instead?",
            central=True,
        ),
        Mistake(
            "start_forgotten",
            lambda targets, start_id: F.pad(targets, (1, 0))[:, :-1],
            "Every row begins with a 0, whatever start_id is. Which number belongs there?",
        ),
        Mistake(
            "start_is_one",
            lambda targets, start_id: F.pad(targets, (1, 0), value=1)[:, :-1],
            "Every row begins with a 1, whatever start_id is. Which number belongs there?",
        ),
        Mistake(
            "rows_shifted",
            lambda targets, start_id: torch.cat([torch.full_like(targets[:1], start_id), targets[:-1]]),
            "You moved whole rows down by one, so each row is shown its neighbour's tokens. Along which axis do the "
            "tokens of a row lie?",
        ),
        Mistake(
            "rolled_as_one_row",
            lambda targets, start_id: torch.cat([torch.tensor([start_id]), targets.flatten()[:-1]]).view(targets.shape),
            "Only the first row begins with the start token; each of the others begins with the last token of the "
            "row above. How many rows need a start token?",
        ),
        Mistake(
            "first_row_only",
            lambda targets, start_id: _filled(targets[:1], start_id),
            "Only the first row came back. What happened to the others?",
        ),
        Mistake(
            "padding_where_the_target_has_some",
            _padding_kept_off,
            "Wherever the target is padding you put padding, so a shorter row loses its last real token. Does "
            "anything have to happen besides the shift?",
        ),
        Mistake(
            "overwritten_on_the_way",
            _overwritten,
            "One token has spread over the whole row: each position was filled from a neighbour that had already "
            "been overwritten. Which tensor should you read from?",
        ),
        Mistake(
            "floats_made",
            _in_floats,
            "The numbers are right, but they are floats now, and an embedding only accepts integers. Which line "
            "creates the new tensor, and with what dtype?",
        ),
        Mistake(
            "in_place",
            _in_place,
            "The result is right, but you shifted the caller's targets too, and the loss still needs them. How do "
            "you make a new tensor?",
        ),
    ),
    variants={
        "roll a copy": _rolled,
        "fill and copy": _filled,
        "cat with full": lambda targets, start_id: torch.cat([_start(targets, start_id), targets[:, :-1]], dim=1),
        "pad": lambda targets, start_id: F.pad(targets, (1, 0), value=start_id)[:, :-1],
        "pad with minus one": lambda targets, start_id: F.pad(targets, (1, -1), value=start_id),
        "lists": lambda targets, start_id: torch.tensor([[start_id, *row[:-1]] for row in targets.tolist()]),
        "hstack": lambda targets, start_id: torch.hstack([targets.new_full((len(targets), 1), start_id), targets])[
            :, : targets.size(1)
        ],
    },
)

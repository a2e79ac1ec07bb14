"""`masks_are_sound`, the bug clinic: does every token see what it should, and nothing else?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.paper.masks import masks_are_sound
from grader.authoring.aspects import tells_apart
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_08.exercises.patients import Masks, maker

Make = Callable[[torch.Tensor, torch.Tensor], Masks]

# (how the masks are made, tag, words for the learner)
_TRIED = [
    ("plain", "sound", "with the masks of this lesson"),
    ("for each head", "sound", "with masks that were expanded and cut again"),
    ("rows of padding open", "sound", "with masks in which padding may look anywhere"),
    ("rows of padding empty", "sound", "with masks in which padding sees nothing"),
    ("the future alone", "sound", "with a target mask that hides the future, and so the padding behind it"),
    ("no future hidden", "future", "with a target mask that hides only padding"),
    ("one token ahead", "future", "with a target mask that lets each token see the next one"),
    ("past hidden", "past", "with a target mask that hides the past"),
    ("without itself", "past", "with a target mask in which no token sees itself"),
    ("one step back only", "past", "with a target mask that reaches back a single step"),
    ("source padding seen", "padding", "with a source mask that hides nothing"),
    ("another pad_id", "padding", "with a source mask that takes another id for padding"),
    ("first row's padding for all", "padding", "with the padding of the first row in every row"),
    ("a source token hidden", "padding", "with a source mask that hides a real token"),
    ("both inverted", "inverted", "with both masks inverted"),
    ("source inverted", "inverted", "with an inverted source mask"),
    ("target inverted", "inverted", "with an inverted target mask"),
    ("no axis for heads", "form", "with masks that have no axis for the heads"),
    ("square source mask", "form", "with a source mask that doesn't fit the cross-attention"),
    ("swapped", "form", "with the two masks swapped"),
    ("whole numbers", "form", "with masks of whole numbers"),
]


def _makers(generator: np.random.Generator) -> list[Case]:
    another_id = int(generator.integers(1, 100))
    return [Case(label, {}, frozenset({tag}), partial(maker, name, another_id)) for name, tag, label in _TRIED]


SOURCE = [[5, 3, 8, 0, 0], [4, 0, 0, 0, 0], [9, 2, 1, 6, 7]]
TARGET = [[1, 6, 4, 2], [1, 7, 0, 0], [1, 3, 5, 0]]


def _asked(
    check: Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Any],
    source: list[list[int]] = SOURCE,
    target: list[list[int]] = TARGET,
) -> Callable[[Make], bool]:
    """A test that looks at the masks of one batch: check(source, target, source_mask, target_mask). Masks that can't
    be looked at are broken."""

    def test(make_masks: Make) -> bool:
        some, other = torch.tensor(source), torch.tensor(target)
        try:
            return bool(check(some, other, *make_masks(some, other)))
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            return False

    return test


def _wanted_source(source: torch.Tensor) -> torch.Tensor:
    return (source != 0)[:, None, None, :]


def _wanted_target(target: torch.Tensor) -> torch.Tensor:
    return (target != 0)[:, None, None, :] & torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()


def _on_real(mask: torch.Tensor, wanted: torch.Tensor, asking: torch.Tensor) -> bool:
    shape = (len(asking), 2, asking.shape[1], wanted.shape[-1])
    seen, right = (one.broadcast_to(shape).transpose(1, 2)[asking] for one in (mask, wanted))
    return mask.dtype == torch.bool and bool((seen == right).all())


def _source_ok(source: torch.Tensor, target: torch.Tensor, mask: torch.Tensor) -> bool:
    wanted = _wanted_source(source)
    return _on_real(mask, wanted, source != 0) and _on_real(mask, wanted, target != 0)


def _all_of_it(
    source: torch.Tensor, target: torch.Tensor, source_mask: torch.Tensor, target_mask: torch.Tensor
) -> bool:
    return _source_ok(source, target, source_mask) and _on_real(target_mask, _wanted_target(target), target != 0)


def _row_by_row(
    source: torch.Tensor, target: torch.Tensor, source_mask: torch.Tensor, target_mask: torch.Tensor
) -> bool:
    """Looks at one number at a time."""
    if source_mask.dtype != torch.bool or target_mask.dtype != torch.bool:
        return False
    (batch, width), length = source.shape, target.shape[1]
    for queries, mask in ((width, source_mask), (length, source_mask)):
        spread = mask.expand(batch, 2, queries, width)
        real = source if queries == width else target
        for b in range(batch):
            for i in range(queries):
                for j in range(width):
                    if real[b, i] and bool(spread[b, 1, i, j]) != bool(source[b, j]):
                        return False
    spread = target_mask.expand(batch, 2, length, length)
    return all(
        bool(spread[b, 0, i, j]) == (j <= i and bool(target[b, j]))
        for b in range(batch)
        for i in range(length)
        for j in range(length)
        if target[b, i]
    )


MASKS_ARE_SOUND = Exercise(
    symbol="masks_are_sound",
    points=2,
    cases=_makers,
    references=(masks_are_sound,),
    aspects=tells_apart(
        sound="sound masks pass",
        future="a glimpse of the future is found",
        past="a hidden past is found",
        padding="padding in the wrong place is found",
        inverted="inverted masks are found",
        form="masks that don't fit are found",
        meanings={
            "sound": "Masks that let every real token see what it should pass, whatever padding sees.",
            "future": "Masks that let a token see a later one are broken.",
            "past": "Masks that hide what a token should see of its past are broken.",
            "padding": "Source masks that show padding or hide a real token are broken.",
            "inverted": "In this course True means: may attend.",
            "form": "Masks must be booleans that broadcast to (batch, heads, queries, keys).",
        },
    ),
    mistakes=(
        Mistake(
            "always_sound",
            lambda make_masks: True,
            "Your test says True whatever it is shown. What would a broken mask do that a sound one doesn't?",
            central=True,
        ),
        Mistake(
            "never_sound",
            lambda make_masks: False,
            "Your test says False whatever it is shown, to sound masks too. What do those get right?",
            central=True,
        ),
        Mistake(
            "source_alone",
            _asked(lambda s, t, source_mask, target_mask: _source_ok(s, t, source_mask)),
            "You look at the source mask alone. What may go wrong in the other one?",
            central=True,
        ),
        Mistake(
            "target_alone",
            _asked(lambda s, t, source_mask, target_mask: _on_real(target_mask, _wanted_target(t), t != 0)),
            "You look at the target mask alone. What may go wrong in the other one?",
            central=True,
        ),
        Mistake(
            "padding_queries_too",
            _asked(
                lambda s, t, source_mask, target_mask: (
                    _source_ok(s, t, source_mask)
                    and target_mask.dtype == torch.bool
                    and torch.equal(target_mask.expand(len(t), 1, -1, -1), _wanted_target(t))
                )
            ),
            "You also refuse masks that differ only in what padding sees. Does anybody read what comes of that?",
        ),
        Mistake(
            "no_padding_in_the_test",
            _asked(_all_of_it, [[5, 3, 8, 4, 2], [4, 9, 9, 3, 5]], [[1, 6, 4, 2], [1, 7, 3, 5]]),
            "There is no padding in the batch that you try, so nothing can be wrong with it. What should your rows "
            "look like?",
            central=True,
        ),
        Mistake(
            "shapes_alone",
            _asked(
                lambda s, t, source_mask, target_mask: (
                    source_mask.dtype == target_mask.dtype == torch.bool
                    and source_mask.shape == (len(s), 1, 1, s.shape[1])
                    and target_mask.shape[-2:] == (t.shape[1], t.shape[1])
                )
            ),
            "You look at shapes and dtypes, and never at what the masks say. Which entries should be True?",
            central=True,
        ),
        Mistake(
            "encoder_forgotten",
            _asked(
                lambda s, t, source_mask, target_mask: (
                    source_mask.dtype == torch.bool
                    and torch.equal(source_mask.reshape(len(s), -1)[:, : s.shape[1]], s != 0)
                    and _on_real(target_mask, _wanted_target(t), t != 0)
                )
            ),
            "You compare the source mask's numbers, but not the shape they come in: one that fits the encoder alone, "
            "or has no axis for the heads, gets past you. What must it broadcast to?",
        ),
        Mistake(
            "first_row_alone",
            _asked(_all_of_it, SOURCE[:1], TARGET[:1]),
            "You try a batch of one row. Which mistakes can only be seen with several rows?",
        ),
        Mistake(
            "dtype_forgotten",
            _asked(lambda s, t, source_mask, target_mask: _all_of_it(s, t, source_mask.bool(), target_mask.bool())),
            "Masks of whole numbers get past you. Which dtype should they have, and what would ~ do to them?",
        ),
    ),
    variants={
        "all at once": _asked(_all_of_it),
        "number by number": _asked(_row_by_row),
        "on a batch of its own": _asked(
            _all_of_it,
            [[7, 0, 0, 0], [2, 9, 0, 0], [4, 4, 4, 4], [3, 6, 5, 0]],
            [[1, 5, 2, 0, 0], [1, 8, 3, 7, 2], [1, 2, 0, 0, 0], [1, 9, 9, 2, 0]],
        ),
    },
)

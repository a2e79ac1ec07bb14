"""`targets_are_next`, the bug clinic: is every target the token that follows its input?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.language_model.batches import targets_are_next
from grader.authoring.aspects import special, tells_apart
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_11.exercises.patients import maker

# (patient, tag, words for the learner)
_TRIED = [
    ("windows", "sound", "with sound batches"),
    ("a single row", "sound", "with sound batches of a single row"),
    ("pairs", "sound", "with sound batches whose inputs are single tokens from anywhere in the text"),
    ("backwards", "sound", "with sound batches whose rows run from right to left, inputs and targets alike"),
    ("columns", "sound", "with sound batches of one token a row"),
    ("not shifted", "shift", "with targets that are the inputs themselves"),
    ("two ahead", "shift", "with targets two tokens ahead"),
    ("one behind", "shift", "with targets one token behind"),
    ("shifted twice", "shift", "with targets that were shifted twice"),
    ("rows exchanged", "mixed", "with the targets of another row"),
    ("sides exchanged", "mixed", "with inputs and targets exchanged"),
    ("shuffled", "mixed", "with windows of a shuffled text"),
    ("last target", "corner", "with a wrong last target in every row"),
    ("first target", "corner", "with a wrong first target in every row"),
    ("last row", "corner", "with a last row that isn't shifted"),
    ("padded", "corner", "with a zero for the last target of each row"),
    ("now and then", "rare", "with targets that are wrong in one batch of ten"),
    ("wraps", "rare", "with a window beyond the end of the text, in one batch of ten"),
]


def _makers(generator: np.random.Generator) -> list[Case]:
    ids = torch.from_numpy(generator.permutation(np.arange(10, 30))[:15])
    return [Case(label, {"ids": ids}, frozenset({tag}), partial(maker, name)) for name, tag, label in _TRIED]


Look = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Any]


def _followers(ids: torch.Tensor) -> dict[int, int]:
    return dict(zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True))


def _right(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    follows = _followers(ids)
    return [follows.get(i) for i in inputs.flatten().tolist()] == targets.flatten().tolist()


def _test(look: Look = _right, times: int = 100) -> Callable[..., Any]:
    """A test that looks at so many batches."""

    def test(make_batch: Any, ids: torch.Tensor) -> Any:
        generator = torch.Generator().manual_seed(5)
        return all(look(ids, *make_batch(ids, generator)) for _ in range(times))

    return test


def _within(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    """Compares the batch with itself, not with the text."""
    return torch.equal(inputs[:, 1:], targets[:, :-1])


def _last_alone(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    return _right(ids, inputs[:, -1], targets[:, -1])


def _first_alone(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    return _right(ids, inputs[:, 0], targets[:, 0])


def _first_row(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    return _right(ids, inputs[0], targets[0])


def _any_target(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    follows = _followers(ids)
    pairs = zip(inputs.flatten().tolist(), targets.flatten().tolist(), strict=True)
    return any(follows.get(i) == t for i, t in pairs)


def _different(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    return not torch.equal(inputs, targets)


def _windows_alone(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    """Wants rows that are windows of the text."""
    n = inputs.shape[1]
    starts = [(ids == row[0]).nonzero()[0, 0] for row in inputs]
    return all(
        torch.equal(ids[s : s + n], row) and torch.equal(ids[s + 1 : s + n + 1], told)
        for s, row, told in zip(starts, inputs, targets, strict=True)
    )


def _wrapping(ids: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor) -> bool:
    follows = dict(zip(ids.tolist(), ids.roll(-1).tolist(), strict=True))
    return [follows.get(i) for i in inputs.flatten().tolist()] == targets.flatten().tolist()


def _by_places(make_batch: Any, ids: torch.Tensor) -> bool:
    """A table of places, and all batches put together."""
    places = torch.full((int(ids.max()) + 1,), -9)
    places[ids] = torch.arange(len(ids))
    generator = torch.Generator()
    batches = [make_batch(ids, generator) for _ in range(120)]
    return all(
        inputs.shape == targets.shape and bool(((places[targets] - places[inputs]) == 1).all())
        for inputs, targets in batches
    )


def _on_a_text_of_its_own(make_batch: Any, ids: torch.Tensor) -> bool:
    """A text of 0, 1, 2, ...: what follows is one more."""
    text, generator = torch.arange(1, 40), torch.Generator().manual_seed(1)
    return all(
        torch.equal(inputs + 1, targets) for inputs, targets in (make_batch(text, generator) for _ in range(300))
    )


def _pair_by_pair(make_batch: Any, ids: torch.Tensor) -> bool:
    known = set(zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True))
    generator = torch.Generator().manual_seed(2)
    for _ in range(150):
        inputs, targets = make_batch(ids, generator)
        for row, told in zip(inputs.tolist(), targets.tolist(), strict=True):
            if not set(zip(row, told, strict=True)) <= known:
                return False
    return True


TARGETS_ARE_NEXT = Exercise(
    symbol="targets_are_next",
    points=2,
    cases=_makers,
    references=(targets_are_next,),
    aspects=(
        *tells_apart(
            sound="sound batches pass",
            shift="targets shifted by the wrong amount are found",
            mixed="targets of something else are found",
            corner="a fault in one row or at one position is found",
            meanings={
                "sound": "A batch is sound when each target follows its own input in the text; inputs needn't stand "
                "side by side.",
                "shift": "Targets that aren't shifted, or are shifted too far or the wrong way, are broken.",
                "mixed": "Targets that belong to other inputs are broken.",
                "corner": "One wrong target in a row, or one wrong row, is enough.",
            },
        ),
        special(
            "a fault in one batch of ten is found",
            "rare",
            3.0,
            meaning="A single batch may be sound by luck: it takes many.",
        ),
    ),
    mistakes=(
        Mistake(
            "always_true",
            lambda make_batch, ids: True,
            "Your test says True whatever it is shown. What would a wrong target look like?",
            central=True,
        ),
        Mistake(
            "always_false",
            lambda make_batch, ids: False,
            "Your test says False whatever it is shown, to sound batches too. Ids are names, and the next one needn't "
            "be one more. Where do you look up what follows a token?",
            central=True,
        ),
        Mistake(
            "compares_the_batch_with_itself",
            _test(_within),
            "You compare the inputs with the targets of the same batch, so nobody looks at the last target, and inputs "
            "from all over the text look broken. Where can you look up what follows a token?",
            central=True,
        ),
        Mistake(
            "looks_at_the_last_target_alone",
            _test(_last_alone),
            "You look at the last target of each row alone. How many targets has a row?",
        ),
        Mistake(
            "looks_at_the_first_target_alone",
            _test(_first_alone),
            "You look at the first target of each row alone. How many targets has a row?",
        ),
        Mistake(
            "looks_at_the_first_row_alone",
            _test(_first_row),
            "You look at the first row alone. What may be wrong in the others?",
        ),
        Mistake(
            "one_right_target_is_enough",
            _test(_any_target),
            "One right target is enough for you. How many must be right?",
            central=True,
        ),
        Mistake(
            "different_is_enough",
            _test(_different),
            "You only ask whether targets differ from inputs. Which other wrong targets are there?",
            central=True,
        ),
        Mistake(
            "a_single_batch",
            _test(times=1),
            "You look at a single batch, or at the same one again and again. A fault that shows in one batch of ten "
            "gets past you: how many does the docstring ask for, and where is the generator made?",
        ),
        Mistake(
            "windows_only",
            _test(_windows_alone),
            "You also refuse sound batches whose rows aren't windows of the text. What does the docstring ask of a "
            "target?",
        ),
        Mistake(
            "the_text_as_a_ring",
            _test(_wrapping),
            "You let the first token follow the last one. What follows the last token of a text?",
        ),
    ),
    variants={
        "a dict of followers": _test(),
        "places": _by_places,
        "on a text of its own": _on_a_text_of_its_own,
        "pair by pair": _pair_by_pair,
    },
)

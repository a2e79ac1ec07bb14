"""What the two clinics share: cases for the models of `patients`, and a number said in words."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, Case, Observation, tagged
from transformer_course.lessons.lesson_04.drawing import as_number
from transformer_course.lessons.lesson_04.patients import writer

_NOTHING = 1e-10  # below the mean square of what any of the models moves
HIGHEST = 11
KNOWN = tagged("how far")
RISE = 0.75
"""The largest rise in one of the cases of `KNOWN`, in which another logit falls by more. It is found in no other."""
RISE_ALONE = "You found a logit that rises, and not the one that falls further. What makes both directions count?"
AMOUNT = "how_far_the_logits_move"
MODES = ("train", "eval")  # each model in both: the mode tells nothing about it


class Draw:
    """Draws what one model of `patients` is tried on.

    The side whose tokens a test changes, one after the other, is the shortest: each change is another call.
    """

    def __init__(self, generator: np.random.Generator, changed: str) -> None:
        self.generator, self.changed = generator, changed

    def __call__(
        self,
        model: str,
        batch: int | None = None,
        row: int = 1,
        place: int = 1,
        at: int = 1,
        length: int | None = None,
        mode: str | None = None,
        dtype: torch.dtype = torch.float32,
        padded: bool = False,
        last_id: bool = False,
        of_target: bool = False,
        token: int | None = None,
    ) -> dict[str, Any]:
        """In one row, `place` moves the logit `at`. With `last_id` the ids end where the vocabulary ends.

        `token` is put at that place of the side that is read, and stands nowhere else in the row.
        """
        shortest, rows, other = sorted(dims(self.generator, 3, 4, 6))
        rows = batch or rows
        vocab_size = int(self.generator.choice([17, 19]))  # ids that a test may try although it has not seen them
        sizes = dict.fromkeys(("source", "target_input"), other) | {self.changed: length or shortest}
        source_length, target_length = sizes.values()
        row, at = row % rows, at % target_length
        tokens = {name: self._tokens(rows, size, row, place % size) for name, size in sizes.items()}
        if last_id:
            tokens = {name: ids + vocab_size - 1 - HIGHEST for name, ids in tokens.items()}
        if token is not None:
            read = "target_input" if of_target else "source"
            ids, at_place = tokens[read][row], place % sizes[read]
            ids[ids == token] = ids[at_place].clone()  # nowhere else in the row
            ids[at_place] = token
        if padded:
            tokens["source"][0, 2:], tokens["target_input"][-1, -1] = 0, 0
        case = {
            "model": model,
            **tokens,
            "table": self._table(vocab_size, dtype),
            "row": row,
            "place": place % (target_length if of_target else source_length),
            "at": at,
            "symbol": int(self.generator.integers(1, vocab_size)),
        }
        return case if mode is None else {**case, "mode": mode}

    def _tokens(self, rows: int, length: int, row: int, place: int) -> torch.Tensor:
        """Rows without repetition, the highest id at one place, no column with one id twice.

        The highest id is a prime: no step from id to id brings a row's tokens back in another order.
        """
        ids = self.generator.permutation(np.arange(2, HIGHEST))
        ids = np.insert(ids, (row + place) % (len(ids) + 1), HIGHEST)
        steps = np.arange(rows)[:, None] + np.arange(length)
        return torch.from_numpy(ids[steps % len(ids)])

    def _table(self, vocab_size: int, dtype: torch.dtype) -> torch.Tensor:
        """A token's logits are a whole number apart from each other: a small move changes no answer."""
        rows = [self.generator.permutation(vocab_size) + 0.375 * i for i in range(vocab_size)]
        return torch.from_numpy(np.stack(rows)).to(dtype)


def tried(label: str, drawn: dict[str, Any], about: Aspect | frozenset[str]) -> Case:
    """The case in which a test is tried on the model drawn; of that, the test gets to see what it is asked about.

    `about` is the aspect that looks at the case, or the case's tags.
    """
    told = {name: value for name, value in drawn.items() if name in ("source", "target_input", "mode")}
    tags = about.tags if isinstance(about, Aspect) else about
    return Case(label, told, tags, partial(writer, drawn))


def in_words(name: str) -> Callable[[Observation, Case], Observation]:
    """Whether the number under "output" is 0, in words, under `name`: which ids a test tries is left to it.

    In the cases of `KNOWN` no id makes a difference, and the number itself is compared, as `AMOUNT`.
    """

    def canonical(observation: Observation, case: Case) -> Observation:
        others = {key: value for key, value in observation.items() if key != "output"}
        number = as_number(observation["output"])
        if case.tags & KNOWN and isinstance(number, float) and math.isclose(number, RISE, rel_tol=1e-4):
            number = RISE_ALONE
        return {AMOUNT: number, **others} if case.tags & KNOWN else {name: _in_words(number), **others}

    return canonical


def _in_words(number: Any) -> Any:
    if not isinstance(number, float):
        return number
    if math.isnan(number):
        return "NaN"
    if number < -_NOTHING:
        return "below 0"
    return "above 0" if number > _NOTHING else "0"

"""Two open exercises: questions that are harder to answer, and a verdict on whoever answers them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from transformer_course.numpy_transformer import tasks
from transformer_course.numpy_transformer.fitting import Loss, fit, greedy, logits_of, right
from transformer_course.numpy_transformer.walking import prepared, weights_of

SUM_LENGTH = 7
"""Tokens of a sum of two numbers of up to three digits: `417+058`."""
PLUS = 12  # the digit d has the id d + 1, as everywhere; 11 is the end, 13 the start


@dataclass(frozen=True)
class Part:
    """Some of the questions: what a model's `forward` reads, what it should say, and the group of each question."""

    inputs: tuple[np.ndarray, ...]
    targets: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)


Parts = tuple[Part, Part, Part]


@dataclass(frozen=True)
class Challenge:
    """An open exercise. No question is in two of its three parts."""

    train: Part
    validation: Part
    test: Part
    vocab_size: int
    max_length: int
    goal: float
    """The share of right answers that is asked for."""
    marks: tuple[int, int] | None = None
    """Where answers are written token by token: the ids with which they start and end."""

    def answered(self, model: Any, part: Part) -> np.ndarray:
        """Which questions a model answers, from the first token to the last: booleans (n,)."""
        if self.marks is None:
            return right(logits_of(model, *part.inputs), part.targets)
        written = greedy(model, part.inputs[0], *self.marks, part.targets.shape[1])
        whole: np.ndarray = ((written == part.targets) | (part.targets == 0)).all(axis=1)
        return whole

    def score(self, model: Any, part: Part | None = None) -> pd.Series:
        """The share of right answers to the validation questions, or to another part: in all, and group by group."""
        part = self.validation if part is None else part
        good = self.answered(model, part)
        shares = {str(group): float(good[part.groups == group].mean()) for group in np.unique(part.groups)}
        return pd.Series({"all": float(good.mean()), **shares}, name="share right")

    def shortcut(self) -> float:
        """The share of right answers for whoever reads the operation alone, and gives its most common answer."""
        seen = Counter(zip(self.train.inputs[0][:, 0].tolist(), map(tuple, self._wanted(self.train)), strict=True))
        best = {operation: answer for (operation, answer), _ in reversed(seen.most_common())}
        asked = zip(self.validation.inputs[0][:, 0].tolist(), map(tuple, self._wanted(self.validation)), strict=True)
        return float(np.mean([best.get(operation) == wanted for operation, wanted in asked]))

    @staticmethod
    def _wanted(part: Part) -> list[list[int]]:
        rows: list[list[int]] = part.targets.reshape(len(part), -1).tolist()
        return rows

    def verdict(self, model: Any) -> pd.DataFrame:
        """Whether a model got there. The test questions are opened only for one that does on the validation ones."""
        shares = {"validation": self.score(model)}
        share = shares["validation"]["all"]
        if share < self.goal:
            print(f"Not yet: {share:.1%} of the validation questions. The goal is {self.goal:.0%}.")
        else:
            shares["test"] = self.score(model, self.test)
            share = shares["test"]["all"]
            start = "You got there" if share >= self.goal else "Nearly, but not on questions that nobody chose by"
            print(f"{start}: {share:.1%} of {len(self.test)} test questions. The goal is {self.goal:.0%}.")
        print(f"Somebody who reads only the first token gets {self.shortcut():.0%}.")
        return pd.DataFrame(shares).round(3)


def _split(inputs: tuple[np.ndarray, ...], targets: np.ndarray, groups: Iterable[Any], train: int) -> Parts:
    """The first `train` rows, the next 500, and all others: rows are different, and come in random order."""
    names = np.array(list(groups))

    def part(rows: slice) -> Part:
        return Part(tuple(each[rows] for each in inputs), targets[rows], names[rows])

    return part(slice(0, train)), part(slice(train, train + 500)), part(slice(train + 500, None))


def nested(seed: int = 0, train: int = 12000) -> Challenge:
    """max ( first ( 2 8 1 ) 5 3 ): eleven tokens, one answer. Groups: the outer operation."""
    tokens, answers = tasks.nested_questions(seed, train + 1000)
    parts = _split((tokens,), answers, (tasks.SYMBOLS[row[0]] for row in tokens), train)
    return Challenge(*parts, vocab_size=tasks.VOCAB_SIZE, max_length=11, goal=0.95)


def sums(seed: int = 0, train: int = 8000) -> Challenge:
    """417+058 is 475, written from its last digit to its first: 5, 7, 4, end. Groups: how many digits are carried."""
    generator = random.Random(seed)
    chosen: dict[tuple[int, int], None] = {}  # in the order in which they were drawn
    while len(chosen) < train + 1000:
        chosen[generator.randrange(1000), generator.randrange(1000)] = None
    source = np.zeros((len(chosen), SUM_LENGTH), dtype=int)
    targets = np.zeros((len(chosen), 5), dtype=int)
    carries = []
    for row, (first, second) in enumerate(chosen):
        source[row] = [PLUS if sign == "+" else int(sign) + 1 for sign in f"{first:03}+{second:03}"]
        written = [int(digit) + 1 for digit in reversed(str(first + second))]
        targets[row, : len(written) + 1] = [*written, 11]
        carries.append(sum((first % ten + second % ten) >= ten for ten in (10, 100, 1000)))
    read = tasks.shifted(targets, 13)
    groups = (f"{number} carried" for number in carries)
    return Challenge(
        *_split((source, read), targets, groups, train), vocab_size=14, max_length=7, goal=0.95, marks=(13, 11)
    )


def taught(
    challenge: Challenge,
    model: Any,
    loss_function: Loss,
    optimiser: Callable[[Sequence[np.ndarray], float], Any],
    epochs: Sequence[int],
    rates: Sequence[float],
    batch_size: int = 32,
) -> Any:
    """The model, after so many epochs with the challenge's training questions; each stretch has its learning rate."""
    for number, rate in zip(epochs, rates, strict=True):
        fit(
            model,
            challenge.train.inputs,
            challenge.train.targets,
            loss_function=loss_function,
            optimizer=optimiser(list(weights_of(model).values()), rate),
            epochs=number,
            batch_size=batch_size,
        )
    return model


def fresh(challenge: Challenge, kind: Any, d_model: int = 32, num_layers: int = 1, seed: int = 0, **more: Any) -> Any:
    """A model of the right size for a challenge: `kind` is `Reader`, with `parts=`, or `Transformer`."""
    sizes = (challenge.vocab_size, challenge.max_length, d_model, 4, 4 * d_model, num_layers)
    return prepared(kind(*sizes, **more), seed)

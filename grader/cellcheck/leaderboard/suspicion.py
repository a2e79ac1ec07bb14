"""Is it a model? Its weights are changed, and a model answers accordingly.

A program that has the answer some other way, behind the face of a model, gives itself away: it still answers with
weights that mean nothing, or it no longer does when each weight moves by a ten-thousandth, since it recognised them.

All is asked in fresh processes, about what the entry got right and at every size: the next token of an answer, at
places and in an order drawn by chance. The same questions are asked first with the weights as they are. So an entry
that remembers what it was asked, or behaves itself only while it looks like an examination, fails there.

What this can't tell is in docs/limits.md.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cellcheck.leaderboard.entries import shared
from cellcheck.leaderboard.entry_files import EntryRefused

ROWS, STEPS = 6, 4
"""Of each size, so many answers are looked at, each at so many places."""
REDRAWN = 2
"""How often the weights are shuffled."""
NOISE = 1e-4
"""Relative to each weight: far less than training leaves undecided, far more than rounding."""
CONSISTENT, SHAKEN = 0.9, 0.5
"""The least share of questions that is answered as before: with the same weights, and with noise on them."""
Ask = Callable[[Mapping[str, np.ndarray]], float]


@dataclass(frozen=True)
class NextTokenQuestion:
    """What comes next? Row by row: a source, what has been written so far, and the token that follows."""

    source: np.ndarray
    written: np.ndarray
    expected: np.ndarray


def questions(
    right: Mapping[int, tuple[np.ndarray, np.ndarray]], start_id: int, secret: random.Random
) -> list[NextTokenQuestion]:
    """Questions about answers that were right, (source, target) by size, in no order."""
    drawn = []
    for source, target in right.values():
        chosen = secret.sample(range(len(source)), min(ROWS, len(source)))
        lengths = (target != 0).sum(axis=1)
        if not chosen:
            continue
        longest = int(lengths[chosen].max())
        for step in secret.sample(range(longest), min(STEPS, longest)):
            there = [row for row in chosen if lengths[row] > step]
            written = np.concatenate([np.full((len(there), 1), start_id), target[there, :step]], axis=1)
            drawn.append(NextTokenQuestion(source[there], written, target[there, step]))
    secret.shuffle(drawn)
    return drawn


def share_right(
    questions: Sequence[NextTokenQuestion], logits: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> float:
    """The share of rows whose next token is the expected one; `logits(source, written)` asks."""
    right = sum(
        int((logits(question.source, question.written).argmax(axis=1) == question.expected).sum())
        for question in questions
    )
    return right / sum(len(question.expected) for question in questions)


def look_at(
    weights: Mapping[str, np.ndarray], questions: Sequence[NextTokenQuestion], ask: Ask, secret: random.Random
) -> None:
    """Asks the questions with the weights as they are, with noise on them, and shuffled.

    `ask(weights)` gives the share that is answered as before, by a fresh process.

    Raises:
        Refused: when a model would have answered otherwise.
    """
    if not questions:  # it got nothing right, so there is nothing to explain
        return
    if ask(weights) < CONSISTENT:
        raise EntryRefused(
            "The same question gets another answer in another order: keep nothing from one call of the model to the "
            "next."
        )
    generator = np.random.default_rng(secret.getrandbits(64))
    if ask(_each(weights, lambda array: _noisy(array, generator))) < SHAKEN:
        raise EntryRefused(
            "It loses its answers when its weights move by a ten-thousandth: a model's answers survive that. "
            "Does it recognise its weights?"
        )
    shares = []
    for _ in range(REDRAWN):
        try:
            shares.append(ask(_each(weights, generator.permutation)))
        except EntryRefused:  # nonsense in, and an error or NaN out: that is no answer either
            shares.append(0.0)
    if sum(shares) / REDRAWN > _by_luck(questions):
        raise EntryRefused(
            "It still answers after its weights have been shuffled: its answers come from its code, not from training."
        )


def _by_luck(questions: Sequence[NextTokenQuestion]) -> float:
    """More than this is no luck: half-way from always giving the most common answer to giving the right one."""
    expected = Counter(int(token) for question in questions for token in question.expected)
    return (1 + max(expected.values()) / expected.total()) / 2


def _each(weights: Mapping[str, np.ndarray], change: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    """The weights, changed; what several layers share stays shared."""
    changed = dict(weights)
    for names in shared(weights):
        array = weights[names[0]]
        if array.dtype.kind == "f":
            new = change(array.ravel()).reshape(array.shape).astype(array.dtype)
            changed |= dict.fromkeys(names, new)
    return changed


def _noisy(array: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    moved: np.ndarray = array * (1 + NOISE * generator.standard_normal(array.shape))
    return moved

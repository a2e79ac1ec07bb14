"""Scoring one entry: trained here or taken as handed in, then asked for the answers to hidden problems.

Answers are generated one token at a time by the contest's own code, in this process. The entry's process is a proxy for
the model: it gets ids and returns logits. So the model can write nothing but the most likely next token, and it never
sees a right answer.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cellcheck.authoring.arrays import as_tensor
from cellcheck.authoring.contest import Contest, Notation, Problem
from cellcheck.leaderboard import suspicion
from cellcheck.leaderboard.entries import ContestEntry, count
from cellcheck.leaderboard.entry_files import EntryRefused
from cellcheck.leaderboard.sitting import Sitting, sitting
from cellcheck.running.setting import Setting

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Outcome:
    """What came of an entry."""

    name: str
    trained: bool = False
    """Whether the engine trained it, so that nothing but the contest's own problems went in."""
    right: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """By size: how many hidden problems it got completely right, and of how many."""
    parameters: int = 0
    training_seconds: float = 0.0
    answering_seconds: float = 0.0
    refused: str = ""
    """Why it has no place; empty for one that has."""
    digest: str = ""
    """Of the entry that was scored."""

    @property
    def score(self) -> float:
        """The mean, over the sizes, of the share that it got right."""
        shares = [right / of for right, of in self.right.values()]
        return sum(shares) / len(shares) if shares else 0.0


@dataclass(frozen=True)
class Names:
    """What ids are called while one entry is scored: `renamed[id]` is its name."""

    renamed: np.ndarray

    @classmethod
    def of(cls, notation: Notation, secret: random.Random | None) -> Names:
        """With a secret, the ids that may be interchanged are; without one, each keeps its own."""
        renamed = np.arange(notation.vocab_size)
        if secret is not None:
            ids = list(notation.interchangeable)
            renamed[ids] = secret.sample(ids, len(ids))
        return cls(renamed)


def hidden_problems(contest: Contest, seed: int) -> dict[int, list[Problem]]:
    """The hidden problems by size: the same for all entries of a run."""
    return {
        size: contest.draw(random.Random(f"{seed} hidden {size}"), size, number)
        for size, number in contest.hidden.items()
    }


def rows(problems: Sequence[Problem], notation: Notation, names: Names) -> tuple[np.ndarray, np.ndarray]:
    """Source and target of all problems, each padded on the right to the longest."""
    written = [notation.write(problem) for problem in problems]
    return _padded([source for source, _ in written], names), _padded([target for _, target in written], names)


def _padded(lists: Sequence[Sequence[int]], names: Names) -> np.ndarray:
    padded = np.zeros((len(lists), max(map(len, lists))), np.int64)
    for row, ids in zip(padded, lists, strict=True):
        row[: len(ids)] = names.renamed[list(ids)]
    return padded


def score(entry: ContestEntry, contest: Contest, setting: Setting, seed: int) -> Outcome:
    """Scores one entry. Whatever is wrong with it is in the outcome.

    Raises:
        GraderError: when no process for it can be started.
    """
    trained = entry.weights is None
    try:
        return _scored(entry, contest, setting, seed, trained)
    except EntryRefused as refused:
        return Outcome(entry.name, trained, refused=str(refused), digest=entry.digest)


def _scored(entry: ContestEntry, contest: Contest, setting: Setting, seed: int, trained: bool) -> Outcome:
    allowance, start = contest.allowance, random.Random(f"{seed} start").getrandbits(32)
    training_seconds = 0.0
    if entry.weights is None:
        with sitting(contest, setting, entry, allowance.training_seconds) as learning:
            notation = _notation(contest, learning.asks())
            names = Names.of(notation, random.Random(f"{seed} names {entry.digest}"))
            learning.make(start)
            learning.learn(_Practice(contest, notation, names, seed).draw, start)
            weights = learning.weights()
            training_seconds = learning.used()
    else:
        weights = dict(entry.weights)
    with sitting(contest, setting, entry, allowance.answering_seconds) as answering:
        if not trained:
            notation = _notation(contest, answering.asks())
            names = Names.of(notation, None)
        answering.make(start)
        answering.load(weights)
        examined = {size: rows(problems, notation, names) for size, problems in hidden_problems(contest, seed).items()}
        correct = {
            size: _correct(answering, source, target, contest, notation) for size, (source, target) in examined.items()
        }
        answering_seconds = answering.used()
    right_rows = {size: (source[correct[size]], target[correct[size]]) for size, (source, target) in examined.items()}
    secret = random.Random(f"{seed} suspicion {entry.digest}")
    questions = suspicion.questions(right_rows, notation.start_id, secret)

    def ask(changed: Mapping[str, np.ndarray]) -> float:
        with sitting(contest, setting, entry, allowance.answering_seconds) as suspected:
            suspected.make(start)
            suspected.load(changed)
            return suspicion.share_right(questions, lambda s, w: suspected.logits(s, w, notation))

    suspicion.look_at(weights, questions, ask, secret)
    return Outcome(
        entry.name,
        trained,
        {size: (int(of_size.sum()), len(of_size)) for size, of_size in correct.items()},
        count(weights),
        training_seconds,
        answering_seconds,
        digest=entry.digest,
    )


def _notation(contest: Contest, asked: Mapping[str, Any]) -> Notation:
    try:
        return contest.notation(asked)
    except ValueError as error:
        raise EntryRefused(str(error)) from None


def _correct(
    answering: Sitting, source: np.ndarray, target: np.ndarray, contest: Contest, notation: Notation
) -> np.ndarray:
    """Which rows are answered without any mistake, end included."""

    def model(source: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        logits = answering.logits(source.numpy(), written.numpy(), notation)
        return as_tensor(logits).unsqueeze(1)  # (batch, 1, vocab_size): generation looks at the last position only

    ids = contest.decode(model, as_tensor(source), notation.start_id, notation.end_id, target.shape[1])
    written = np.zeros_like(target)
    written[:, : ids.shape[1]] = ids.numpy()
    return np.asarray((written == target).all(axis=1))


@dataclass
class _Practice:
    """The problems that an entry may train on, drawn when it asks for them."""

    contest: Contest
    notation: Notation
    names: Names
    seed: int

    def __post_init__(self) -> None:
        self._generator = random.Random(f"{self.seed} practice")

    def draw(self, count: Any) -> dict[str, np.ndarray]:
        """Rows of so many problems."""
        most = self.contest.allowance.drawn
        if not isinstance(count, int) or not 1 <= count <= most:
            raise ValueError(f"draw(count) gives 1 to {most} problems at a time")
        problems = self.contest.practise(self._generator, count)
        source, target = rows(problems, self.notation, self.names)
        return {"source": source, "target": target}

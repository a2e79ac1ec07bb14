"""All answers that a toy model can give, with their probabilities: what searching and sampling are compared with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import torch

from transformer_course.lessons.lesson_07.drawing import Task

Ids = tuple[int, ...]
Score = Callable[["Ids", float], float]


@dataclass(frozen=True)
class Tree:
    """What a model says about one source: for each prefix, log-probabilities of what may follow it."""

    follows: dict[Ids, dict[int, float]]
    logits: torch.Tensor
    """As the model gives them, (beginnings, vocab_size), in the order of `follows`."""
    end_id: int
    max_length: int

    def answers(self) -> dict[Ids, float]:
        """Every answer, ended or cut, with its log-probability."""
        return self._answers

    @cached_property
    def _answers(self) -> dict[Ids, float]:
        ended: dict[Ids, float] = {}
        reached: dict[Ids, float] = {(): 0.0}
        for _ in range(self.max_length):
            longer: dict[Ids, float] = {}
            for ids, total in reached.items():
                for token, log_probability in self.follows[ids].items():
                    there = ended if token == self.end_id else longer
                    there[(*ids, token)] = total + log_probability
            reached = longer
        return ended | reached

    def best(self, score: Score = lambda ids, total: total) -> Ids:
        """The answer with the highest score."""
        answers = self.answers()
        return max(answers, key=lambda ids: score(ids, answers[ids]))

    def at(self, temperature: float) -> "Tree":
        """What the model says at this temperature."""
        tempered = {}
        for ids, after in self.follows.items():
            logs = torch.tensor([*after.values()], dtype=torch.float64) / temperature
            tempered[ids] = dict(zip(after, logs.log_softmax(-1).tolist(), strict=True))
        return replace(self, follows=tempered, logits=self.logits / temperature)

    def greedy(self) -> Ids:
        """Always the most likely token."""
        return self.search(1)[0]

    def search(
        self, width: int, penalty: float = 0.0, aside: bool = True, refilled: bool = False, scored: bool = False
    ) -> tuple[Ids, float]:
        """Beam search, and how clear its closest decision was.

        aside: what ends leaves the beam; else it keeps its place there. refilled: beginnings that end leave their
        place to others. scored: the beam is chosen by score, not by sum.
        """

        def score(entry: tuple[Ids, float]) -> float:
            return entry[1] / float(len(entry[0]) ** penalty)

        alive: list[tuple[Ids, float]] = [((), 0.0)]
        finished: list[tuple[Ids, float]] = []
        closest = 99.0
        for _ in range(self.max_length):
            standing = [entry for entry in alive if entry[0][-1:] == (self.end_id,)]
            continued = standing + [
                ((*ids, token), total + more)
                for ids, total in alive
                if (ids, total) not in standing
                for token, more in self.follows[ids].items()
            ]
            continued.sort(key=score if scored else lambda entry: entry[1], reverse=True)
            if refilled:
                finished += [entry for entry in continued[: 2 * width] if entry[0][-1] == self.end_id]
                continued = [entry for entry in continued if entry[0][-1] != self.end_id]
            if len(continued) > width:
                closest = min(closest, continued[width - 1][1] - continued[width][1])
            alive = continued[:width]
            if aside:
                finished += [entry for entry in alive if entry[0][-1] == self.end_id]
                alive = [entry for entry in alive if entry[0][-1] != self.end_id]
            if not alive:
                break
        last = sorted(finished + alive, key=score, reverse=True)
        if len(last) > 1:
            closest = min(closest, score(last[0]) - score(last[1]))
        return last[0][0], abs(closest)

    def agreed(self, answer: Ids, width: int, penalty: float = 0.0) -> bool:
        """Whether every sensible kind of beam search finds this answer."""
        others = (
            self.search(width, penalty, aside=False),
            self.search(width, penalty, refilled=True),
            self.search(width, penalty, aside=False, scored=True),
        )
        return all(other == answer for other, _ in others)


def trees(task: Task) -> list[Tree]:
    """One for each source of the task."""
    model = task.model()
    written = [i for i, bias in enumerate(task.tables["bias"].tolist()) if bias == 0]
    letters = [i for i in written if i != task.end_id]
    beginnings = [ids for length in range(task.max_length) for ids in product(letters, repeat=length)]
    width = task.max_length
    targets = torch.tensor([[task.start_id, *ids, *[0] * (width - 1 - len(ids))] for ids in beginnings])
    count = len(beginnings)
    with torch.no_grad():
        logits = model(task.source.repeat_interleave(count, 0), targets.repeat(len(task.source), 1))
    places = torch.tensor([len(ids) for ids in beginnings])
    last = logits.double().unflatten(0, (-1, count))[:, torch.arange(count), places]
    tables = last.log_softmax(-1)[:, :, written].tolist()
    return [
        Tree(
            {ids: dict(zip(written, row, strict=True)) for ids, row in zip(beginnings, table, strict=True)},
            rows.float(),
            task.end_id,
            task.max_length,
        )
        for table, rows in zip(tables, last, strict=True)
    ]

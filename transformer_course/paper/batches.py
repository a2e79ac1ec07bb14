"""Batches of sentences of similar length, each of about the same number of tokens.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, section 5.1: "Sentence pairs were batched together by
approximate sequence length."
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import torch

from transformer_course.vocabulary import pad_sequences

Example = tuple[Sequence[int], Sequence[int]]
Batch = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Batches:
    """Examples in batches of at most `max_tokens` tokens, padding included, on either
    side.

    Every epoch has each example once. Which batches there are, and in which order they
    come, depends on `seed` and the number of the epoch alone: a run that goes on from a
    checkpoint sees the batches that it would have seen. With `by_length=False`
    sentences of all lengths are thrown together, to show what that costs.

    >>> examples = [([5] * n, [1, 6, 2]) for n in (9, 1, 8, 2)]
    >>> batches = Batches(examples, max_tokens=18, seed=0)
    >>> sorted(source.shape for source, _ in batches.epoch(0))
    [torch.Size([2, 2]), torch.Size([2, 9])]
    """

    examples: Sequence[Example]
    max_tokens: int
    seed: int = 0
    by_length: bool = True

    def rows(self, epoch: int) -> list[list[int]]:
        """The numbers of the examples in each batch of an epoch.

        Raises:
            ValueError: when an example alone has more than `max_tokens` tokens, or when
                there is none.
        """
        if not self.examples:
            raise ValueError("there are no examples to make batches of")
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        order: list[int] = torch.randperm(len(self.examples), generator=generator).tolist()
        if self.by_length:  # equal lengths stay in the random order: batches differ from epoch to epoch
            order.sort(key=lambda row: tuple(map(len, reversed(self.examples[row]))))
        batches: list[list[int]] = []
        widest = 0
        for row in order:
            width = max(map(len, self.examples[row]))
            if width > self.max_tokens:
                raise ValueError(f"example {row} has {width} tokens: no batch of {self.max_tokens} can hold it")
            if not batches or max(widest, width) * (len(batches[-1]) + 1) > self.max_tokens:
                batches.append([])
                widest = 0
            batches[-1].append(row)
            widest = max(widest, width)
        return [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]

    def epoch(self, number: int) -> Iterator[Batch]:
        """The batches of one epoch: source and target, padded on the right with id 0."""
        return (self._padded(rows) for rows in self.rows(number))

    def endless(self, done: int = 0) -> Iterator[Batch]:
        """One epoch after the other, without the first `done` batches."""
        for epoch in count():
            batches = self.rows(epoch)
            yield from (self._padded(rows) for rows in batches[done:])
            done = max(0, done - len(batches))

    def padding_share(self, epoch: int = 0) -> float:
        """The share of all places in an epoch's batches, on both sides, that hold
        padding.
        """
        places = real = 0
        for rows in self.rows(epoch):
            for side in (0, 1):
                lengths = [len(self.examples[row][side]) for row in rows]
                places += len(rows) * max(lengths)
                real += sum(lengths)
        return 1 - real / places

    def _padded(self, rows: Sequence[int]) -> Batch:
        sides: list[list[list[int]]] = [[list(self.examples[row][side]) for row in rows] for side in (0, 1)]
        source, target = (pad_sequences(side, max(map(len, side))) for side in sides)
        return source, target


def write_all(
    decode: Callable[[torch.Tensor], torch.Tensor],
    sources: Sequence[Sequence[int]],
    max_tokens: int = 4096,
) -> list[list[int]]:
    """Let `decode` write an answer to each source, in batches of similar length; in the
    order of the sources.

    `decode(source)` takes ids (batch, length) and returns ids (batch, columns). The
    answers are lists of ids, without padding.

    >>> write_all(lambda source: source * 2, [[3, 4], [5]])
    [[6, 8], [10]]
    """
    answers: dict[int, list[int]] = {}
    batches = Batches([(source, []) for source in sources], max_tokens)
    for rows in batches.rows(0):
        source = pad_sequences([list(sources[row]) for row in rows], max(len(sources[row]) for row in rows))
        for row, ids in zip(rows, decode(source).tolist(), strict=True):
            answers[row] = [one for one in ids if one != 0]
    return [answers[row] for row in range(len(sources))]

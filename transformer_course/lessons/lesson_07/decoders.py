"""Toy decoders, sound and broken: what `ends_each_sequence` is tried on."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from cellcheck.authoring.patients import Patient
from transformer_course.lessons.lesson_07.toy_answers import END

Model = Callable[[torch.Tensor], torch.Tensor]


def _lengths(ids: torch.Tensor) -> torch.Tensor:
    return (ids != 0).sum(dim=1)


def _row_by_row(model: Model, sources: torch.Tensor) -> torch.Tensor:
    rows = [model(source[None])[0] for source in sources]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def _goes_on(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """After its end a row goes on writing until the longest has ended."""
    ids = model(sources)
    return torch.where(ids == 0, 5, ids)


def _cut_short(model: Model, sources: torch.Tensor) -> torch.Tensor:
    ids = model(sources)
    return ids[:, : int(_lengths(ids).min())]


def _ends_lost(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """Rows that end before the last column lose their end token."""
    ids = model(sources)
    early = _lengths(ids) < ids.shape[1]
    return torch.where(early[:, None] & (ids == END), 0, ids)


def _by_length(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """Sorted by length for speed, and never put back."""
    ids = model(sources)
    return ids[_lengths(ids).argsort(descending=True, stable=True)]


def _last_row(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """Only the last row of a batch is wrong: one of its tokens is replaced."""
    ids = model(sources).clone()
    if len(ids) > 1:
        ids[-1, 0] = 2 + (ids[-1, 0] - 1) % 7
    return ids


def _first_row(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """Only row 0 of a batch is wrong: one of its tokens is replaced."""
    ids = model(sources).clone()
    if len(ids) > 1:
        ids[0, 0] = 2 + (ids[0, 0] - 1) % 7
    return ids


def _one_for_all(model: Model, sources: torch.Tensor) -> torch.Tensor:
    return model(sources[:1]).expand(len(sources), -1).contiguous()


def _large_batches(model: Model, sources: torch.Tensor) -> torch.Tensor:
    return _goes_on(model, sources) if len(sources) > 2 else model(sources)


def _other_branch(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """Only single rows are decoded; a larger batch gets its sources back."""
    return model(sources) if len(sources) == 1 else sources


def _one_too_many(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """A row that ends before others writes one token more."""
    ids = F.pad(model(sources), (0, 1))
    short = _lengths(ids) < _lengths(ids).max()
    place = _lengths(ids)[:, None] == torch.arange(ids.shape[1])
    return torch.where(short[:, None] & place, 4, ids)


def _without_ends(model: Model, sources: torch.Tensor) -> torch.Tensor:
    """It leaves out every end, alone as in a batch: not what you want, but the same both times."""
    ids = model(sources)
    return torch.where(ids == END, 0, ids)


# Each takes (model, sources) to ids (batch, columns). The drawn sources decide whether a broken one shows.
DECODERS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "padded": lambda model, sources: model(sources),
    "wide": lambda model, sources: F.pad(model(sources), (0, 1 + len(sources))),
    "row by row": _row_by_row,
    "of 32 bits": lambda model, sources: model(sources).int(),
    "without ends": _without_ends,
    "goes on": _goes_on,
    "cut short": _cut_short,
    "end repeated": lambda model, sources: torch.where(model(sources) == 0, END, model(sources)),
    "ends lost": _ends_lost,
    "by length": _by_length,
    "row before": lambda model, sources: model(sources).roll(1, dims=0),
    "last row": _last_row,
    "first row": _first_row,
    "one for all": _one_for_all,
    "large batches": _large_batches,
    "other branch": _other_branch,
    "one too many": _one_too_many,
}


def decoder(name: str) -> Patient:
    """The decoder of that name: sources, and what their model writes for all of them and for each row alone."""

    def decode(sources: torch.Tensor, together: torch.Tensor, alone: list[torch.Tensor]) -> torch.Tensor:
        if len(sources) != len(alone):
            raise ValueError("what is written for each row alone should be as many as there are rows")
        by_row = dict(zip(map(tuple, sources.tolist()), alone, strict=True))

        def model(asked: torch.Tensor) -> torch.Tensor:
            return together if torch.equal(asked, sources) else by_row[tuple(asked[0].tolist())]

        return DECODERS[name](model, sources)

    return Patient({"decode": decode})

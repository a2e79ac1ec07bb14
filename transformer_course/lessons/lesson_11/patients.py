"""What `targets_are_next` is tried on: ways to make batches, sound and broken."""

from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring.patients import Patient

LENGTH, ROWS = 4, 3
Batch = tuple[torch.Tensor, torch.Tensor]


def _starts(ids: torch.Tensor, generator: torch.Generator, most: int = 1, rows: int = ROWS) -> torch.Tensor:
    return torch.randint(len(ids) - LENGTH + 1 - most, (rows, 1), generator=generator)


def _window(ids: torch.Tensor, generator: torch.Generator, shift: int = 1, rows: int = ROWS) -> Batch:
    """Random windows; every target lies `shift` places ahead."""
    low, high = max(0, -shift), max(1, shift)
    places = _starts(ids, generator, high + low, rows) + low + torch.arange(LENGTH)
    return ids[places], ids[places + shift]


def _rarely(generator: torch.Generator, of_ten: int) -> bool:
    """In one batch of ten: for each `of_ten` in others, so that no single batch shows all such faults."""
    return int(torch.randint(10, (1,), generator=generator)) == of_ten


def _pairs(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """Single tokens from anywhere in the text, each with the one that follows."""
    places = torch.randint(len(ids) - 1, (ROWS, LENGTH), generator=generator)
    return ids[places], ids[places + 1]


def _backwards(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """Right, with the rows read from right to left."""
    inputs, targets = _window(ids, generator)
    return inputs.flip(1), targets.flip(1)


def _columns(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    inputs, targets = _window(ids, generator, rows=1)
    return inputs.T, targets.T


def _changed(change: Callable[[torch.Tensor, torch.Tensor], Batch]) -> Callable[..., Batch]:
    return lambda ids, generator: change(*_window(ids, generator))


def _twice(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """Shifted where the batch is made, and shifted again where it is used."""
    inputs, targets = _window(ids, generator)
    return inputs[:, :-1], targets[:, 1:]


def _last(inputs: torch.Tensor, targets: torch.Tensor) -> Batch:
    wrong = targets.clone()
    wrong[:, -1] = inputs[:, 0]
    return inputs, wrong


def _first(inputs: torch.Tensor, targets: torch.Tensor) -> Batch:
    wrong = targets.clone()
    wrong[:, 0] = inputs[:, 0]
    return inputs, wrong


def _middle(inputs: torch.Tensor, targets: torch.Tensor) -> Batch:
    """Neither the first target nor the last one."""
    wrong = targets.clone()
    wrong[:, 1] = inputs[:, 1]
    return inputs, wrong


def _last_row(inputs: torch.Tensor, targets: torch.Tensor) -> Batch:
    wrong = targets.clone()
    wrong[-1] = inputs[-1]
    return inputs, wrong


def _one_of_many(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """One wrong target among forty: the input itself."""
    inputs, targets = _window(ids, generator, rows=10)
    wrong = targets.clone().flatten()
    place = int(torch.randint(wrong.numel(), (1,), generator=generator))
    wrong[place] = inputs.flatten()[place]
    return inputs, wrong.view_as(targets)


def _one_inside(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """The same in neither the first row nor the last, and at neither end of one: who sees it isn't up to chance."""
    inputs, targets = _window(ids, generator, rows=10)
    row, place = (int(torch.randint(1, most, (1,), generator=generator)) for most in (9, LENGTH - 1))
    wrong = targets.clone()
    wrong[row, place] = inputs[row, place]
    return inputs, wrong


def _one_of_many_now_and_then(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """One wrong target among forty, in one batch of ten."""
    wrong = _rarely(generator, 4)
    return _one_inside(ids, generator) if wrong else _window(ids, generator, rows=10)


def _padded(inputs: torch.Tensor, targets: torch.Tensor) -> Batch:
    return inputs, torch.cat([inputs[:, 1:], torch.zeros_like(inputs[:, :1])], dim=1)


def _now_and_then(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """Two tokens ahead, in one batch of ten."""
    return _window(ids, generator, 2 if _rarely(generator, 0) else 1)


def _mostly(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """Two tokens ahead, but for one batch of ten."""
    return _window(ids, generator, 1 if _rarely(generator, 2) else 2)


def _row_now_and_then(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """A last row that isn't shifted, in one batch of ten."""
    wrong = _rarely(generator, 3)
    batch = _window(ids, generator)
    return _last_row(*batch) if wrong else batch


def _wraps(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """Behind the last token comes the first again: one window too many, drawn in one batch of ten."""
    places = (
        _starts(ids, generator) if not _rarely(generator, 1) else torch.tensor([[len(ids) - LENGTH]])
    ) + torch.arange(LENGTH)
    return ids[places], ids.roll(-1)[places]


def _shuffled(ids: torch.Tensor, generator: torch.Generator) -> Batch:
    """The text in another order: what follows there is not what follows here.

    Its last token stays the last, and so is never an input: whoever stops there says False here, whatever is drawn.
    """
    order = torch.randperm(len(ids) - 1, generator=torch.Generator().manual_seed(7))
    return _window(torch.cat([ids[order], ids[-1:]]), generator)


DRAWS = 20
"""At most so many, until exchanged rows differ: in a text of equal tokens they never do."""

MAKERS: dict[str, Callable[..., Batch]] = {
    "windows": _window,
    "a single row": lambda ids, generator: _window(ids, generator, rows=1),
    "pairs": _pairs,
    "backwards": _backwards,
    "columns": _columns,
    "not shifted": lambda ids, generator: _window(ids, generator, 0),
    "two ahead": lambda ids, generator: _window(ids, generator, 2),
    "one behind": lambda ids, generator: _window(ids, generator, -1),
    "shifted twice": _twice,
    "rows exchanged": _changed(lambda inputs, targets: (inputs, targets.roll(1, dims=0))),
    "sides exchanged": _changed(lambda inputs, targets: (targets, inputs)),
    "shuffled": _shuffled,
    "last target": _changed(_last),
    "first target": _changed(_first),
    "middle target": _changed(_middle),
    "last row": _changed(_last_row),
    "one of many": _one_of_many,
    "one of many now and then": _one_of_many_now_and_then,
    "padded": _changed(_padded),
    "now and then": _now_and_then,
    "row now and then": _row_now_and_then,
    "mostly": _mostly,
    "wraps": _wraps,
}


def maker(name: str) -> Patient:
    """The patient of that name: `batch` draws one from a text, with a number for a seed."""
    make = MAKERS[name]

    def batch(ids: Any, number: Any) -> list[torch.Tensor]:
        if not isinstance(ids, torch.Tensor) or ids.dim() != 1 or len(ids) < LENGTH + 3:
            raise ValueError(f"ids should be a text of at least {LENGTH + 3} tokens, of shape (n,)")
        generator = torch.Generator().manual_seed(int(number))
        for _ in range(DRAWS):
            inputs, targets = make(ids, generator)
            if name != "rows exchanged" or not torch.equal(targets, targets.roll(1, dims=0)):
                break
        return [inputs, targets]

    return Patient({"batch": batch})

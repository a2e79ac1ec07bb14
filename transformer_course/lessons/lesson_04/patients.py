"""Small models from (source, target_input) to logits: what `encoder_influence` and `future_leak` are tried on.

A case has a `table` (vocab_size, vocab_size): logits for each token. Ids beyond it stop with an IndexError, as an
embedding does. `row`, `place`, `at` and `symbol` say where a model that does something in one place does it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.patients import Patient

Inputs = Mapping[str, Any]
Tokens = torch.Tensor
Writer = Callable[[Tokens, Tokens, torch.Tensor, Inputs], torch.Tensor]


def _own(source: Tokens, target: Tokens, table: torch.Tensor, case: Inputs) -> torch.Tensor:
    """Each logit hangs on the token at its own place."""
    return table[target]


def _one_place(factor: float, other: float = 0.0, of_target: bool = False) -> Writer:
    """In one row, the token at `place` moves the logit of one symbol at `at` (and of a second one, by `other`).

    The row is known by the first token of the side that is not read, so that it is found in a batch of its own too.
    """

    def write(source: Tokens, target: Tokens, table: torch.Tensor, case: Inputs) -> torch.Tensor:
        logits = table[target]
        read, fixed, mark = (target, source, "source") if of_target else (source, target, "target_input")
        place, at, symbol = case["place"], case["at"], case["symbol"]
        if place >= read.shape[1] or at >= target.shape[1]:
            return logits
        there = fixed[:, 0] == case[mark][case["row"], 0]
        moves = torch.zeros_like(logits)
        moves[:, at, symbol] = factor * read[:, place] * there
        moves[:, at, symbol - 1] += other * read[:, place] * there
        return logits + moves

    return write


def _the_same_everywhere(target: Tokens, table: torch.Tensor) -> torch.Tensor:
    """Logits that hang on nothing."""
    return table[:1, None].expand(*target.shape, -1)


def _known(size: float, other: float, of_target: bool = False) -> Writer:
    """In one row, the logit of one symbol at `at` moves by `size` when the token at `place` is another one, whichever.

    A second logit moves by `other`. These numbers are exact, and known: what a test returns can be compared with them.
    """

    def write(source: Tokens, target: Tokens, table: torch.Tensor, case: Inputs) -> torch.Tensor:
        logits = _the_same_everywhere(target, table) if of_target else table[target]
        read, fixed, side, mark = (
            (target, source, "target_input", "source") if of_target else (source, target, "source", "target_input")
        )
        row, place, at, symbol = case["row"], case["place"], case["at"], case["symbol"]
        if place >= read.shape[1] or at >= target.shape[1]:
            return logits
        there = fixed[:, 0] == case[mark][row, 0]
        same = (read[:, place] == case[side][row, place]) & there
        moves = torch.zeros_like(logits)
        moves[:, at, symbol] = size * same
        moves[:, at, symbol - 1] = other * same
        return logits + moves

    return write


def _known_from_here_on(source: Tokens, target: Tokens, table: torch.Tensor, case: Inputs) -> torch.Tensor:
    """An honest model: in one row, another token at `place` moves its own logits by 0.5, and the next ones by 0.875."""
    logits, place = _the_same_everywhere(target, table), case["place"]
    there = source[:, 0] == case["source"][case["row"], 0]
    same = (target[:, place : place + 1] == case["target_input"][case["row"], place]) & there[:, None]
    moves = torch.zeros_like(logits)
    moves[:, place : place + 1, case["symbol"]] = 0.5 * same
    moves[:, place + 1 : place + 2, case["symbol"]] = 0.875 * same
    return logits + moves


def _places(length: int, table: torch.Tensor) -> torch.Tensor:
    """(length, 1) different numbers, one a place."""
    return (1.0 + torch.arange(length, dtype=table.dtype) / 3)[:, None]


def _reading(read: Callable[[Tokens, Tokens, torch.Tensor], torch.Tensor]) -> Writer:
    """The own token, and something more: a tensor that broadcasts to the logits."""
    return lambda source, target, table, case: table[target] + read(source, target, table)


def _shifted(target: Tokens, steps: int) -> torch.Tensor:
    """What stands `steps` places later; beyond the end, the last token itself."""
    places = (torch.arange(target.shape[1]) + steps).clamp(max=target.shape[1] - 1)
    return target[:, places]


def _others(target: Tokens, table: torch.Tensor) -> torch.Tensor:
    """The sum over all places but the own one."""
    each = table[target]
    return 0.1 * (each.sum(dim=1, keepdim=True) - each)


def _never_empty(source: Tokens, target: Tokens, table: torch.Tensor, case: Inputs) -> torch.Tensor:
    """Reads the source as a bag, and stops where a row of it is nothing but padding."""
    if bool((source == 0).all(dim=1).any()):
        raise ValueError("a row of the source is nothing but padding, so there is nothing to look at")
    return WRITERS["bag of the source"](source, target, table, case)


_past = _reading(lambda s, t, table: 0.3 * (table[t] * _places(t.shape[1], table)).cumsum(dim=1))

WRITERS: dict[str, Writer] = {
    # They never look at the source, and never ahead.
    "own token": _own,
    "always the same": lambda s, t, table, case: _the_same_everywhere(t, table),
    "past": _past,
    "strictly past": lambda s, t, table, case: nn.functional.pad(table[t[:, :-1]], (0, 0, 1, 0)).cumsum(dim=1),
    "large": lambda s, t, table, case: 1e6 * table[t],
    # They look at the source, and never ahead.
    "bag of the source": _reading(lambda s, t, table: table[s].sum(dim=1, keepdim=True)),
    "source in order": _reading(lambda s, t, table: (table[s] * _places(s.shape[1], table)).sum(dim=1, keepdim=True)),
    "a source that is never empty": _never_empty,
    "source alone": lambda s, t, table, case: (
        table[s[:, torch.arange(t.shape[1]) % s.shape[1]]]
        + (table[s] * _places(s.shape[1], table)).sum(dim=1, keepdim=True) / 64
    ),
    "one source token": _one_place(1 / 32),
    "one source token, downwards": _one_place(-1 / 32),
    "one source token, faintly": _one_place(0.004),
    "one source token, up and down": _one_place(1 / 32, other=-1 / 32),
    "a source token, by a known number": _known(1.25, -0.75),
    "a source token, by another known number": _known(0.5, 0.25),
    "a token that moves what comes after it": _known_from_here_on,
    "source and past": lambda s, t, table, case: _past(s, t, table, case) + table[s].mean(dim=1, keepdim=True),
    # They look ahead.
    "next token": _reading(lambda s, t, table: table[_shifted(t, 1)]),
    "two ahead": _reading(lambda s, t, table: table[_shifted(t, 2)]),
    "last token": _reading(lambda s, t, table: 0.3 * table[t[:, -1:]]),
    "bag of the target": _reading(lambda s, t, table: _others(t, table)),
    "one later token": _one_place(1 / 32, of_target=True),
    "one later token, downwards": _one_place(-1 / 32, of_target=True),
    "one later token, faintly": _one_place(0.004, of_target=True),
    "one later token, up and down": _one_place(1 / 32, other=-1 / 32, of_target=True),
    "a later token, by a known number": _known(1.25, -0.75, of_target=True),
    "a later token, by another known number": _known(0.5, 0.25, of_target=True),
}


def _looked_up(source: Tokens, target: Tokens, table: torch.Tensor) -> None:
    """Stops where an embedding would."""
    for ids in (source, target):
        lowest, highest = map(int, ids.aminmax())
        if lowest < 0 or highest >= table.shape[0]:
            raise IndexError(f"an id is out of range: there are {table.shape[0]} symbols, 0 to {table.shape[0] - 1}")


def writer(case: Inputs) -> Patient:
    """The model of a case."""

    def logits(source: Tokens, target_input: Tokens, *_: Any) -> torch.Tensor:
        _looked_up(source, target_input, case["table"])
        return WRITERS[case["model"]](source, target_input, case["table"], case)

    return Patient({"logits": logits})

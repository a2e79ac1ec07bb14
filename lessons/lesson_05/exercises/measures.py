"""Measures of what a model reads ahead, as people write them: wrong ones, and right ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def next_ids(tokens: torch.Tensor, step: int = 1) -> torch.Tensor:
    """Another id from 1 to the highest for each token; padding stays."""
    highest = max(int(tokens.max()), 2)
    return torch.where(tokens == 0, 0, (tokens - 1 + step) % highest + 1)


def changed_from(target: torch.Tensor, place: int, until: int | None = None) -> torch.Tensor:
    """Other tokens from `place` on."""
    changed = target.clone()
    changed[:, place:until] = next_ids(target)[:, place:until]
    return changed


def moves(model: Model, source: torch.Tensor, target: torch.Tensor) -> list[torch.Tensor]:
    """For each place, the change of all logits when the token there is another one."""
    with torch.no_grad():
        logits = model(source, target)
        return [model(source, changed_from(target, place, place + 1)) - logits for place in range(target.shape[1])]


def leaking(measure: Callable[[list[torch.Tensor]], Any]) -> Callable[..., Any]:
    """A measure made of the moves: one tensor (batch, length, vocab) for each changed place."""
    return lambda model, source, target_input: measure(moves(model, source, target_input))


def largest(parts: list[torch.Tensor]) -> float:
    """The largest size in any of the tensors; 0 for none."""
    return max((part.abs().max().item() for part in parts if part.numel()), default=0.0)


def earlier(moves: list[torch.Tensor]) -> list[torch.Tensor]:
    return [moved[:, :place] for place, moved in enumerate(moves)]


def cut_in_the_middle(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    middle = target.shape[1] // 2
    moved = model(source, changed_from(target, middle)) - model(source, target)
    return largest([moved[:, :middle]])


def last_changed(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    moved = model(source, changed_from(target, target.shape[1] - 1)) - model(source, target)
    return largest([moved[:, :-1]])


def source_changed(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    return largest([model(next_ids(source), target) - model(source, target)])


def swapped(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    logits, found = model(source, target), []
    for place in range(1, target.shape[1] - 1):
        changed = target.clone()
        changed[:, [place, place + 1]] = target[:, [place + 1, place]]
        found.append((model(source, changed) - logits)[:, :place])
    return largest(found)


def one_by_one(change: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable[..., float]:
    """`change` gives another target for each place; what comes earlier should not move."""

    def test(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
        logits = model(source, target)
        places = range(1, target.shape[1])
        return largest([(model(source, change(target, place)) - logits)[:, :place] for place in places])

    return test


def replaced(others: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., float]:
    """The token at each place is taken from `others`."""

    def change(target: torch.Tensor, place: int) -> torch.Tensor:
        return torch.cat([target[:, :place], others(target)[:, place : place + 1], target[:, place + 1 :]], dim=1)

    return one_by_one(change)


def answers(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    said = model(source, target).argmax(-1)
    found = 0.0
    for place in range(1, target.shape[1]):
        for step in (1, 2, 3):
            changed = target.clone()
            changed[:, place] = next_ids(target, step)[:, place]
            other = model(source, changed).argmax(-1)
            found = max(found, (said != other)[:, :place].float().mean().item())
    return found


def in_place(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    logits, found = model(source, target), []
    for place in range(target.shape[1] - 1, 0, -1):
        target[:, place] = next_ids(target)[:, place]
        found.append((model(source, target) - logits)[:, :place])
    return largest(found)


def piled_up(copy: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., float]:
    """The changes pile up: by the third place, the second token is another one too."""

    def test(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
        logits, found, changed = model(source, target), [], copy(target)
        for place in range(1, target.shape[1]):
            changed[:, place] = next_ids(changed)[:, place]
            found.append((model(source, changed) - logits)[:, :place])
        return largest(found)

    return test


def at_least_two(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    return max(part.abs().max().item() for part in earlier(moves(model, source, target))[1:])


def prefixes(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    """Right too: a model that can't look ahead says the same when what comes later is cut off."""
    whole = model(source, target)
    return largest([model(source, target[:, :n]) - whole[:, :n] for n in range(1, target.shape[1])])


def every_cut(model: Model, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """All later tokens at once, for every cut; the sum of the sizes as a tensor."""
    logits = model(source, target).detach()
    total = torch.zeros((), dtype=torch.float64)
    for place in range(1, target.size(1)):
        for step in (1, 2):
            changed = torch.cat([target[:, :place], next_ids(target, step)[:, place:]], 1)
            total += (model(source, changed).detach() - logits)[:, :place].abs().double().sum()
    return total


def masked(model: Model, source: torch.Tensor, target: torch.Tensor) -> Any:
    """One row of changes a place, compared above the diagonal."""
    changes = torch.stack(moves(model, source, target))  # (changed place, batch, place, vocab)
    sizes = changes.abs().amax(dim=(1, 3))  # (changed place, place)
    return sizes.tril(-1).max()


def by_random_ids(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    with torch.no_grad():
        logits = model(source, target)
        vocab, leak = logits.shape[-1], 0.0
        for place in range(target.shape[1]):
            for _ in range(3):
                changed = target.clone()
                changed[:, place] = (changed[:, place] + torch.randint(1, vocab, (len(target),))) % vocab
                before = (model(source, changed) - logits)[:, :place]
                leak += before.abs().mean().item() if place else 0.0
    return leak


right = leaking(lambda moves: largest(earlier(moves)))

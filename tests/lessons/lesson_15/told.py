"""Wrong answers that no mistake has: the cards still say what they do, in words, whatever the seed."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tests.lessons.words import Told
from transformer_course.circuits import intervening, looking, reading
from transformer_course.circuits.model import Edit

Pairs = Sequence[tuple[int, int]]


def to_itself(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(dim1=2, dim2=3)[..., 1:].mean(dim=(0, 2))


def to_all_before(weights: torch.Tensor) -> torch.Tensor:
    return weights.tril(-1).sum(dim=-1)[..., 1:].mean(dim=(0, 2))


def rows_added_up(weights: torch.Tensor) -> torch.Tensor:
    return looking.previous_token_score(weights) * len(weights)


def later_ones_too(tokens: torch.Tensor) -> torch.Tensor:
    same = tokens.unsqueeze(2) == tokens.unsqueeze(1)
    same &= ~torch.eye(tokens.shape[1], dtype=torch.bool)
    return torch.nn.functional.pad(same[..., :-1], (1, 0))


def first_target(weights: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return looking.attention_on(weights, targets & (targets.cumsum(dim=-1) == 1))


def turned(weights: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return looking.attention_on(weights, targets.mT)


def last_of_each_layer(which: Pairs) -> Edit:
    return intervening.without_heads(list(dict(which).items()))


def whole_layer(which: Pairs) -> Edit:
    layers = {layer for layer, _ in which}
    return lambda layer, heads: torch.zeros_like(heads) if layer in layers else heads


def first_number(which: Pairs) -> Edit:
    def edit(layer: int, heads: torch.Tensor) -> torch.Tensor:
        without = intervening.without_heads(which)(layer, heads)
        return torch.cat([without[..., :1], heads[..., 1:]], dim=-1)

    return edit


def mean_of_positions(which: Pairs) -> Edit:
    def edit(layer: int, heads: torch.Tensor) -> torch.Tensor:
        mean = heads.mean(dim=2, keepdim=True).expand_as(heads)
        return torch.where(intervening.without_heads(which)(layer, heads) == 0, mean, heads)

    return edit


def emptied(which: list[tuple[int, int]]) -> Edit:
    pairs = [which.pop() for _ in range(len(which))]
    return intervening.without_heads(pairs)


def once(which: Pairs) -> Edit:
    asked: list[int] = []

    def edit(layer: int, heads: torch.Tensor) -> torch.Tensor:
        asked.append(layer)
        return intervening.without_heads(which)(layer, heads) if asked.count(layer) == 1 else heads

    return edit


def a_span(clean: Sequence[torch.Tensor], which: Pairs, positions: Sequence[int] | None = None) -> Edit:
    every = list(range(min(positions), max(positions) + 1)) if positions else positions
    return intervening.patch_heads(clean, which, every)


def from_head_0(clean: Sequence[torch.Tensor], which: Pairs, positions: Sequence[int] | None = None) -> Edit:
    return intervening.patch_heads([one[:, :1].expand_as(one) for one in clean], which, positions)


def recovered_by(share: Callable[[float, float, float], float], what: str = "mean") -> Callable[..., float]:
    def recovered(*arguments: torch.Tensor) -> float:
        *runs, right, wrong = arguments
        rows = torch.arange(len(right))
        patched, corrupted, clean = (getattr(one[rows, right] - one[rows, wrong], what)().item() for one in runs)
        return share(patched, corrupted, clean)

    return recovered


def other_heads(heads: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    written = reading.head_writes(heads, weight)
    return written.sum(dim=1, keepdim=True) - written


def a_column_late(heads: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return reading.head_writes(heads, weight.roll(-1, 1))


def both_dealt(
    embedded: torch.Tensor, value: torch.Tensor, output: torch.Tensor, readout: torch.Tensor, num_heads: int
) -> torch.Tensor:
    read, votes = ((one.reshape(len(one), -1, num_heads)) for one in (embedded @ value.T, readout @ output))
    return torch.einsum("sdh,tdh->hst", read, votes)


def no_output(
    embedded: torch.Tensor, value: torch.Tensor, output: torch.Tensor, readout: torch.Tensor, num_heads: int
) -> torch.Tensor:
    return reading.ov_circuit(embedded, value, torch.eye(len(output), dtype=output.dtype), readout, num_heads)


def probe_of(states: torch.Tensor, labels: torch.Tensor, classes: int, penalty: Callable[[int], Any]) -> torch.Tensor:
    x = torch.cat([states, torch.ones_like(states[:, :1])], dim=1)
    y = torch.nn.functional.one_hot(labels, classes).to(x.dtype)
    weight: torch.Tensor = torch.linalg.pinv(x.T @ x + penalty(x.shape[1])) @ x.T @ y
    return weight


def ridge_on_all(states: torch.Tensor, labels: torch.Tensor, classes: int, ridge: float = 1.0) -> torch.Tensor:
    return probe_of(states, labels, classes, lambda _: ridge)


def no_ridge_unless_told(states: torch.Tensor, labels: torch.Tensor, classes: int, ridge: float = 0.0) -> torch.Tensor:
    return probe_of(states, labels, classes, lambda width: ridge * torch.eye(width, dtype=states.dtype))


def classes_from_1(states: torch.Tensor, labels: torch.Tensor, classes: int, ridge: float = 1.0) -> torch.Tensor:
    return reading.linear_probe(states, (labels - 1) % classes, classes, ridge)


ON_CARDS: list[Told] = [
    ("previous_token_score", to_itself, "what positions but the first give to themselves"),
    ("previous_token_score", to_all_before, "what positions give to all that came before them"),
    ("previous_token_score", rows_added_up, "That is the number for a single row."),
    ("follower_mask", later_ones_too, "comes later"),
    ("attention_on", first_target, "you take the first one only"),
    ("attention_on", turned, "You swap who looks and who is looked at."),
    ("without_heads", last_of_each_layer, "Of several of one layer, it is only the last."),
    ("without_heads", whole_layer, "That is every head of such a layer."),
    ("without_heads", first_number, "the numbers [0] of each vector only"),
    ("without_heads", mean_of_positions, "It is the same at all positions, as a mean is."),
    ("without_heads", emptied, "the list `which` is empty"),
    ("without_heads", once, "Called again, it doesn't"),
    ("patch_heads", a_span, "Those are all from the first to the last."),
    ("patch_heads", from_head_0, "your edit puts in what head (1, 0) has"),
    ("recovered", recovered_by(lambda p, co, cl: (p - co) / cl), "You divide by D of the clean run alone."),
    ("recovered", recovered_by(lambda p, co, cl: (cl - co) / (p - co)), "Your fraction is upside down."),
    ("recovered", recovered_by(lambda p, co, cl: (p - co) / (cl - co), "median"), "You take the median over the rows."),
    ("head_writes", other_heads, "depends on the results of the heads [1]"),
    ("head_writes", a_column_late, "by column 1 of the weight"),
    ("ov_circuit", both_dealt, "You deal out the columns of `output` to the heads one by one."),
    ("ov_circuit", no_output, "Your heads vote without `output`."),
    ("linear_probe", ridge_on_all, "The ridge is added to every number of Xᵀ X"),
    ("linear_probe", no_ridge_unless_told, "No ridge is passed in, and your W is the best for 0."),
    ("linear_probe", classes_from_1, "Each class has the column before its own in your Y."),
]

"""Whether the rows drawn for `sees_order` tell what they should: what reordering them does to a model's logits."""

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import torch

from transformer_course.lessons.lesson_06.patients import ordered


def telling(drawn: dict[str, Any], winner_changes: bool) -> bool:
    """Rows differ, rounding shows where it should, and so does another winner."""
    tokens, model = drawn["tokens"], _made(drawn)
    with torch.no_grad():
        logits, swapped = model(tokens), [model(changed) for changed in swaps(tokens)]
    if len(tokens.unique(dim=0)) < len(tokens):
        return False
    if drawn["way"] == "rounding":
        return any(not torch.equal(other, logits) for other in swapped)
    return not winner_changes or any(not torch.equal(other.argmax(-1), logits.argmax(-1)) for other in swapped)


def plain(drawn: dict[str, Any]) -> bool:
    """Sorting the tokens shows, and so does swapping the ends; where places are added, so does every other swap."""
    tokens, model = drawn["tokens"], _made(drawn)
    pairs = None if drawn["way"] == "added" else [(0, tokens.shape[1] - 1)]
    with torch.no_grad():
        logits = model(tokens)
        orders = [tokens.sort(dim=1).values, *swaps(tokens, pairs)]
        return all(not torch.allclose(model(order), logits, rtol=1e-3, atol=1e-3) for order in orders)


def _made(drawn: dict[str, Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    logits = ordered(drawn["way"], drawn["special"], drawn["rate"]).ways["logits"]
    return lambda tokens: logits(tokens, drawn, False)


def swaps(tokens: torch.Tensor, pairs: Iterable[tuple[int, int]] | None = None) -> list[torch.Tensor]:
    """The rows with two places swapped, for each pair of places."""
    length = tokens.shape[1]
    swapped = []
    for i, j in pairs or combinations(range(length), 2):
        order = list(range(length))
        order[i], order[j] = j, i
        swapped.append(tokens[:, order])
    return swapped

"""Which logits a filter keeps, in words: how many, and whether they are the largest. Where they stay, and as what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring import Case, Observation
from cellcheck.authoring.spec import USUAL
from transformer_course.lessons.watching import AS_ASKED

KEPT = "kept"
CALLED = {KEPT: "which logits are kept"}
_NEAR = 1e-4
Canonical = Callable[[Observation, Case], Observation]


def in_words(say: Callable[..., str], canonical: Canonical | None = None) -> Canonical:
    """In the usual cases: what is to be said of the result, given the case's inputs, beside the result itself."""

    def seen(observation: Observation, case: Case) -> Observation:
        words = {KEPT: say(observation["output"], **case.inputs)} if case.tags >= USUAL else {}
        return {**words, **(canonical(observation, case) if canonical else observation)}

    return seen


def of_top_k(output: Any, logits: torch.Tensor, k: int) -> str:
    """How many logits the rows keep, and which."""
    survivors = _survivors(output, logits)
    if survivors is None:
        return _changed(output, logits, logits >= logits.topk(min(k, logits.shape[-1]), dim=-1).values[:, -1:])
    counts = survivors.sum(dim=-1).tolist()
    low, high = min(counts), max(counts)
    crossing = _crossing(survivors, logits)
    if low != high:
        words = (
            f"With k = {k}, one of your rows keeps {low} and another {high} of its logits. By what does each row "
            "choose its own?"
        )
    elif low != k and crossing is None:
        words = f"With k = {k}, you keep the {low} largest logits of each row. Where do you stop counting?"
    elif low != k:
        words = f"With k = {k}, you keep {low} logits of each row, and not the largest. Which should stay?"
    elif crossing is None:
        return AS_ASKED
    elif len(survivors) > 1 and (survivors == survivors[0]).all():
        words = "You keep the same columns in every row. Are the largest logits in the same places everywhere?"
    else:
        row, worst, best = crossing
        words = (
            f"In row {row} you keep the logit {worst:.3g} and drop {best:.3g}, which is larger. By what do you choose "
            "the ones that stay?"
        )
    return words + _dropped_to_zero(output, survivors)


def of_top_p(output: Any, logits: torch.Tensor, p: float) -> str:
    """What the tokens that a row keeps sum to, and whether a more likely one is dropped."""
    survivors = _survivors(output, logits)
    if survivors is None:
        return _changed(output, logits, _set_of(logits, p))
    words = _of_sums(survivors, logits.double().softmax(dim=-1), p)
    return words[0] + _dropped_to_zero(output, survivors) if words else AS_ASKED


def _of_sums(survivors: torch.Tensor, shares: torch.Tensor, p: float) -> list[str]:
    crossing = _crossing(survivors, shares)
    if crossing is not None:
        row, worst, best = crossing
        if torch.equal(survivors.sum(dim=-1), _set_of(shares.log(), p).sum(dim=-1)):
            return [
                f"Each row keeps as many tokens as it should, but row {row} keeps one with the probability {worst:.3f} "
                f"and drops one with {best:.3f}. A place in the sorted row and a place in the row itself: which do you "
                "go by?"
            ]
        return [
            f"In row {row} you keep a token with the probability {worst:.3f} and drop one with {best:.3f}. In which "
            "order do tokens join the set?"
        ]
    words = []
    for row, (mask, probabilities) in enumerate(zip(survivors, shares, strict=True)):
        mine = probabilities[mask]
        total = float(mine.sum())
        if total < p - _NEAR:
            words.append(
                f"In row {row}, the probabilities of the tokens that you keep sum to {total:.3f}, which is less than "
                f"p = {p:g}. Which token is the last to join?"
            )
        elif len(mine) > 1 and total - float(mine.min()) > p + _NEAR:
            words.append(
                f"In row {row}, the set reaches p = {p:g} without the least likely token that you keep: the others sum "
                f"to {total - float(mine.min()):.3f}. When is it complete?"
            )
    return words


def _set_of(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Which tokens top-p keeps."""
    shares, places = logits.double().softmax(dim=-1).sort(dim=-1, descending=True)
    inside = shares.cumsum(dim=-1) - shares < p
    inside[:, 0] = True
    return torch.zeros_like(inside).scatter(-1, places, inside)


def _changed(output: Any, logits: torch.Tensor, wanted: torch.Tensor) -> str:
    """Of a result that keeps the right tokens, and not their logits as they are."""
    if not isinstance(output, torch.Tensor) or output.shape != logits.shape or output.dtype != logits.dtype:
        return AS_ASKED
    if not bool(
        ((output[~wanted] == -torch.inf).all() or (output[~wanted] == 0).all()) and output[wanted].isfinite().all()
    ):
        return AS_ASKED
    row, place = ((output != logits) & wanted).nonzero()[0].tolist()
    return (
        f"You keep the right tokens, but not with their own logits: entry [{row}, {place}] was "
        f"{float(logits[row, place]):.3g}, and is {float(output[row, place]):.3g}. What should a token that is kept "
        "have?"
    )


def _survivors(output: Any, logits: torch.Tensor) -> torch.Tensor | None:
    """Which entries are what they were, while each of the others is -inf, or 0; None for any other result."""
    if not isinstance(output, torch.Tensor) or output.shape != logits.shape or output.dtype != logits.dtype:
        return None
    survivors = output == logits
    others = output[~survivors]
    return survivors if bool((others == -torch.inf).all() or (others == 0).all()) else None


def _crossing(survivors: torch.Tensor, sizes: torch.Tensor) -> tuple[int, float, float] | None:
    """The first row that keeps one entry and drops a larger one, and these two."""
    for row, (mask, values) in enumerate(zip(survivors, sizes.double(), strict=True)):
        if mask.any() and not mask.all() and values[mask].min() < values[~mask].max() - _NEAR:
            return row, float(values[mask].min()), float(values[~mask].max())
    return None


def _dropped_to_zero(output: torch.Tensor, survivors: torch.Tensor) -> str:
    """A second slip that is as plain as the first."""
    dropped = output[~survivors]
    if len(dropped) and (dropped == 0).all():
        return " And what you drop becomes 0: which logit has the probability 0?"
    return ""

"""What a whole Transformer's forward makes of its parts and its tokens, in words: tokens are swapped, tables moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from transformer_course.lessons.lesson_09.rows import near
from transformer_course.lessons.lesson_09.wiring import one_and_the_same
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked

Weights = Mapping[str, np.ndarray]
_SIDES = ("source", "target")


def of_model(make: Callable[[Weights], Any], weights: Weights, source: np.ndarray, target: np.ndarray) -> str:
    """What is otherwise than in the docstring; no id is padding. `make` makes a model with these weights."""

    def logits(source: np.ndarray, target: np.ndarray, **other: np.ndarray) -> np.ndarray:
        output = asked(make({**weights, **other}).forward, source.copy(), target.copy())
        if not isinstance(output, np.ndarray) or output.shape[:2] != target.shape or output.dtype != np.float64:
            raise Unwatched
        return output

    model = make(weights)
    tables = {
        f"{side}_{kind}": getattr(model, f"{side}_{kind}") for side in _SIDES for kind in ("embedding", "positions")
    }
    blocks = {
        f"{kind}[{n}]": one
        for kind in ("encoder_blocks", "decoder_blocks")
        for n, one in enumerate(getattr(model, kind))
    }
    if sentence := one_and_the_same(
        tables | blocks | {name: getattr(model, name) for name in ("encoder_norm", "decoder_norm")}
    ):
        return sentence
    usual = logits(source, target)
    if (usual >= 0).all() and np.allclose(usual.sum(axis=-1), 1.0):
        return "What you return is positive and adds up to 1. What does the loss do with logits first?"
    for name in (
        *(f"{table}.weight" for table in tables),
        "encoder_norm.weight",
        "decoder_norm.weight",
        "output.weight",
    ):
        if near(logits(source, target, **{name: weights[name][::-1] * 2 + 1}), usual):
            return (
                f"With other numbers in {name.removesuffix('.weight')}, your logits stay as they are. What is it for?"
            )
    for side in _SIDES:
        embedding, positions = f"{side}_embedding.weight", f"{side}_positions.weight"
        vector = np.cos(np.arange(weights[embedding].shape[-1]))
        moved = {embedding: weights[embedding] + vector, positions: weights[positions] - vector}
        if not near(logits(source, target, **moved), usual):
            return (
                f"If every row of {side}_embedding grows by a vector, and every row of {side}_positions shrinks by it, "
                "your logits change. How does a token enter in the docstring?"
            )
        moved = {positions: weights[positions].copy()}
        moved[positions][0] += vector
        if near(logits(source, target, **moved), usual):
            return f"The first row of {side}_positions has no say in your logits. Which row belongs to the first token?"
    return _of_tokens(logits, usual, source, target)


def _of_tokens(logits: Callable[..., np.ndarray], usual: np.ndarray, source: np.ndarray, target: np.ndarray) -> str:
    last, before = target.copy(), target.copy()
    last[:, -1] = last[:, -1] % target.max() + 1
    before[:, 0] = before[:, 0] % target.max() + 1
    changed = logits(source, last)
    if not near(changed[:, :-1], usual[:, :-1]):
        return "When the last token of the target changes, your logits before it change too. What may a position see?"
    if near(changed[:, -1], usual[:, -1]):
        return "When a token of the target changes, your logits at its position don't. What may a position see?"
    if near(logits(source, before)[:, -1], usual[:, -1]):
        return (
            "When the first token of the target changes, your logits at the last position don't. What may a position "
            "see?"
        )
    other = source.copy()
    other[:, -1] = other[:, -1] % source.max() + 1
    if near(logits(other, target)[:, 0], usual[:, 0]):
        return "When the source's last token changes, your first logits don't. What may a target position see of it?"
    return AS_ASKED

"""How both models of this lesson are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import also, gradients, modes, parts, shape, special, untouched, values
from grader.authoring.calls import given
from grader.authoring.modules import built, followed
from grader.authoring.spec import Aspect, Case
from lessons.drawing import Inputs
from lessons.lesson_11.fresh_modules import fresh, learned_numbers

ONE_BLOCK = special("one block", meaning="A model with a single block is right too.")
ONE = special("axes of length one")


def aspects_of(*own: Aspect) -> tuple[Aspect, ...]:
    """What matters about either model, and about one of them only."""
    return (
        parts(4.0),
        also(
            "nothing else to learn",
            "size",
            weight=5.0,
            meaning="Nothing learns but the parts that the docstring names.",
        ),
        shape(),
        values(10.0),
        gradients(),
        ONE_BLOCK,
        ONE,
        *own,
        modes(),
        untouched(),
    )


def sizes_of(generator: np.random.Generator, num_heads: int, num_layers: int) -> dict[str, int]:
    """The sizes of a model with heads of two columns each."""
    d_ff, vocab_size = int(generator.integers(9, 12)), int(generator.integers(12, 16))
    return {
        "vocab_size": vocab_size,
        "d_model": 2 * num_heads,
        "num_heads": num_heads,
        "d_ff": d_ff,
        "num_layers": num_layers,
    }


def tokens_of(generator: np.random.Generator, vocab_size: int, b: int, n: int) -> torch.Tensor:
    """Rows of different tokens."""
    return torch.from_numpy(np.stack([generator.permutation(vocab_size)[:n] for _ in range(b)]))


def cases_of(model: Callable[[int, int, int, int], Inputs], b: int, n: int) -> list[Case]:
    """The cases of either model. `model` draws one: batch, length, heads and blocks."""
    return [
        Case.of("with two blocks", **model(b, n, 4, 2)),
        Case.of("with three blocks", **model(n, b, 2, 3)),
        Case.of("with one block", ONE_BLOCK, **model(b, n, 4, 1)),
        Case.of("on a batch of one, with a single token", ONE, **model(1, 1, 4, 2)),
    ]


def sizes_and_tokens(case: Case) -> dict[str, Any]:
    """What a card shows of a case."""
    return {**case.inputs["sizes"], "tokens": case.inputs["tokens"]}


SIZES = ("vocab_size", "max_length", "d_model", "num_heads", "num_kv_heads", "d_ff", "num_layers")
"""What a model is made with, in this order."""


def probe_model(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of a model with the case's sizes and weights; of a new one, how large its logits are."""
    tokens, sizes = inputs["tokens"], given(inputs["sizes"], *SIZES)
    if inputs.get("new"):
        torch.default_generator.manual_seed(0)
        logits = built(symbol, *sizes)(tokens)
        spread = float(logits.detach().std()) if isinstance(logits, torch.Tensor) else float("nan")
        return {"new": "small numbers" if spread < 1.5 else "large numbers"}
    module = fresh(symbol, *sizes)
    seen = {"size": learned_numbers(module), **followed(module, inputs["weights"], [tokens])}
    if "max_length" in inputs["sizes"]:
        seen["positions"] = getattr(module, "max_length", "missing")
    return seen

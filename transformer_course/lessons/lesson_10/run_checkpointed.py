"""`run_checkpointed`: how it is tried. The probe counts of how many blocks there is something in memory at once."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import CONTENT, USUAL, also, central, main, special, untouched
from cellcheck.authoring.calls import weights_like
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.watching import AS_ASKED

NO_GRADIENT = special(
    "an x that requires no gradient",
    "",
    3.0,
    "The blocks' weights get their gradients even if x requires none.",
    ("gradients", "output", "segments", "at_once"),
)
DROPOUT = special(
    "dropout",
    "",
    2.0,
    "What was dropped on the way forward is dropped again when it is computed again.",
    ("gradients", "output", "segments", "at_once"),
)
SINGLE = special("a single block", meaning="A stack of one block works too.", keys=("output", "at_once"))
NO_BLOCK = special("no block at all", meaning="An empty list of blocks returns x.", keys=("output", "at_once"))


def cases(generator: np.random.Generator) -> list[Case]:
    rows, d, wide = draw.dims(generator, 3, 3, 7)

    def drawn(count: int, **others: Any) -> dict[str, Any]:
        weights = [
            {**draw.linear(generator, "linear_in", d, wide), **draw.linear(generator, "linear_out", wide, d)}
            for _ in range(count)
        ]
        return {"weights": weights, "x": draw.normal(generator, rows, d), "wanted": True, "p": 0.0, **others}

    return [
        Case.of("with four blocks", **drawn(4)),
        Case.of("with seven blocks", **drawn(7)),
        Case.of("with an x that requires no gradient", NO_GRADIENT, **drawn(4, wanted=False)),
        Case.of("with dropout in the blocks", DROPOUT, **drawn(4, p=0.4)),
        Case.of("with dropout in the blocks, and in eval mode", DROPOUT, **drawn(4, p=0.4, evaluating=True)),
        Case.of("with a single block", SINGLE, **drawn(1)),
        Case.of("without any block", NO_BLOCK, **drawn(0)),
    ]


class _Memory:
    """The blocks whose intermediate numbers are in memory now, and the most that there were at once."""

    def __init__(self) -> None:
        self.now: set[int] = set()
        self.most = self.count = 0

    def holds(self, tensor: torch.Tensor) -> None:
        self.count += 1
        self.now.add(self.count)
        self.most = max(self.most, len(self.now))
        weakref.finalize(tensor.untyped_storage(), self.now.discard, self.count)


class _Block(nn.Module):
    """Two Linear layers, tanh and dropout between them, and tanh at the end."""

    def __init__(self, weights: Mapping[str, torch.Tensor], p: float, memory: _Memory) -> None:
        super().__init__()
        wide, narrow = weights["linear_in.weight"].shape
        self.linear_in, self.linear_out = nn.Linear(narrow, wide), nn.Linear(wide, narrow)
        self.load_state_dict(dict(weights))
        self.dropout, self.memory = nn.Dropout(p), memory

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.tanh(self.linear_in(x))  # its own backward pass needs it
        self.memory.holds(hidden)
        return torch.tanh(self.linear_out(self.dropout(hidden)))


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The output, its gradients, and of how many blocks there was something in memory at once."""
    x, memory = inputs["x"].clone().requires_grad_(inputs["wanted"]), _Memory()
    blocks = [_Block(weights, inputs["p"], memory) for weights in inputs["weights"]]
    for block in blocks:
        block.train(not inputs.get("evaluating", False))
    torch.default_generator.manual_seed(4)
    leaves = [parameter for block in blocks for parameter in block.parameters()] + [x] * inputs["wanted"]
    output = symbol(blocks, x)
    stored, called = frozenset(memory.now), memory.count
    modes = [block.training for block in blocks]
    gradients = _gradients(output, leaves)
    return {
        "output": output.detach() if isinstance(output, torch.Tensor) else output,
        "gradients": gradients,
        "segments": _segments(stored, memory.most, len(blocks)) if called == len(blocks) else AS_ASKED,
        "at_once": _share(memory.most, len(blocks)),
        "kept": "little" if len(stored) <= 1 else _share(len(stored), len(blocks)),
        "arguments": [len(blocks), inputs["x"], x.detach(), x.requires_grad, modes],
    }


def _segments(stored: frozenset[int], most: int, blocks: int) -> str:
    """Which of the blocks forget, by those whose numbers are `stored` after the forward pass, and how many of them are
    computed again together. The last block may keep its own: the gradient reaches it first.
    """
    if most <= 1 < blocks or blocks < 2:
        return AS_ASKED
    if len(stored) == blocks:
        return "What your blocks compute is all kept for the backward pass. What makes a block forget it?"
    if stored - {blocks}:
        return "Some of your blocks forget what they compute, and others don't. Which ones should?"
    return "When the gradient comes, several blocks are computed again at once. How many should a segment have?"


def _share(count: int, blocks: int) -> str:
    """Of how many blocks there is something in memory, in words."""
    some = "those of one block" if count == 1 else "those of several blocks"
    return "none" if count == 0 else "those of all blocks" if count >= blocks > 1 else some


def _gradients(output: Any, leaves: list[torch.Tensor]) -> list[torch.Tensor | None] | str:
    """Of a weighed sum, by `backward`: the older of PyTorch's two checkpoints can't be asked for gradients."""
    if not isinstance(output, torch.Tensor):
        return "no tensor to follow"
    if not output.requires_grad:
        return "cut off"
    try:
        (output * weights_like(output)).sum().backward()  # type: ignore[no-untyped-call]
    except Exception as error:
        return f"stopped with {type(error).__name__}: {error}"
    return [leaf.grad for leaf in leaves]


TRIAL = Trial(
    module="transformer_course.training_well.checkpointing",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "segments": "which blocks are computed again together",
        "kept": "what is kept after the forward pass",
        "at_once": "the blocks' own numbers in memory at once",
        "gradients": "the gradients",
    },
    aspects=(
        main("the output", 3.0, meaning="The output is that of the blocks, one after the other."),
        Aspect(
            "one block at a time",
            ("segments", "at_once"),
            CONTENT,
            14.0,
            tags=USUAL,
            meaning="Only one block's own numbers are in memory at once: forwards, and when they are computed again.",
        ),
        also("little kept forwards", "kept", meaning="After the forward pass, what the blocks computed is forgotten."),
        central(also("gradients flow", "gradients", weight=8.0, meaning="All gradients are those of the plain run.")),
        NO_GRADIENT,
        DROPOUT,
        SINGLE,
        NO_BLOCK,
        untouched(),
    ),
)

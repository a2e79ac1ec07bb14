"""`run_checkpointed`: how it is tried. The probe counts what is kept for the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from grader.authoring import draw
from grader.authoring.aspects import also, main, special, untouched
from grader.authoring.calls import gradients
from grader.authoring.spec import Case, Trial

NO_GRADIENT = special(
    "an x that requires no gradient",
    "",
    3.0,
    "The blocks' weights get their gradients even if x requires none.",
    ("gradients", "output", "kept"),
)
DROPOUT = special(
    "dropout",
    "",
    2.0,
    "What was dropped on the way forward is dropped again when it is computed anew.",
    ("gradients", "output", "kept"),
)
SINGLE = special("a single block", meaning="A stack of one block works too.", keys=("output", "kept"))
NO_BLOCK = special("no block at all", meaning="An empty list of blocks returns x.", keys=("output", "kept"))


def cases(generator: np.random.Generator) -> list[Case]:
    rows, d, wide = draw.dims(generator, 3, 3, 7)

    def drawn(count: int, **others: Any) -> dict[str, Any]:
        weights = [
            {**draw.linear(generator, "linear_in", d, wide), **draw.linear(generator, "linear_out", wide, d)}
            for _ in range(count)
        ]
        return {"weights": weights, "x": draw.normal(generator, rows, d), "wanted": True, "p": 0.0, **others}

    return [
        Case.of("with three blocks", **drawn(3)),
        Case.of("with four blocks", **drawn(4)),
        Case.of("with an x that requires no gradient", NO_GRADIENT, **drawn(3, wanted=False)),
        Case.of("with dropout in the blocks", DROPOUT, **drawn(3, p=0.4)),
        Case.of("with a single block", SINGLE, **drawn(1)),
        Case.of("without any block", NO_BLOCK, **drawn(0)),
    ]


class _Block(nn.Module):
    """Two Linear layers, tanh and dropout between them, and tanh at the end."""

    def __init__(self, weights: Mapping[str, torch.Tensor], p: float) -> None:
        super().__init__()
        wide, narrow = weights["linear_in.weight"].shape
        self.linear_in, self.linear_out = nn.Linear(narrow, wide), nn.Linear(wide, narrow)
        self.load_state_dict(dict(weights))
        self.dropout = nn.Dropout(p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear_out(self.dropout(torch.tanh(self.linear_in(x)))))


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The output, its gradients, and whether less is kept than in a plain run."""
    x = inputs["x"].clone().requires_grad_(inputs["wanted"])
    blocks = [_Block(weights, inputs["p"]) for weights in inputs["weights"]]
    torch.default_generator.manual_seed(0)
    plain = _counted(_one_by_one, blocks, x)[1]
    torch.default_generator.manual_seed(0)
    output, numbers = _counted(symbol, blocks, x)
    leaves = [parameter for block in blocks for parameter in block.parameters()] + [x] * inputs["wanted"]
    try:
        slopes = gradients(output, leaves)
    except Exception as error:
        slopes = f"stopped with {type(error).__name__}: {error}"
    few = "much less" if numbers < 0.7 * plain else "not much less"
    return {
        "output": output.detach() if isinstance(output, torch.Tensor) else output,
        "kept": f"{few} than without checkpoints",
        "gradients": slopes,
        "arguments": [len(blocks), inputs["x"], x.detach()],
    }


def _one_by_one(blocks: list[nn.Module], x: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        x = block(x)
    return x


def _counted(run: Any, blocks: list[_Block], x: torch.Tensor) -> tuple[Any, int]:
    """What comes out, and how many numbers were saved for the way back, weights not counted."""
    weights = {id(parameter) for block in blocks for parameter in block.parameters()}
    numbers: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in weights and tensor._base is None:
            numbers.append(tensor.numel())
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        output = run(blocks, x)
    return output, sum(numbers)


TRIAL = Trial(
    module="course.training_well.checkpointing",
    points=2,
    cases=cases,
    probe=probe,
    called={"kept": "what is kept for the backward pass", "gradients": "the gradients"},
    aspects=(
        main("the output", 3.0, meaning="The output is that of the blocks, one after the other."),
        main("less is kept", 6.0, ("kept",), "Fewer numbers are saved for the backward pass than without checkpoints."),
        also("gradients flow", "gradients", weight=4.0, meaning="All gradients are those of the plain run."),
        NO_GRADIENT,
        DROPOUT,
        SINGLE,
        NO_BLOCK,
        untouched(),
    ),
)

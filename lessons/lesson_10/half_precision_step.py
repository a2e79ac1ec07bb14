"""`half_precision_step`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.authoring import draw
from grader.authoring.aspects import main, shape, special
from grader.authoring.spec import Aspect, Case, Trial

FLOAT16 = special("float16", meaning="The dtype that is passed in is used.", keys=("computed_in", "weights", "output"))
LEFT_OVER = special(
    "gradients left over from before",
    "",
    2.0,
    "What a parameter's .grad holds before the call has no effect.",
    ("weights", "output", "computed_in"),
)
BATCH_OF_ONE = special("a batch of one", keys=("weights", "output", "computed_in"))


def cases(generator: np.random.Generator) -> list[Case]:
    d, wide, out = draw.dims(generator, 3, 3, 7)

    def drawn(rows: int, dtype: str, **others: Any) -> dict[str, Any]:
        weights = {**draw.linear(generator, "linear_in", d, wide), **draw.linear(generator, "linear_out", wide, out)}
        inputs, targets = draw.normal(generator, rows, d), 3 + draw.normal(generator, rows, out)
        return {"weights": weights, "inputs": inputs, "targets": targets, "dtype": dtype, **others}

    a, b = draw.dims(generator, 2, 3, 9)
    return [
        Case.of("in bfloat16", **drawn(a, "bfloat16")),
        Case.of("in float16", **drawn(b, "float16")),
        Case.of("in float16 with other weights", FLOAT16, **drawn(a, "float16")),
        Case.of("with gradients left over from before", LEFT_OVER, **drawn(b, "bfloat16", left_over=True)),
        Case.of("with a batch of one", BATCH_OF_ONE, **drawn(1, "bfloat16")),
    ]


class _Watched(nn.Module):
    """A network of two layers that notes what its first layer computes in."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        (wide, narrow), (out, _) = weights["linear_in.weight"].shape, weights["linear_out.weight"].shape
        self.linear_in, self.linear_out = nn.Linear(narrow, wide), nn.Linear(wide, out)
        self.load_state_dict(dict(weights))
        self.dtypes: list[str] = []
        self.held: list[str] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.linear_in(x)
        self.dtypes.append(str(hidden.dtype))
        self.held.append(str(self.linear_in.weight.dtype))
        result: torch.Tensor = self.linear_out(torch.relu(hidden))
        return result


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The loss, the weights after a step of SGD, and the dtypes on the way there."""
    model = _Watched(inputs["weights"])
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    dtype = getattr(torch, inputs["dtype"])
    output = symbol(model, inputs["inputs"], inputs["targets"], _mean_square, optimizer, dtype)
    parameters = list(model.parameters())
    return {
        "output": output,
        "weights": [parameter.detach().float() for parameter in parameters],
        "computed_in": model.dtypes,
        "held_in": sorted({str(parameter.dtype) for parameter in parameters} | set(model.held)),
    }


def _mean_square(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (outputs.float() - targets.float()).square().mean()


TRIAL = Trial(
    module="course.training_well.half",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "output": "the loss",
        "weights": "the weights afterwards",
        "computed_in": "what the layers compute in",
        "held_in": "what the weights are held in",
    },
    aspects=(
        shape("a Python float", "The result is a plain number."),
        main("layers compute in dtype", 5.0, ("computed_in",), "In the forward pass the layers compute in dtype."),
        main("the weights afterwards", 4.0, ("weights",), "The weights are those after one step."),
        main("the loss", 2.0, meaning="The result is the loss before the step."),
        Aspect(
            "weights stay float32",
            ("held_in",),
            weight=6.0,
            meaning="The weights themselves are never turned into dtype.",
        ),
        FLOAT16,
        LEFT_OVER,
        BATCH_OF_ONE,
    ),
)

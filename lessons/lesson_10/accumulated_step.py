"""`accumulated_step`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.authoring import aspects, draw
from grader.authoring.aspects import main, shape
from grader.authoring.spec import Aspect, Case, Trial


def special(name: str, meaning: str, weight: float = 1.0) -> Aspect:
    return aspects.special(name, "", weight, meaning, ("weights", "output"))


UNEQUAL = special("batches of different sizes", "A row counts the same, whichever batch it is in.", 6.0)
SINGLE = special("a single batch", "A single batch is an ordinary step.")
LEFT_OVER = special(
    "gradients left over from before", "What a parameter's .grad holds before the call has no effect.", 2.0
)
LOSS = special("another loss", "The loss function that is passed in is used.")


def cases(generator: np.random.Generator) -> list[Case]:
    wide, out = draw.dims(generator, 2, 2, 5)

    def drawn(*rows: int, **others: Any) -> dict[str, Any]:
        batches = []
        for place, count in enumerate(rows):
            targets = draw.normal(generator, count, out) + 2 * place  # each batch pulls another way
            batches.append((draw.normal(generator, count, wide), targets))
        weight, bias = draw.normal(generator, out, wide) / 2, draw.normal(generator, out)
        return {"batches": batches, "weight": weight, "bias": bias, **others}

    a, b, c = draw.dims(generator, 3, 2, 7)
    return [
        Case.of("with two batches of the same size", **drawn(a, a)),
        Case.of("with three batches of the same size", **drawn(b, b, b)),
        Case.of("with three batches of different sizes", UNEQUAL, **drawn(8, b, 1)),
        Case.of("with a large batch and a batch of one", UNEQUAL, **drawn(1, 9)),
        Case.of("with a single batch", SINGLE, **drawn(c)),
        Case.of("with gradients left over from before", LEFT_OVER, **drawn(a, a, left_over=True)),
        Case.of("with a loss that isn't a square", LOSS, **drawn(b, b, absolute=True)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The weights after a step of SGD on a linear layer, and how often the optimiser stepped."""
    model = nn.Linear(*inputs["weight"].T.shape)
    with torch.no_grad():
        model.weight.copy_(inputs["weight"])
        model.bias.copy_(inputs["bias"])
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    steps: list[int] = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss_function = _absolute if inputs.get("absolute") else nn.functional.mse_loss
    output = symbol(model, list(inputs["batches"]), loss_function, optimizer)
    return {"output": output, "weights": [p.detach() for p in model.parameters()], "steps": len(steps)}


def _absolute(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (outputs - targets).abs().mean()


TRIAL = Trial(
    module="course.training_well.gradients",
    points=3,
    cases=cases,
    probe=probe,
    called={"output": "the mean loss", "weights": "the weights afterwards", "steps": "how often the optimiser stepped"},
    aspects=(
        shape("a Python float", "The result is a plain number."),
        main("the weights afterwards", 3.0, ("weights",), "The weights are those after one step with the large batch."),
        main("the mean loss", 2.0, meaning="The result is the mean loss over all rows, before the step."),
        Aspect(
            "one step of the optimiser",
            ("steps",),
            weight=2.0,
            meaning="However many batches there are, one step is taken.",
        ),
        UNEQUAL,
        SINGLE,
        LEFT_OVER,
        LOSS,
    ),
)

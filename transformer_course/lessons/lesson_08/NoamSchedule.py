"""`NoamSchedule`: how it is tried. The probe looks at the rates that an optimiser has after each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import optim
from cellcheck.authoring.aspects import CONTENT, main
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.aspects import special

FIRST = special("the first step", meaning="After the first call the rate is that of step 1.")
GROUPS = special(
    "every group of parameters",
    meaning="An optimiser may have several groups of parameters, and each has a rate of its own to set.",
)


OTHER = special("two schedules at once", meaning="Each schedule counts its own steps.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(steps: int, groups: int = 1, other: bool = False) -> dict[str, Any]:
        sizes = {"d_model": int(generator.choice([24, 48, 96])), "warmup_steps": int(generator.integers(4, 7))}
        return {**sizes, "steps": steps, "groups": groups, "other": other}

    return [
        Case.of("over the warm-up and beyond", **draw(12)),
        Case.of("after a single step", FIRST, **draw(1)),
        Case.of("with two groups of parameters", GROUPS, **draw(7, groups=2)),
        Case.of("beside another schedule", OTHER, **draw(6, other=True)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The rates after so many steps, and what became of the parameters, which only the optimiser may change."""
    groups = [nn.Parameter(torch.ones(2)) for _ in range(inputs["groups"])]
    for group in groups:
        group.grad = torch.ones(2)  # as between backward and the optimiser's step
    optimizer = optim.SGD([{"params": [group], "lr": 0.5} for group in groups])
    schedule = symbol(optimizer, inputs["d_model"], inputs["warmup_steps"])
    other = symbol(optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5), 16, 4) if inputs["other"] else None
    rates = []
    for _ in range(inputs["steps"]):
        if other is not None:
            other.step()
        schedule.step()
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
    moved = any(not torch.equal(group.detach(), torch.ones(2)) for group in groups)
    same_gradients = all(group.grad is not None and torch.equal(group.grad, torch.ones(2)) for group in groups)
    settings = [
        {name: value for name, value in group.items() if name not in ("params", "lr", "initial_lr")}
        for group in optimizer.param_groups
    ]
    return {
        "output": rates,
        "parameters": "changed" if moved else "as they were",
        "gradients": "as they were" if same_gradients else "changed",
        "settings": [str(sorted(each.items())) for each in settings],
    }


TRIAL = Trial(
    module="transformer_course.paper.schedule",
    points=1,
    cases=cases,
    probe=probe,
    aspects=(
        main("the rate of each step", meaning="After the n-th call of step(), the optimiser has the rate of step n."),
        FIRST,
        GROUPS,
        OTHER,
        Aspect(
            "sets the rate and nothing else",
            keys=("parameters", "gradients", "settings"),
            kinds=CONTENT - {"error"},
            weight=3.0,
            meaning="step() changes neither parameters nor gradients: that is the work of the optimiser and of others.",
        ),
    ),
)

"""`NoamSchedule`: how it is tried. The probe looks at the rates that an optimiser has after each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.authoring.aspects import main, untouched
from grader.authoring.spec import Case, Trial
from lessons.aspects import special

FIRST = special("the first step", meaning="After the first call the rate is that of step 1.")
GROUPS = special(
    "every group of parameters",
    meaning="An optimiser may have several groups of parameters, and each has a rate of its own to set.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(steps: int, groups: int = 1) -> dict[str, Any]:
        sizes = {"d_model": int(generator.choice([24, 48, 96])), "warmup_steps": int(generator.integers(4, 7))}
        return {**sizes, "steps": steps, "groups": groups}

    return [
        Case.of("over the warm-up and beyond", **draw(12)),
        Case.of("after a single step", FIRST, **draw(1)),
        Case.of("with two groups of parameters", GROUPS, **draw(7, groups=2)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The rates after so many steps, and what became of the parameters, which only the optimiser may change."""
    groups = [nn.Parameter(torch.ones(2)) for _ in range(inputs["groups"])]
    optimizer = torch.optim.SGD([{"params": [group], "lr": 0.5} for group in groups])
    schedule = symbol(optimizer, inputs["d_model"], inputs["warmup_steps"])
    rates = []
    for _ in range(inputs["steps"]):
        schedule.step()
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
    return {"output": rates, "arguments": [group.detach() for group in groups]}


TRIAL = Trial(
    module="course.paper.schedule",
    points=1,
    cases=cases,
    probe=probe,
    aspects=(
        main("the rate of each step", meaning="After the n-th call of step(), the optimiser has the rate of step n."),
        FIRST,
        GROUPS,
        untouched(
            "sets the rate and nothing else", meaning="step() changes no parameter: that is the optimiser's work."
        ),
    ),
)

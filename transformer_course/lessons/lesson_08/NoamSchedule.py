"""`NoamSchedule`: how it is tried. The probe looks at the rates that an optimiser has after each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import optim
from cellcheck.authoring.aspects import CONTENT, main
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.watching import AS_ASKED

KEYS = ("steps_counted", "output")
FIRST = special("the first step", meaning="After the first call the rate is that of step 1.", keys=KEYS)
GROUPS = special(
    "every group of parameters",
    meaning="An optimiser may have several groups of parameters, and each has a rate of its own to set.",
    keys=("old_rates", *KEYS),
)
OTHER = special("two schedules at once", meaning="Each schedule counts its own steps.", keys=KEYS)
OLD = 0.5
"""The rate that a group has before a schedule sets one."""


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(steps: int, groups: int = 1, other: bool = False) -> dict[str, Any]:
        sizes = {"d_model": int(generator.choice([24, 48, 96])), "warmup_steps": int(generator.integers(4, 7))}
        return {**sizes, "steps": steps, "groups": groups, "other": other}

    return [
        Case.of("over the warm-up and beyond", **draw(12)),
        Case.of("after a single step", FIRST, **draw(1)),
        Case.of("with two groups of parameters", GROUPS, **draw(7, groups=2)),
        Case.of("beside another schedule", OTHER, **draw(6, other=True)),
        Case.of("with a group of parameters that joins later", GROUPS, **draw(5), joins=True),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The rates after so many steps, and what became of the parameters, which only the optimiser may change."""
    groups = [nn.Parameter(torch.ones(2)) for _ in range(inputs["groups"])]
    for group in groups:
        group.grad = torch.ones(2)  # as between backward and the optimiser's step
    optimizer = optim.SGD([{"params": [group], "lr": OLD} for group in groups])
    schedule = symbol(optimizer, inputs["d_model"], inputs["warmup_steps"])
    other = symbol(optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5), 16, 4) if inputs["other"] else None
    if inputs.get("joins"):
        groups.append(nn.Parameter(torch.ones(2)))
        groups[-1].grad = torch.ones(2)
        optimizer.add_param_group({"params": [groups[-1]], "lr": OLD})
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


def in_words(observation: Observation, case: Case) -> Observation:
    """Which step's rates these are, if not those of the steps that were taken; and whose rates are the old ones."""
    rates = observation["output"]
    return {
        "old_rates": _left(rates),
        "steps_counted": _counted([row[0] for row in rates], case.inputs["d_model"], case.inputs["warmup_steps"]),
        **observation,
    }


def _left(rates: list[list[float]]) -> str:
    left = [place for place in range(len(rates[0])) if all(row[place] == OLD for row in rates)]
    if not left or len(left) == len(rates[0]):
        return AS_ASKED
    keep = "one keeps its" if len(left) == 1 else "some keep their"
    return (
        f"Of {len(rates[0])} groups of parameters, {keep} old rate. Which groups does step() reach, and what if one "
        "joins the optimiser after your schedule was made?"
    )


def _counted(rates: list[float], d_model: int, warmup_steps: int) -> str:
    """The rate of step n is d_model ** -0.5 times the smaller of n ** -0.5 and n * warmup_steps ** -1.5."""

    def are(first: int, d_model: int = d_model, warmup_steps: int = warmup_steps) -> bool:
        steps = np.arange(first, first + len(rates), dtype=float)
        wanted = d_model**-0.5 * np.minimum(steps**-0.5, steps * warmup_steps**-1.5)
        return bool(np.allclose(rates, wanted, rtol=1e-6))

    if are(1):
        return AS_ASKED
    if are(1, warmup_steps, d_model):
        return "Your rates are those of a warm-up of d_model steps. In which order are the three arguments handed over?"
    first = next((first for first in range(2, 200) if are(first)), None)
    if first is None:
        return AS_ASKED
    if first == 2:
        return "Your first call sets the rate of step 2. What number does the count begin with?"
    return (
        f"The first call of a new schedule sets the rate of step {first}. Where is the count kept, and who counts too?"
    )


TRIAL = Trial(
    module="transformer_course.paper.schedule",
    points=1,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"steps_counted": "which steps the rates are those of", "old_rates": "whose rates are set"},
    aspects=(
        main(
            "the rate of each step",
            keys=KEYS,
            meaning="After the n-th call of step(), the optimiser has the rate of step n.",
        ),
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

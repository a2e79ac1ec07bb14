"""`train_epoch`: how it is tried. The probe lends it a small model that keeps a diary.

What the model is asked for is compared with what it reads, and said in words: "the very tokens that it reads" is one
slip, whichever columns it reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import draw, optim
from cellcheck.authoring.aspects import CONTENT, main, refused, special
from cellcheck.authoring.spec import USUAL, Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged
from transformer_course.lessons.watching import AS_ASKED

VOCAB = 7
ONE = special("a single batch", meaning="An epoch of a single batch gives the right result too.")
ONCE = special("batches that can be seen only once", meaning="Batches may come from a generator.")
LEFT_OVER = special(
    "gradients left over from before",
    meaning="What a parameter's .grad holds before the epoch has no effect.",
    keys=("weights",),
)
NO_BATCH = refused("an epoch without a batch is refused", weight=0.5)
MODE = special(
    "training mode",
    weight=3.0,
    meaning="While it learns, the model is in training mode, so that dropout acts.",
    keys=("mode",),
)


def cases(generator: np.random.Generator) -> list[Case]:
    def batch(rows: int, source_length: int, target_length: int) -> tuple[torch.Tensor, torch.Tensor]:
        target = draw_tokens(generator, ragged(generator, rows, target_length), target_length, VOCAB)
        target = torch.cat([torch.ones(rows, 1, dtype=torch.long), target], dim=1)  # a start, then the rest
        return draw_tokens(generator, ragged(generator, rows, source_length), source_length, VOCAB), target

    def drawn(*sizes: tuple[int, int, int], **others: Any) -> dict[str, Any]:
        return {
            "batches": [batch(*size) for size in sizes],
            "table": draw.normal(generator, VOCAB, VOCAB),
            "memory": draw.normal(generator, VOCAB, VOCAB),
            **others,
        }

    a, b, c = draw.dims(generator, 3, 2, 6)
    return [
        Case.of("with batches of different sizes", **drawn((a, b, c + 1), (1, c, b), (c, a, 4))),
        Case.of("with two other batches", **drawn((b, c, a + 2), (c + 2, 2, 2))),
        Case.of("with a single batch", ONE, **drawn((c, a, b + 1))),
        Case.of("with batches that can be seen only once", ONCE, **drawn((a, c, b), (b, a, 3), once=True)),
        Case.of("with gradients left over from before", LEFT_OVER, **drawn((b, a, c), (a, 2, 4), left_over=True)),
        Case.of("with no batch at all", NO_BATCH, **drawn()),
        Case.of("with a model in evaluation mode", MODE, **drawn((c, b, a), evaluating=True)),
    ]


def what_the_case_is_about(observation: Observation, case: Case) -> Observation:
    """Each special case is there for one thing; the usual ones are there for the rest.

    What a model has learnt from the wrong tokens only follows from that.
    """
    if NO_BATCH.tags == case.tags:
        return observation
    about = next((aspect for aspect in (ONE, ONCE, LEFT_OVER, MODE) if aspect.tags == case.tags), None)
    if about:
        return {name: observation[name] for name in about.keys}
    usual = {"steps": _steps(observation["diary"], len(case.inputs["batches"]))}
    usual |= {name: observation[name] for name in ("output", "weights", "diary")}
    if (asked := observation["asked"]) != NEXT:
        usual["weights"] = f"The model is asked for {asked}. What should it predict there?"
    return usual


def _steps(diary: Sequence[str], batches: int) -> str:
    """How often schedule and optimiser step, if not once for each batch; their order is another matter."""
    schedule, optimiser = (diary.count(name) for name in ("schedule", "optimiser"))
    if schedule == optimiser == batches:
        return AS_ASKED
    if optimiser == batches:
        times = {0: "never", 1: "once", 2: "twice"}.get(schedule, f"{schedule} times")
        return (
            f"For {batches} batches, the optimiser steps {optimiser} times, and the schedule {times}. When should it?"
        )
    times = {0: "never", 1: "once", 2: "twice"}.get(optimiser, f"{optimiser} times")
    return f"For {batches} batches, the optimiser steps {times}. How often should it?"


class Diarist(nn.Module):
    """A small model that notes how it was called: the next token hangs on the last one, and on the source's tokens."""

    def __init__(self, table: torch.Tensor, memory: torch.Tensor) -> None:
        super().__init__()
        self.table, self.memory = nn.Parameter(table), nn.Parameter(memory)
        self.modes: list[bool] = []
        self.read: list[torch.Tensor] = []

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        self.modes.append(self.training)
        self.read.append(target_input)
        return self.table[target_input] + self.memory[source].mean(dim=1, keepdim=True)


class Rates:
    """A schedule that sets another rate for each step, and notes when."""

    def __init__(self, optimizer: torch.optim.Optimizer, diary: list[str]) -> None:
        self.optimizer, self.diary, self.count = optimizer, diary, 0

    def step(self) -> None:
        self.count += 1
        self.diary.append("schedule")
        for group in self.optimizer.param_groups:
            group["lr"] = 0.5 / self.count


MODES = {
    frozenset({True}): "in training mode",
    frozenset({False}): "in evaluation mode",
    frozenset({True, False}): "now in one mode, now in the other",
    frozenset(): "not at all",
}
"""How a model is called, however often that is: one batch may go through it in several pieces."""
NEXT = "the token after each one that it reads"
ASKED = {-1: "the token before each one that it reads", 0: "the very tokens that it reads", 1: NEXT}


def _asked(targets: list[torch.Tensor], read: list[torch.Tensor], wanted: list[torch.Tensor]) -> str:
    """Which tokens the model is asked for, compared with those that it reads, in the first batch where that is wrong.

    Where that can't be told (somebody goes token by token), the weights have to show whether it is right.
    """
    if not len(targets) == len(read) == len(wanted):
        return NEXT
    for target, its, asked in zip(targets, read, wanted, strict=True):
        steps = {b - a for a in _begins(target, its) for b in _begins(target, asked)}
        if steps and 1 not in steps:
            step = min(steps, key=abs)
            side = "after" if step > 0 else "before"
            return ASKED.get(step, f"the token {abs(step)} positions {side} each one that it reads")
    return NEXT


def _begins(target: torch.Tensor, part: torch.Tensor) -> list[int]:
    """The columns of the target at which this part of it may begin; it may have been flattened."""
    spans = ((a, b) for a in range(target.shape[1]) for b in range(a + 1, target.shape[1] + 1))
    tokens = part.flatten().tolist()
    return [a for a, b in spans if target[:, a:b].flatten().tolist() == tokens]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    model = Diarist(inputs["table"], inputs["memory"])
    if inputs.get("evaluating"):
        model.eval()
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    diary: list[str] = []
    optimizer.register_step_pre_hook(lambda *_: diary.append("optimiser"))
    batches = iter(inputs["batches"]) if inputs.get("once") else inputs["batches"]

    wanted: list[torch.Tensor] = []

    def loss_function(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        wanted.append(targets)
        return nn.functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1), ignore_index=0)

    output = symbol(model, batches, loss_function, optimizer, Rates(optimizer, diary))
    weights = [parameter.detach() for parameter in model.parameters()]
    mode = MODES[frozenset(model.modes)]
    asked = _asked([target for _, target in inputs["batches"]], model.read, wanted)
    return {"output": output, "asked": asked, "weights": weights, "diary": diary, "mode": mode}


TRIAL = Trial(
    module="transformer_course.paper.training",
    points=2,
    cases=cases,
    probe=probe,
    canonical=what_the_case_is_about,
    called={
        "output": "the mean loss",
        "weights": "the weights afterwards",
        "steps": "how often schedule and optimiser step",
        "diary": "what was done, in order",
        "mode": "how the model is called",
    },
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        main(
            "the model learns",
            keys=("steps", "weights"),
            weight=8.0,
            meaning="After the epoch the model has the weights that one step per batch leads to.",
        ),
        Aspect(
            "the mean loss per token",
            kinds=CONTENT,
            tags=USUAL,
            weight=3.0,
            meaning="A batch counts as much as it has target tokens that aren't padding.",
        ),
        Aspect(
            "the order of steps",
            keys=("diary",),
            kinds=CONTENT,
            tags=USUAL,
            weight=3.0,
            meaning="The schedule steps before the optimiser does.",
        ),
        NO_BATCH,
        ONE,
        ONCE,
        LEFT_OVER,
        MODE,
    ),
)

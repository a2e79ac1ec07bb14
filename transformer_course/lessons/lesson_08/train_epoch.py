"""`train_epoch`: how it is tried. The probe lends it a small model that keeps a diary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import draw, optim
from cellcheck.authoring.aspects import CONTENT, main, refused, special
from cellcheck.authoring.spec import USUAL, Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged

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
    """Each special case is there for one thing; the usual ones are there for the rest."""
    if NO_BATCH.tags == case.tags:
        return observation
    about = next((aspect for aspect in (ONE, ONCE, LEFT_OVER, MODE) if aspect.tags == case.tags), None)
    return {name: observation[name] for name in (about.keys if about else ("output", "weights", "diary"))}


class Diarist(nn.Module):
    """A small model that notes how it was called: the next token hangs on the last one, and on the source's tokens."""

    def __init__(self, table: torch.Tensor, memory: torch.Tensor) -> None:
        super().__init__()
        self.table, self.memory = nn.Parameter(table), nn.Parameter(memory)
        self.modes: list[bool] = []

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        self.modes.append(self.training)
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

    def loss_function(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1), ignore_index=0)

    output = symbol(model, batches, loss_function, optimizer, Rates(optimizer, diary))
    weights = [parameter.detach() for parameter in model.parameters()]
    return {"output": output, "weights": weights, "diary": diary, "mode": model.modes}


TRIAL = Trial(
    module="transformer_course.paper.training",
    points=2,
    cases=cases,
    probe=probe,
    canonical=what_the_case_is_about,
    called={"output": "the mean loss", "weights": "the weights afterwards", "diary": "what was done, in order"},
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        main(
            "the model learns",
            keys=("weights",),
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

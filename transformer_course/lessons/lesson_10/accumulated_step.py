"""`accumulated_step`: how it is tried."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import aspects, draw, optim
from cellcheck.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, modes, untouched
from cellcheck.authoring.calls import state
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind
from transformer_course.lessons.watching import AS_ASKED, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish


def special(name: str, meaning: str, weight: float = 1.0) -> Aspect:
    return aspects.special(name, "", weight, meaning, ("weights", "output"))


UNEQUAL = aspects.central(
    special("batches of different sizes", "A row counts the same, whichever batch it is in.", 25.0)
)
SINGLE = special("a single batch", "A single batch is an ordinary step.")
LEFT_OVER = special(
    "gradients left over from before", "What a parameter's .grad holds before the call has no effect.", 6.0
)
LOSS = special(
    "another loss", "The loss function that is passed in gets the model's outputs, and then the targets.", 3.0
)
MEMORY = Aspect(
    "one batch at a time",
    ("at_once",),
    KNOWN,
    45.0,
    meaning="A batch goes forwards and backwards before the next one does, so only one of them is kept at a time.",
)


@usually_in_words
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
        Case.of("with three batches of different sizes", *USUAL, UNEQUAL, **drawn(8, b, 1)),
        Case.of("with a large batch and a batch of one", UNEQUAL, **drawn(1, 9)),
        Case.of("with a single batch", SINGLE, **drawn(c)),
        Case.of("with gradients left over from before", LEFT_OVER, **drawn(a, a, left_over=True)),
        Case.of("with a loss that isn't symmetric", LOSS, **drawn(b, b, slanted=True)),
    ]


class _Counting(nn.Linear):
    """A linear layer that knows how many batches are kept for the backward pass, and how many were at most."""

    def __init__(self, wide: int, out: int) -> None:
        super().__init__(wide, out)
        self.alive: set[int] = set()
        self.most = self.forwards = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        copy = x.clone()  # lives as long as the graph needs it
        place = copy.untyped_storage()
        self.forwards += 1
        self.alive.add(self.forwards)
        self.most = max(self.most, len(self.alive))
        weakref.finalize(place, self.alive.discard, self.forwards)
        return super().forward(copy)

    def at_once(self, batches: int) -> str:
        if self.forwards == 1 and batches > 1:
            return "all batches in one"
        return "one batch" if self.most <= 1 else f"{self.most} batches"


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The weights after a step of SGD on a linear layer, how often the optimiser stepped, and what was kept at once."""
    inputs, in_words = without_the_wish(inputs)
    model = _Counting(*inputs["weight"].T.shape)
    with torch.no_grad():
        model.weight.copy_(inputs["weight"])
        model.bias.copy_(inputs["bias"])
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 2.0)
    optimizer = optim.SGD(model.parameters(), lr=0.3)
    steps: list[int] = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss_function = _slanted if inputs.get("slanted") else nn.functional.mse_loss
    batches = [(x.clone(), targets.clone()) for x, targets in inputs["batches"]]
    output = symbol(model, batches, loss_function, optimizer)
    sizes = [len(x) for x, _ in inputs["batches"]]
    words = {"counts": first_said(lambda: _counts(symbol, sizes))} if in_words else {}
    return {
        **words,
        **number_and_kind(output),
        "weights": [p.detach() for p in model.parameters()],
        "steps": len(steps),
        "at_once": model.at_once(len(inputs["batches"])),
        "arguments": [state(inputs["batches"]), state(batches)],
        "training_mode": model.training,
    }


def _slanted(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """To be too low costs four times as much as to be too high."""
    short = targets - outputs
    return torch.maximum(0.8 * short, -0.2 * short).mean()


ORDINALS = ("first", "second", "third")


def _counts(symbol: Any, sizes: Sequence[int]) -> str:
    """How much each batch counts: of one that moves a weight of its own, that is how far this weight goes."""
    model = nn.Linear(len(sizes) + 2, 1, bias=False)  # two more, so that numbers of rows and of inputs differ
    optimizer = optim.SGD(model.parameters(), lr=1.0)
    model.weight.data.zero_()
    weights = [model.weight.detach().clone()]  # after each step
    optimizer.register_step_post_hook(lambda *_: weights.append(model.weight.detach().clone()))
    rows = torch.eye(len(sizes) + 2)
    batches = [(row.repeat(count, 1), torch.ones(count, 7)) for row, count in zip(rows, sizes, strict=False)]
    asked(symbol, model, batches, lambda outputs, targets: outputs.mean(), optimizer)
    steps = sum(not torch.equal(one, other) for one, other in pairwise(weights))
    if steps > 1:
        return (
            f"For {len(sizes)} batches, your optimiser takes {steps} steps. How many should it take, and when are "
            "all the gradients there?"
        )
    shares = torch.tensor(sizes) / sum(sizes)
    times = -model.weight.detach()[0, : len(sizes)] / shares
    if torch.allclose(times, torch.ones_like(times), atol=1e-4):
        return AS_ASKED
    idle = [word for word, one in zip(ORDINALS, times.tolist(), strict=False) if abs(one) < 1e-4]
    if len(idle) == len(sizes):
        return AS_ASKED  # nothing is learnt, which says nothing of shares
    if idle:
        have = "has" if len(idle) == 1 else "have"
        return f"Of {len(sizes)} batches, the {' and the '.join(idle)} {have} no effect on the step. Which ones should?"
    listed = ", ".join(f"{one:.3g}" for one in (times * shares).tolist())
    told = f"Of batches of {', '.join(map(str, sizes))} rows, yours count {listed}."
    if torch.allclose(times, times[:1].expand(len(sizes)), rtol=1e-3):
        divisors = {len(sizes) + 2: "the numbers in the inputs", 7: "the numbers in the targets"}
        of = next((f", as if you counted {name}" for n, name in divisors.items() if abs(times[0] * n - 1) < 1e-3), "")
        return (
            f"{told} Each row counts the same, but the step is {times[0].item():.3g} times as long as it should be{of}."
            " What should all shares add up to?"
        )
    return f"{told} What share of all rows is in each?"


TRIAL = Trial(
    module="transformer_course.training_well.gradients",
    points=3,
    cases=cases,
    probe=probe,
    called={
        "output": "the mean loss",
        "kind": "what is returned",
        "counts": "how much each batch counts",
        "weights": "the weights afterwards",
        "steps": "how often the optimiser stepped",
        "at_once": "what is kept for the backward pass at once",
    },
    aspects=(
        A_FLOAT,
        main(
            "the weights afterwards",
            3.0,
            ("counts", "weights"),
            "The weights are those after one step with the large batch.",
        ),
        Aspect(
            "the mean loss",
            ("output",),
            CONTENT,
            2.0,
            tags=USUAL,
            meaning="The result is the mean loss over all rows, before the step.",
        ),
        also(
            "one step of the optimiser",
            "steps",
            weight=2.0,
            meaning="However many batches there are, the optimiser that is passed in takes one step.",
        ),
        UNEQUAL,
        MEMORY,
        SINGLE,
        LEFT_OVER,
        LOSS,
        untouched("batches untouched"),
        modes(),
    ),
)

"""`train`: how it is tried. The probe brings a toy model and its optimizer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects, optim
from cellcheck.authoring.calls import state
from cellcheck.authoring.draw import dims, normal
from transformer_course.lessons.lesson_01.drawing import draw_params

_special = partial(aspects.special, keys=("weights", "losses"))
ADAM = _special("any optimizer", "adam", meaning="Training works with whichever optimiser is passed in, such as Adam.")
ONE_OUTPUT = _special("one output", "", 2.0, "A model with a single output is trained correctly too.")
ONE_ROW = _special("a batch of one")
FEW_STEPS = _special(
    "as many steps as asked", meaning="Training takes exactly as many steps as it is asked for, even one or none."
)
DOUBLE = _special("float64")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(optimizer: str, steps: int, n: int, d_out: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        d_in, d_hidden = dims(generator, 2, 2, 5)
        return {
            "params": draw_params(generator, [d_in, d_hidden, d_out], dtype),
            "inputs": normal(generator, n, d_in, dtype=dtype),
            "targets": 3 * normal(generator, n, d_out, dtype=dtype),  # so that gradients are long
            "optimizer": optimizer,
            "steps": steps,
        }

    several, rows = sorted(dims(generator, 2, 2, 6))
    return [
        Case.of("with plain SGD", **drawn("sgd", 4, rows, several)),
        Case.of("with SGD and momentum", **drawn("momentum", 4, rows, several)),
        Case.of("with an optimiser that climbs, so that the loss rises", **drawn("climbing", 4, rows, several)),
        Case.of("with Adam", ADAM, **drawn("adam", 3, rows, several)),
        Case.of("with one output", ONE_OUTPUT, **drawn("sgd", 3, rows, 1)),
        Case.of("on a batch of one", ONE_ROW, **drawn("momentum", 3, 1, several)),
        Case.of("with a single step", FEW_STEPS, **drawn("sgd", 1, rows, several)),
        Case.of("with no step at all", FEW_STEPS, **drawn("sgd", 0, rows, several)),
        Case.of("with float64", DOUBLE, **drawn("adam", 3, rows, several, torch.float64)),
    ]


class ToyModel(nn.Module):
    """Two layers with tanh between them: smooth, so that rounding moves nothing but the last digits."""

    def __init__(self, params: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
        super().__init__()
        self.parts = nn.ParameterList(nn.Parameter(tensor.clone()) for pair in params for tensor in pair)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        w1, b1, w2, b2 = self.parts
        predictions: torch.Tensor = torch.tanh(inputs @ w1 + b1) @ w2 + b2
        return predictions


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda parameters: optim.SGD(parameters, lr=0.05),
    "climbing": lambda parameters: optim.SGD(parameters, lr=0.01, maximize=True),
    "momentum": lambda parameters: optim.SGD(parameters, lr=0.03, momentum=0.8),
    "adam": lambda parameters: optim.Adam(parameters, lr=0.02),
}


# Plain SGD of one's own moves the weights just as the given one does, where that is plain.
THE_GIVEN_ONE = "the optimizer that is passed in"
NEVER = "The optimizer that is passed in never takes a step. Who moves the weights in your answer?"
NO_GRADIENTS = (
    "At each step of the optimiser, the model that was passed in has no gradients. Which model does your backward "
    "reach, and are its gradients still there when the step is taken?"
)


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x, targets = inputs["inputs"], inputs["targets"]
    model = ToyModel(inputs["params"])
    optimizer = OPTIMIZERS[inputs["optimizer"]](model.parameters())
    before = [parameter.detach().clone() for parameter in model.parameters()]
    steps: list[bool] = []  # whether there were gradients at each
    optimizer.register_step_post_hook(
        lambda *_: steps.append(any(p.grad is not None and bool(p.grad.any()) for p in model.parameters()))
    )
    losses = symbol(model, x, targets, optimizer, inputs["steps"])
    still = all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))
    return {
        "moved_by": _moved_by(steps, still, inputs["optimizer"]),
        "losses": losses,
        "kind_of_losses": _kinds(losses),
        "weights": list(model.parameters()),
        "arguments": state((x, targets)),
    }


def _moved_by(steps: list[bool], still: bool, optimizer: str) -> str:
    if steps and still and not any(steps):
        return NO_GRADIENTS
    return THE_GIVEN_ONE if steps or still or optimizer == "sgd" else NEVER


def _kinds(losses: Any) -> str:
    if not isinstance(losses, list | tuple):
        return f"no list, but a {type(losses).__name__}"
    others = sorted({type(loss).__name__ for loss in losses if not isinstance(loss, float)})
    return ", ".join(others) or "float"


def numbers(observation: Observation, case: Case) -> Observation:
    """Losses in tensors are numbers too; that they are no Python floats is noted apart."""
    losses = [
        float(loss) if isinstance(loss, torch.Tensor) and loss.numel() == 1 else loss for loss in observation["losses"]
    ]
    return {**observation, "losses": losses}


TRIAL = Trial(
    module="transformer_course.training",
    points=3,
    cases=cases,
    probe=probe,
    canonical=numbers,
    called={"moved_by": "what moves the weights"},
    aspects=(
        aspects.main(
            "the model learns",
            keys=("moved_by", "weights"),
            meaning="After training, the weights are where the optimiser should have taken them.",
        ),
        Aspect(
            "losses",
            keys=("losses",),
            kinds=aspects.KNOWN,
            weight=2.0,
            tags=aspects.USUAL,
            meaning="The list holds one loss for each step, measured before that step.",
        ),
        aspects.also("Python floats", "kind_of_losses", meaning="The losses are plain Python floats, not tensors."),
        ADAM,
        ONE_OUTPUT,
        ONE_ROW,
        FEW_STEPS,
        DOUBLE,
        aspects.untouched(),
    ),
)

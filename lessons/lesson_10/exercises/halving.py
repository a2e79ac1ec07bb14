"""`half_precision_step`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.training_well.half import half_precision_step
from grader.authoring import draw
from grader.authoring.aspects import main, special
from grader.authoring.spec import USUAL, Aspect, Case, Exercise, Mistake, tagged


def _steps(generator: np.random.Generator) -> list[Case]:
    d, wide, out = draw.dims(generator, 3, 3, 7)

    def drawn(rows: int, dtype: str, **others: Any) -> dict[str, Any]:
        weights = {**draw.linear(generator, "linear_in", d, wide), **draw.linear(generator, "linear_out", wide, out)}
        inputs, targets = draw.normal(generator, rows, d), 3 + draw.normal(generator, rows, out)
        return {"weights": weights, "inputs": inputs, "targets": targets, "dtype": dtype, **others}

    a, b = draw.dims(generator, 2, 3, 9)
    return [
        Case("in bfloat16", drawn(a, "bfloat16"), USUAL),
        Case("in float16", drawn(b, "float16"), USUAL),
        Case("in float16 with other weights", drawn(a, "float16"), tagged("float16")),
        Case("with gradients left over from before", drawn(b, "bfloat16", left_over=True), tagged("left")),
        Case("with a batch of one", drawn(1, "bfloat16"), tagged("one")),
    ]


def _step(
    *,
    context: Callable[[torch.dtype], Any] = lambda dtype: torch.autocast("cpu", dtype=dtype),
    clear: str = "first",
    told: Callable[[torch.Tensor], Any] = lambda loss: loss.item(),
) -> Callable[..., Any]:
    """The right step, with one thing changed."""

    def step(model: Any, inputs: Any, targets: Any, loss_function: Any, optimizer: Any, dtype: torch.dtype) -> Any:
        if clear == "first":
            optimizer.zero_grad()
        with context(dtype):
            loss = loss_function(model(inputs), targets)
        loss.backward()
        if clear == "late":
            optimizer.zero_grad()
        optimizer.step()
        return told(loss)

    return step


def _weights_too(model: Any, inputs: Any, targets: Any, loss_function: Any, optimizer: Any, dtype: torch.dtype) -> Any:
    model.to(dtype)
    optimizer.zero_grad()
    loss = loss_function(model(inputs.to(dtype)), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def _there_and_back(
    model: Any, inputs: Any, targets: Any, loss_function: Any, optimizer: Any, dtype: torch.dtype
) -> Any:
    loss = _weights_too(model, inputs, targets, loss_function, optimizer, dtype)
    model.float()
    return loss


def _inputs_alone(model: Any, inputs: Any, targets: Any, loss_function: Any, optimizer: Any, dtype: torch.dtype) -> Any:
    optimizer.zero_grad()
    loss = loss_function(model(inputs.to(dtype).float()), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


def _all_inside(model: Any, inputs: Any, targets: Any, loss_function: Any, optimizer: Any, dtype: torch.dtype) -> Any:
    """Everything under autocast."""
    with torch.autocast(device_type=inputs.device.type, dtype=dtype):
        optimizer.zero_grad(set_to_none=False)
        loss = loss_function(model(inputs), targets)
        loss.backward()
        optimizer.step()
    return float(loss)


def _loss_outside(model: Any, inputs: Any, targets: Any, loss_function: Any, optimizer: Any, dtype: torch.dtype) -> Any:
    """The model alone under autocast."""
    for parameter in model.parameters():
        parameter.grad = None
    with torch.autocast(next(model.parameters()).device.type, dtype):
        outputs = model(inputs)
    loss = loss_function(outputs, targets)
    loss.backward()
    optimizer.step()
    return loss.detach().item()


HALF_PRECISION_STEP = Exercise(
    symbol="half_precision_step",
    points=2,
    cases=_steps,
    references=(half_precision_step,),
    called={
        "output": "the loss",
        "weights": "the weights afterwards",
        "computed_in": "what the layers compute in",
        "held_in": "what the weights are held in",
    },
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        main("layers compute in dtype", 5.0, ("computed_in",), "In the forward pass the layers compute in dtype."),
        main("the weights afterwards", 4.0, ("weights",), "The weights are those after one step."),
        main("the loss", 2.0, meaning="The result is the loss before the step."),
        Aspect(
            "weights stay float32",
            ("held_in",),
            weight=6.0,
            meaning="The weights themselves are never turned into dtype.",
        ),
        special(
            "float16", "float16", 1.0, "The dtype that is passed in is used.", ("computed_in", "weights", "output")
        ),
        special(
            "gradients left over from before",
            "left",
            2.0,
            "What a parameter's .grad holds before the call has no effect.",
            ("weights", "output", "computed_in"),
        ),
        special("a batch of one", "one", keys=("weights", "output", "computed_in")),
    ),
    mistakes=(
        Mistake(
            "no_autocast",
            _step(context=lambda dtype: torch.autocast("cpu", enabled=False)),
            "Your layers compute in float32. Which context chooses another dtype for them?",
            central=True,
        ),
        Mistake(
            "dtype_not_passed_on",
            _step(context=lambda dtype: torch.autocast("cpu")),
            "Your autocast uses its own dtype, which isn't always the one asked for. Where does dtype go?",
        ),
        Mistake(
            "always_float16",
            _step(context=lambda dtype: torch.autocast("cpu", dtype=torch.float16)),
            "Your autocast always uses float16. Where does dtype go?",
        ),
        Mistake(
            "weights_too",
            _weights_too,
            "You turn the weights themselves into 16 bits, and small steps get lost in them. What does autocast "
            "do instead?",
            central=True,
        ),
        Mistake(
            "there_and_back",
            _there_and_back,
            "You turn the weights into 16 bits and back, so they lose digits at every step. What does autocast "
            "leave alone?",
            central=True,
        ),
        Mistake(
            "inputs_alone",
            _inputs_alone,
            "You round the inputs, and the layers still compute in float32. Which context changes what layers "
            "compute in?",
            central=True,
        ),
        Mistake(
            "never_cleared",
            _step(clear="never"),
            "Gradients left over from earlier are added to yours. What clears them?",
        ),
        Mistake(
            "nothing_learnt",
            _step(clear="late"),
            "The weights stay as they were. Does the optimiser step after backward, and are the gradients still there?",
            central=True,
        ),
        Mistake(
            "loss_in_a_tensor",
            _step(told=lambda loss: loss.detach()),
            "The loss is right, but it is a tensor. What turns it into a Python float?",
        ),
        Mistake(
            "nothing_returned",
            _step(told=lambda loss: None),
            "The step is right, but your function returns None. What should it return?",
        ),
    ),
    variants={"everything inside": _all_inside, "the loss outside": _loss_outside, "for the CPU": _step()},
)

"""`clip_gradients`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.training_well.gradients import clip_gradients
from grader.authoring import draw
from grader.authoring.aspects import main, special
from grader.authoring.spec import USUAL, Aspect, Case, Exercise, Mistake, tagged


def _gradients(generator: np.random.Generator) -> list[Case]:
    a, b, c = draw.dims(generator, 3, 2, 6)

    def drawn(norm: float, *shapes: tuple[int, ...], max_norm: float = 1.0, **others: Any) -> dict[str, Any]:
        """Gradients of these shapes, the first the longest, whose norm together is `norm`."""
        parts = [draw.normal(generator, *shape, dtype=torch.float64) for shape in shapes]
        parts = [part / part.norm() / (place + 1) for place, part in enumerate(parts)]
        whole = sum(float(part.square().sum()) for part in parts) ** 0.5
        gradients = [(part * (norm / whole)).to(others.get("dtype", torch.float32)) for part in parts]
        others.pop("dtype", None)
        return {"gradients": gradients, "max_norm": max_norm, **others}

    return [
        Case("with three long gradients", drawn(7.3, (a, b), (c,), (b, c, 2)), USUAL),
        Case("with two long gradients and another limit", drawn(9.1, (b,), (c, a), max_norm=2.5), USUAL),
        Case("with gradients that are short enough", drawn(0.83, (a, c), (b,)), tagged("short")),
        Case("with gradients that are long only together", drawn(1.2, (c,), (a,), (b,)), tagged("together")),
        Case("with a parameter without a gradient", drawn(5.2, (b, a), (c,), missing=1), tagged("missing")),
        Case("with a generator of parameters", drawn(6.4, (c, b), (a,), once=True), tagged("once")),
        Case("with one parameter of one number", drawn(3.7, (1,)), tagged("one")),
        Case("with float64", drawn(8.2e6, (a, b), (c, c), max_norm=1e4, dtype=torch.float64), tagged("float64")),
    ]


def _of_all(gradients: list[torch.Tensor]) -> float:
    return float(sum(float(one.square().sum()) for one in gradients) ** 0.5)


def _clip(
    *,
    norm: Callable[[list[torch.Tensor]], Any] = _of_all,
    factor: Callable[[float, float], float] = lambda norm, most: min(1.0, most / norm),
    result: Callable[[float, float], Any] = lambda norm, most: float(norm),
) -> Callable[[Iterable[Any], float], Any]:
    """The right way, with one thing changed."""

    def clip(parameters: Iterable[Any], max_norm: float) -> Any:
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        found = norm(gradients)
        for gradient in gradients:
            gradient.mul_(factor(float(found), max_norm))
        return result(found, max_norm)

    return clip


def _each_by_itself(parameters: Iterable[Any], max_norm: float) -> float:
    squares = 0.0
    for parameter in parameters:
        if parameter.grad is not None:
            norm = float(parameter.grad.norm())
            squares += norm**2
            parameter.grad.mul_(min(1.0, max_norm / norm))
    return float(squares**0.5)


def _each_number(parameters: Iterable[Any], max_norm: float) -> float:
    squares = 0.0
    for parameter in parameters:
        if parameter.grad is not None:
            squares += float(parameter.grad.square().sum())
            parameter.grad.clamp_(-max_norm, max_norm)
    return float(squares**0.5)


def _goes_twice(parameters: Iterable[Any], max_norm: float) -> float:
    norm = sum(float(p.grad.square().sum()) for p in parameters if p.grad is not None) ** 0.5
    for parameter in parameters:
        if parameter.grad is not None and norm > max_norm:
            parameter.grad.mul_(max_norm / norm)
    return float(norm)


def _none_not_skipped(parameters: Iterable[Any], max_norm: float) -> float:
    gradients = [parameter.grad for parameter in parameters]
    norm = sum(float(gradient.square().sum()) for gradient in gradients) ** 0.5
    for gradient in gradients:
        gradient.mul_(min(1.0, max_norm / norm))
    return float(norm)


def _the_weights(parameters: Iterable[Any], max_norm: float) -> float:
    held = [parameter for parameter in parameters if parameter.grad is not None]
    norm = sum(float(parameter.grad.square().sum()) for parameter in held) ** 0.5
    with torch.no_grad():
        for parameter in held:
            parameter.mul_(min(1.0, max_norm / norm))
    return float(norm)


def _of_one_vector(parameters: Iterable[Any], max_norm: float) -> float:
    """All gradients as one long vector; new tensors in the place of the old ones."""
    held = [parameter for parameter in parameters if parameter.grad is not None]
    vector = torch.cat([parameter.grad.flatten() for parameter in held])
    norm = float(vector.norm())
    for parameter in held:
        if norm > max_norm:
            parameter.grad = parameter.grad / norm * max_norm
    return norm


CLIP_GRADIENTS = Exercise(
    symbol="clip_gradients",
    points=2,
    cases=_gradients,
    references=(clip_gradients,),
    called={"output": "the norm", "clipped": "the gradients afterwards", "weights": "the parameters afterwards"},
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        main(
            "the gradients afterwards", 4.0, ("clipped",), "Long gradients are scaled so that their norm is max_norm."
        ),
        main("the norm before clipping", 2.0, meaning="The result is the norm that the gradients had before."),
        special(
            "short gradients stay as they are",
            "short",
            8.0,
            "Gradients whose norm is no more than max_norm don't change.",
            ("clipped", "output"),
        ),
        special(
            "all gradients together",
            "together",
            3.0,
            "The norm is that of all gradients together, and all are scaled by the same factor.",
            ("clipped", "output"),
        ),
        special(
            "parameters without a gradient",
            "missing",
            meaning="A parameter whose .grad is None is skipped.",
            keys=("clipped", "output"),
        ),
        special(
            "a generator of parameters",
            "once",
            meaning="model.parameters() can be gone through only once.",
            keys=("clipped", "output"),
        ),
        special("a single number", "one", meaning="One parameter of one number works too.", keys=("clipped", "output")),
        special("float64", "float64", keys=("clipped", "output")),
        Aspect(
            "weights untouched",
            ("weights",),
            meaning="Only the gradients change: the parameters themselves stay as they are.",
        ),
    ),
    mistakes=(
        Mistake(
            "each_by_itself",
            _each_by_itself,
            "You clip each parameter's gradient by itself, so the direction of the step changes. Whose norm is meant?",
            central=True,
        ),
        Mistake(
            "each_number",
            _each_number,
            "You cut off each number at max_norm. That is clipping by value: which one factor would keep the "
            "direction?",
            central=True,
        ),
        Mistake(
            "always_scaled",
            _clip(factor=lambda norm, most: most / norm),
            "Short gradients are stretched until their norm is max_norm. When should nothing change?",
            central=True,
        ),
        Mistake(
            "never_scaled",
            _clip(factor=lambda norm, most: 1.0),
            "The norm is right, but the gradients stay as they were. Do you change each parameter's own .grad, "
            "or a copy of it?",
            central=True,
        ),
        Mistake(
            "divided_by_the_norm",
            _clip(factor=lambda norm, most: 1 / norm if norm > most else 1.0),
            "Clipped gradients always have norm 1. What should their norm be?",
        ),
        Mistake(
            "sum_of_norms",
            _clip(norm=lambda gradients: sum(float(one.norm()) for one in gradients)),
            "You add up the norms of the single gradients. What is added up before the root is taken?",
            central=True,
        ),
        Mistake(
            "sum_of_magnitudes",
            _clip(norm=lambda gradients: sum(float(one.abs().sum()) for one in gradients)),
            "You add up magnitudes. What does the norm do with each number before they are added?",
            central=True,
        ),
        Mistake(
            "root_forgotten",
            _clip(norm=lambda gradients: sum(float(one.square().sum()) for one in gradients)),
            "Your norm is the sum of the squares. What is missing at the end?",
            central=True,
        ),
        Mistake(
            "largest_norm",
            _clip(norm=lambda gradients: max(float(one.norm()) for one in gradients)),
            "You take the norm of the longest gradient. How long are all of them together?",
            central=True,
        ),
        Mistake(
            "norm_afterwards",
            _clip(result=lambda norm, most: min(float(norm), most)),
            "You return the norm after clipping. Which one does the docstring ask for?",
        ),
        Mistake(
            "parameters_gone_through_twice",
            _goes_twice,
            "With a generator nothing is clipped: it is empty after the first loop. How can you keep what it gives?",
        ),
        Mistake(
            "none_not_skipped",
            _none_not_skipped,
            "A parameter that took no part has None for its gradient. What should happen to it?",
        ),
        Mistake(
            "weights_scaled",
            _the_weights,
            "You scale the parameters, not their gradients. Where does a parameter keep its gradient?",
            central=True,
        ),
        Mistake(
            "norm_in_a_tensor",
            _clip(
                norm=lambda gradients: torch.stack([one.norm() for one in gradients]).norm(),
                result=lambda norm, most: norm,
            ),
            "The number is right, but it is a tensor. What turns it into a Python float?",
        ),
        Mistake(
            "nothing_returned",
            _clip(result=lambda norm, most: None),
            "The gradients are right, but your function returns None. What should it return?",
        ),
    ),
    variants={
        "PyTorch's own": lambda parameters, max_norm: nn.utils.clip_grad_norm_(parameters, max_norm).item(),
        "as one vector": _of_one_vector,
        "a norm of norms": _clip(norm=lambda gradients: torch.stack([one.norm() for one in gradients]).norm()),
    },
)

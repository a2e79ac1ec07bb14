"""`loss_gradients`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects
from cellcheck.authoring.calls import tensors_in
from cellcheck.authoring.draw import dims, with_gaps
from cellcheck.authoring.spec import tagged
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER
from transformer_course.lessons.lesson_01.networks import Float, draw_batch
from transformer_course.lessons.watching import AS_ASKED

Pairs = list[tuple[torch.Tensor, torch.Tensor]]

ONE_OUTPUT = special("one output", meaning="A network with a single output gives the right gradients too.")
AS_A_WHOLE = Aspect(
    "gradients, and nothing else",
    keys=("followed", "output", "arguments"),
    kinds=aspects.CONTENT,
    weight=12.0,
    tags=tagged("whole"),
    meaning="It all works together: the gradients are right, and the parameters stay as they were.",
)
OLD_GRADIENTS = Aspect(
    "old gradients untouched",
    keys=("arguments",),
    kinds=aspects.CONTENT | {"dtype"},
    weight=3.0,
    tags=tagged("used"),
    meaning="Whatever the parameters' .grad held before the call is still there after it.",
)

USUAL: tuple[Aspect | str, ...] = (*aspects.USUAL, AS_A_WHOLE)
OLD = (OLD_GRADIENTS, AS_A_WHOLE)


def cases(generator: np.random.Generator) -> list[Case]:
    n, *three = dims(generator, 4, 3, 8)
    m, *five = dims(generator, 5, 3, 8)
    side = int(generator.integers(3, 6))

    def drawn(sizes: list[int], rows: int, params_are: str = "plain", dtype: Float = np.float32) -> Any:
        return {**draw_batch(generator, sizes, rows, dtype), "params_are": params_are}

    laid_out = with_gaps(drawn(three, n))
    return [
        Case.of("with two layers", *USUAL, **drawn(three, n)),
        Case.of("with three layers", *USUAL, **drawn(five, m)),
        Case.of("with parameters that require gradients", *USUAL, **drawn([side] * 3, side, "leaves")),
        Case.of("with a single layer", SINGLE_LAYER, **drawn(three[:2], n)),
        Case.of("with one output", ONE_OUTPUT, **drawn([*three[:2], 1], n)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **drawn(three, 1)),
        Case.of("with float64", aspects.FLOAT64, **drawn(three, n, dtype=np.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
        Case.of("with parameters that require gradients and hold old ones", *OLD, **drawn(three, n, "used")),
    ]


def without_old_gradients(observation: Observation, case: Case) -> Observation:
    """Where the parameters hold old gradients, only that they still do is asked for.

    A deep copy of a tensor brings its gradient along. The contract does not say that parameters hold any, so
    an answer that adds to the copy's gradient is not held to it.
    """
    if case.tags >= OLD_GRADIENTS.tags:
        return {"arguments": observation["arguments"]}
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    return {"followed": _followed(observation["output"], case.inputs["params"], case.inputs["batch"]), **observation}


def _followed(output: Any, params: Pairs, batch: tuple[torch.Tensor, torch.Tensor]) -> str:
    """Which gradients are 0, and whether all are too large by the same whole number, in words."""
    layers = [(W.detach().clone().requires_grad_(), b.detach().clone().requires_grad_()) for W, b in params]
    x = batch[0].detach()
    for W, b in layers[:-1]:
        x = torch.relu(x @ W + b)
    W, b = layers[-1]
    right = torch.autograd.grad((x @ W + b - batch[1].detach()).square().mean(), tensors_in(layers))
    theirs = tensors_in(output)
    if [t.shape for t in theirs] != [t.shape for t in right] or not all(t.is_floating_point() for t in theirs):
        return AS_ASKED
    factors = []
    for one, other in zip((t.double() for t in theirs), (t.double() for t in right), strict=True):
        factor = float((one.detach() * other).sum() / other.square().sum())
        if not torch.allclose(one.detach(), factor * other, rtol=1e-3, atol=1e-5):
            return AS_ASKED
        factors.append(round(factor, 3))
    zero = [(at // 2, "W" if at % 2 == 0 else "b") for at, factor in enumerate(factors) if factor == 0]
    if zero and set(factors) == {0.0, 1.0}:
        names = ", ".join(f"{name} of layer {layer}" for layer, name in zero)
        return f"Your gradient is 0 for these, counted from 0: {names}. Does the graph lead back to them?"
    if set(factors) == {2.0}:
        return "All your gradients are twice too large. Is the loss, or its backward, counted twice?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.mlp",
    points=3,
    cases=cases,
    canonical=without_old_gradients,
    called={"followed": "where gradients come from"},
    aspects=(
        AS_A_WHOLE,
        aspects.shape(),
        replace(aspects.values(), keys=("followed", "output")),
        SINGLE_LAYER,
        ONE_OUTPUT,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(),
        OLD_GRADIENTS,
        aspects.untouched(weight=3.0),
    ),
)

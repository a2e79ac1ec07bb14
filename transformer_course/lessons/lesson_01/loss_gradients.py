"""`loss_gradients`: how it is tried."""

from collections.abc import Sequence
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
    if isinstance(output, list) and (words := _places(output, right)) != AS_ASKED:
        return words
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


def _places(output: list[Any], right: Sequence[torch.Tensor]) -> str:
    """Where pairs hold the right gradients in the wrong places, or not all of them."""
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in output):
        return AS_ASKED
    theirs = [each for pair in output for each in pair]
    if not all(isinstance(each, torch.Tensor) for each in theirs):
        return AS_ASKED
    origins = [[at for at, other in enumerate(right) if _alike(each, other)] for each in theirs]
    if any(len(origin) != 1 for origin in origins):
        return AS_ASKED
    places = [place for (place,) in origins]
    layers = [W // 2 for W, b in _in_pairs(places) if W % 2 == 0 and b == W + 1]
    if len(layers) < len(output):  # some pair isn't a layer's
        if sorted(places) != list(range(len(right))) or all(b == W - 1 for W, b in _in_pairs(places)):
            return AS_ASKED  # pairs that are swapped are a mistake of their own
        at, place = next((at, place) for at, place in enumerate(places) if at != place)
        name = "dW" if place % 2 == 0 else "db"
        return (
            f"All the gradients are there, but entry [{at // 2}][{at % 2}] of your list is the {name} of layer "
            f"{place // 2}, counted from 0. Which two belong together?"
        )
    missing = [layer for layer in range(len(right) // 2) if layer not in layers]
    if missing and len(set(layers)) == len(layers):
        names = " and ".join(map(str, missing))
        return (
            f"Counted from 0, the gradients of layer {names} are missing. Which pairs of params does your list cover?"
        )
    return AS_ASKED


def _in_pairs(places: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(places[0::2], places[1::2], strict=True))


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or not one.is_floating_point():
        return False
    return torch.allclose(one.detach().double(), other.double(), rtol=1e-3, atol=1e-5)


TRIAL = Trial(
    module="transformer_course.mlp",
    points=3,
    cases=cases,
    canonical=without_old_gradients,
    called={"followed": "where gradients come from"},
    aspects=(
        AS_A_WHOLE,
        aspects.shape(),
        aspects.worded(aspects.values(), "followed"),
        SINGLE_LAYER,
        ONE_OUTPUT,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(),
        OLD_GRADIENTS,
        aspects.untouched(weight=3.0),
    ),
)

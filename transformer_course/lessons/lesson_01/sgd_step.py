"""`sgd_step`: how it is tried. The probe is in `probes`: this module says what is right."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import tensors_in
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER, WIDTH_ONE, draw_params
from transformer_course.lessons.watching import AS_ASKED

Pairs = list[tuple[torch.Tensor, torch.Tensor]]


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: list[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        return {
            "params": draw_params(generator, sizes, dtype),
            "gradients": draw_params(generator, sizes, dtype),
            "learning_rate": round(float(generator.uniform(0.05, 0.4)), 3),
        }

    four = dims(generator, 4)
    side = int(generator.integers(3, 6))
    laid_out = with_gaps(drawn(dims(generator, 3)))
    return [
        Case.of("with three layers", **drawn(four)),
        Case.of("where all sizes are equal", **drawn([side] * 3)),
        Case.of("with a large learning rate", **{**drawn(four[:3]), "learning_rate": 3.0}),
        Case.of("with a single layer", SINGLE_LAYER, **drawn(four[:2])),
        Case.of("with layers of width one", WIDTH_ONE, **drawn([1, 1, 1])),
        Case.of("with float64", aspects.FLOAT64, **drawn(four, torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The new parameters, and how far they have moved, if each has moved along its own gradient."""
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    return {"moved": _moved(observation["output"], **case.inputs), **observation}


def _moved(output: Any, params: Pairs, gradients: Pairs, learning_rate: float) -> str:
    new, old, slopes = ([t.detach().double() for t in tensors_in(pairs)] for pairs in (output, params, gradients))
    if [t.shape for t in new] != [t.shape for t in old]:
        return AS_ASKED
    rates = []
    for after, before, slope in zip(new, old, slopes, strict=True):
        rate = float(((before - after) * slope).sum() / slope.square().sum())
        if not torch.allclose(after.detach(), before - rate * slope, rtol=1e-4, atol=1e-5):
            return AS_ASKED
        rates.append(rate)
    steps = torch.tensor(rates).reshape(-1, 2)  # (layers, W and b)
    right = torch.isclose(steps, torch.full_like(steps, learning_rate), rtol=1e-3)
    still = (steps.abs() < 1e-5).all(dim=1)
    if bool((right.all(dim=1) | still).all()) and still.any() and not still.all():
        layers = " and ".join(str(layer) for layer in still.nonzero().flatten().tolist())
        return f"Counted from 0, layer {layers} didn't move at all. Which layers does your loop run over?"
    if right.all() or not torch.isclose(steps, steps[0], rtol=1e-3, atol=1e-5).all():
        return AS_ASKED
    of_weights, of_biases = (_way(rate) for rate in steps[0].tolist())
    if of_weights == of_biases:
        if not steps.any():
            return AS_ASKED
        return f"Your parameters {of_weights}, and learning_rate is {learning_rate:.3g}. How far should each one move?"
    return (
        f"Your weights {of_weights}, and your biases {of_biases}; learning_rate is {learning_rate:.3g}. How far should "
        "each of the two move, and which way?"
    )


def _way(rate: float) -> str:
    if abs(rate) < 1e-5:
        return "stay where they are"
    return f"{'go downhill' if rate > 0 else 'climb'} by {abs(rate):.3g} times their gradients"


TRIAL = Trial(
    module="transformer_course.training",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"moved": "how far the parameters moved"},
    aspects=(
        aspects.shape(),
        aspects.worded(aspects.values(), "moved"),
        SINGLE_LAYER,
        WIDTH_ONE,
        *aspects.any_numbers(),
        aspects.untouched("old parameters untouched", weight=10.0),
    ),
)

"""`l2_penalty`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import FLOAT64, LAYOUT, USUAL, any_numbers, untouched, values, worded
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import dims, with_gaps
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.lesson_01.computed import numbers_in
from transformer_course.lessons.lesson_01.drawing import SINGLE_LAYER, WIDTH_ONE, draw_params, learning
from transformer_course.lessons.lesson_01.graphs import GRAPH, behind
from transformer_course.lessons.lesson_01.single_number import ONE_NUMBER, one_number
from transformer_course.lessons.watching import AS_ASKED


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(sizes: list[int], dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"params": draw_params(generator, sizes, dtype)}

    sizes = dims(generator, 5)
    side = int(generator.integers(3, 6))
    return [
        Case.of("with two layers", **drawn(sizes[:3])),
        Case.of("with four layers", **drawn(sizes)),
        Case.of("where all sizes are equal", **drawn([side] * 4)),
        Case.of("with a single layer", SINGLE_LAYER, **drawn(sizes[3:])),
        Case.of("with layers of width one", WIDTH_ONE, **drawn([1, sizes[0], 1])),
        Case.of("with float64", FLOAT64, **drawn(sizes[1:4], torch.float64)),
        Case.of("with tensors that are not contiguous", LAYOUT, **with_gaps(drawn(sizes[:3]))),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The one number, and what else it is made of, if that can be seen."""
    if "output" not in observation:
        return observation
    observation = one_number(observation, case)
    if not case.tags >= USUAL:
        return observation
    params, number = case.inputs["params"], numbers_in(observation["output"])
    right = number.shape == () and np.isclose(number, sum((numbers_in(W) ** 2).sum() for W, _ in params), rtol=1e-4)
    graph = behind(observation, bool(right))
    return {"added": _added(observation["output"], params), "graph": graph, **observation}


def _added(output: Any, params: Any) -> str:
    squares = [numbers_in(W) ** 2 for W, _ in params]
    number, sums = numbers_in(output), np.array([each.sum() for each in squares])
    if number.shape != () or np.isclose(number, sums.sum(), rtol=1e-4):
        return AS_ASKED
    weights = sum(each.size for each in squares)
    means = np.array([each.mean() for each in squares])
    others = {
        f"Your result is the sum divided by {weights}, the number of weights. Does": sums.sum() / weights,
        f"Your result is the sum divided by {len(sums)}, the number of layers. Does": sums.sum() / len(sums),
        "You add up each layer's mean of the squared weights. Does": means.sum(),
        "Your result is the mean over the layers of each layer's mean. Does": means.mean(),
        "You take the square of the sum of the weights. Does": sum(numbers_in(W).sum() for W, _ in params) ** 2,
    }
    for words, other in others.items():
        if "layers. Does" in words and len(sums) == 2:  # whatever is halved looks like that
            continue
        if np.isclose(number, other, rtol=1e-4):
            return f"{words} the docstring ask for {'that' if 'square of' in words else 'a mean'}?"
    for at in range(len(sums)):
        if len(sums) > 1 and np.isclose(number, sums[at], rtol=1e-4):
            return f"Only the weights of layer {at}, counted from 0, count. Which layers does the docstring add up?"
        if len(sums) > 2 and np.isclose(number, np.delete(sums, at).sum(), rtol=1e-4):
            return f"The weights of layer {at}, counted from 0, don't count. Which layers does the docstring add up?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.mlp",
    points=1,
    cases=cases,
    probe=in_order_with_gradients(0),
    canonical=in_words,
    called={"added": "what is added up"},
    aspects=(
        ONE_NUMBER,
        worded(values(), "added"),
        *learning(11.0),
        GRAPH,
        SINGLE_LAYER,
        WIDTH_ONE,
        *any_numbers(),
        untouched(),
    ),
)

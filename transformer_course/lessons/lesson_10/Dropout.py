"""`Dropout`: how it is tried. What is random is looked at through what is always the same about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import aspects, draw
from cellcheck.authoring.aspects import also, main, refused, special, untouched
from cellcheck.authoring.calls import gradients, state
from cellcheck.authoring.modules import built
from cellcheck.authoring.spec import USUAL, Case, Observation, Trial
from transformer_course.lessons.watching import AS_ASKED

AXES = special("any number of axes", "", 4.0, "x may have any shape.", ("output", "share", "alone"))
EVALUATING = special(
    "nothing in evaluation mode", "", 33.0, "In evaluation mode, the layer returns x as it is.", ("in_eval",)
)
NO_SHARE = special("p = 0", meaning="With p = 0, nothing changes.")
HALF = special("float16", "", 2.0, "float16 in, float16 out.", ("half",))
FLOAT64 = replace(aspects.FLOAT64, keys=("output", "share"))
REFUSED = refused("an impossible p", weight=2.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """No number is near 0, so a dropped one shows."""
        drawn = draw.normal(generator, *shape, dtype=dtype)
        return drawn.sign() * (drawn.abs() + 0.5)

    first, second = (float(p) for p in generator.permutation([0.2, 0.3]))
    a, b = draw.dims(generator, 2, 150, 200)
    return [
        Case.of("with a small p", p=first, x=numbers(a, b)),
        Case.of("with a large p", p=0.7, x=numbers(b, a)),
        Case.of("with three axes", AXES, p=second, x=numbers(30, 24, 20)),
        Case.of("with a single axis", AXES, p=first, x=numbers(3 * a)),
        Case.of("in evaluation mode", EVALUATING, p=first, x=numbers(12, 15), evaluating=True),
        Case.of("with p = 0", NO_SHARE, p=0.0, x=numbers(5, 3)),
        Case.of("with float64", FLOAT64, p=second, x=numbers(b, a, dtype=torch.float64)),
        Case.of("in float16", HALF, p=first, x=numbers(a, b).half()),
        Case.of("with p = 1", REFUSED, p=1.0, x=numbers(2, 3)),
        Case.of("with a negative p", REFUSED, p=-0.1, x=numbers(2, 3)),
        Case.of("with a p above 1", REFUSED, p=1.5, x=numbers(2, 3)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What each number is multiplied by, how many are dropped, which ones together, and whether again."""
    x = inputs["x"]
    torch.default_generator.manual_seed(4)
    generator = torch.get_rng_state()
    layer = built(symbol, inputs["p"])
    seed = "left alone" if torch.equal(torch.get_rng_state(), generator) else "set or used"
    model = nn.Sequential(layer)  # a layer is switched by the model that it is part of
    if inputs.get("evaluating"):
        model.train()(x.clone())
        return {"in_eval": _in_words(model.eval()(x), x)}
    model.eval()(x.clone())
    model.train()
    handed = x.clone()
    first = layer(handed).clone()
    if x.dtype == torch.float16:
        return {"half": str(first.dtype)}
    before, after = state([x]), state([handed])
    factors = first / x
    if inputs["p"] == 0:
        return {"output": _levels(factors), "arguments": [before, after]}
    second, dropped = layer(x.clone()), factors == 0
    elsewhere = built(symbol, inputs["p"])(x.clone())
    share = dropped.float().mean().item()
    anew = _again(first == 0, second == 0, elsewhere == 0)
    passes = chain((first, second, elsewhere), (layer(x.clone()) for _ in range(3)))
    return {
        "output": _levels(factors),
        "share": "about p" if abs(share - inputs["p"]) < 0.12 else f"about {share:.1f}",
        "anew": anew,
        "alone": _AS_MANY if anew == _ANEW and _is_same_count(passes) else _together(dropped),
        "gradients": _flow(layer, x),
        "dtype": str(first.dtype),
        "seed": seed,
        "arguments": [before, after],
    }


def canonical(observation: Observation, case: Case) -> Observation:
    """Which numbers of x a layer has changed is chance; whether it has only set some to 0 isn't."""
    if case.tags >= USUAL and "output" in observation:
        observation = {"kept": _kept(observation["output"], case.inputs["p"]), **observation}
    if "arguments" not in observation:
        return observation
    before, after = observation["arguments"]
    (x,), (left,) = before["values"], after["values"]
    changed = left != x
    if not changed.any():
        return observation
    shown = torch.ones_like(x) if left[changed].any() else torch.zeros_like(x)
    return {**observation, "arguments": [before, {**after, "values": [shown]}]}


def _kept(levels: list[float], p: float) -> str:
    """What kept numbers are multiplied by, where that is one factor."""
    if len(levels) != 2 or levels[0] != 0 or abs(levels[1] - 1 / (1 - p)) < 2e-3:
        return AS_ASKED
    factors = {
        "the root of 1 / (1 - p)": (1 - p) ** -0.5,
        "1 / (1 - p) ** 2": (1 - p) ** -2,
        "1 / (1 + p)": 1 / (1 + p),
        "1 + p": 1 + p,
        "the root of 1 - p": (1 - p) ** 0.5,
        "1 / p": 1 / p,
        "p": p,
        "1 / (p * (1 - p))": 1 / (p * (1 - p)),
    }
    name = next((f", {name}" for name, factor in factors.items() if abs(levels[1] - factor) < 2e-3), "")
    return (
        f"With p = {p:g}, kept numbers are multiplied by {levels[1]:.4g}{name}. Which factor makes up for the others?"
    )


def _in_words(result: Any, x: torch.Tensor) -> str:
    """What evaluation mode makes of x, whatever is drawn; no number of x is 0."""
    if not isinstance(result, torch.Tensor) or (result.shape, result.dtype) != (x.shape, x.dtype):
        return "nothing of the shape and the dtype of x"
    factors = result / x
    if bool((factors == 0).any()):
        return "some numbers become 0" if bool(factors.any()) else "all numbers become 0"
    if torch.allclose(factors, factors[:1, :1].expand_as(x)):
        factor = factors.flatten()[0].item()
        return "x as it is" if abs(factor - 1) < 1e-5 else f"x times {factor:.2f}"
    return "something else"


def _levels(factors: torch.Tensor) -> list[float]:
    """The different factors, as few as they are."""
    levels = sorted({round(factor, 3) + 0.0 for factor in factors.unique().tolist()})  # type: ignore[no-untyped-call]
    return levels if len(levels) <= 4 else [*levels[:2], *levels[-2:]]


_ANEW = "different numbers"
_AS_MANY = (
    "You drop exactly as many numbers in each pass. When each number is decided by itself, how many are dropped is up "
    "to chance, too: does one number's fate depend on the others'?"
)


def _is_same_count(passes: Iterable[torch.Tensor]) -> bool:
    """Whether as many numbers are 0 in each pass, and some: the first that differs ends it."""
    counts = (int((result == 0).sum()) for result in passes)
    first = next(counts)
    return first > 0 and all(count == first for count in counts)


def _again(first: torch.Tensor, second: torch.Tensor, elsewhere: torch.Tensor) -> str:
    """What a layer drops in its second call, and another layer in its first, beside what the first call dropped."""
    if torch.equal(first, second):
        return "the same numbers"
    return "the same numbers in every layer" if torch.equal(first, elsewhere) else _ANEW


def _together(dropped: torch.Tensor) -> str:
    """Whether neighbours along some axis share their fate far more often than by chance."""
    for axis in reversed(range(dropped.dim())):
        neighbours = dropped.movedim(axis, 0)
        if bool((neighbours[1:] == neighbours[:-1]).float().mean() > 0.97):
            return "whole rows" if axis == dropped.dim() - 1 else f"alike along axis {axis}"
    return "each by itself"


def _flow(layer: Any, x: torch.Tensor) -> str:
    """Whether each number's gradient is multiplied by what the number was multiplied by."""
    followed = x.detach().clone().requires_grad_()
    result = layer(followed * 1.0)
    slopes = gradients(result, [followed]) if result.requires_grad else [None]
    slope = slopes[0] if isinstance(slopes, list) else None
    weights = gradients(followed * 1.0, [followed])
    assert isinstance(weights, list)
    assert weights[0] is not None
    if slope is None:
        return "none"
    right = torch.allclose(slope, (result / x).detach() * weights[0], atol=1e-4)
    return "those of the kept numbers" if right else "not those of the kept numbers"


TRIAL = Trial(
    module="transformer_course.training_well.dropout",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "kept": "what kept numbers are multiplied by",
        "output": "what each number is multiplied by",
        "share": "the share that is dropped",
        "anew": "what two calls drop",
        "alone": "which numbers are dropped together",
        "in_eval": "the output in evaluation mode",
    },
    shown=lambda case: {"p": case.inputs["p"]},
    aspects=(
        main(
            "what is kept, and what becomes 0",
            5.0,
            ("kept", "output", "share"),
            "A share of about p becomes 0, and every other number is divided by 1 - p.",
        ),
        also(
            "anew in each call", "anew", weight=6.0, meaning="Two calls drop different numbers, and so do two layers."
        ),
        also("each number by itself", "alone", weight=6.0, meaning="Whole rows or columns aren't dropped together."),
        AXES,
        EVALUATING,
        NO_SHARE,
        also(
            "gradients flow",
            "gradients",
            weight=2.0,
            meaning="A dropped number gets no gradient, and a kept one gets 1 / (1 - p).",
        ),
        FLOAT64,
        HALF,
        also("dtype kept", "dtype", weight=0.5, meaning="The result keeps the dtype of x."),
        REFUSED,
        also("no seed set", "seed", weight=0.5, meaning="Making a layer leaves the program's random numbers alone."),
        untouched(),
    ),
)

"""`clip_gradients`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import aspects, draw
from cellcheck.authoring.aspects import also, main
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish


def special(name: str, meaning: str = "", weight: float = 1.0) -> Aspect:
    return aspects.special(name, "", weight, meaning, ("clipped", "output"))


SHORT = aspects.central(
    aspects.special(
        "short gradients stay as they are",
        "",
        11.0,
        "Gradients whose norm is no more than max_norm don't change.",
        ("clipped",),
    )
)
TOGETHER = special(
    "all gradients together",
    "The norm is that of all gradients together, and all are scaled by the same factor.",
    3.0,
)
MISSING = special("parameters without a gradient", "A parameter whose .grad is None is skipped.")
ZERO = special("gradients that are all 0", "Gradients that are all 0 stay 0, and their norm is 0.", 2.0)
ONCE = special("a generator of parameters", "You can loop over model.parameters() only once.", 4.0)
SINGLE = special("a single number", "One parameter of one number works too.")
FLOAT64 = special("float64")  # so large that their squares are infinite in float32


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    a, b, c = draw.dims(generator, 3, 2, 6)

    def drawn(
        norm: float,
        *shapes: tuple[int, ...],
        max_norm: float = 1.0,
        dtype: torch.dtype = torch.float32,
        **others: Any,
    ) -> dict[str, Any]:
        """Gradients of these shapes, the first the longest, whose norm together is `norm`."""
        parts = [draw.normal(generator, *shape, dtype=torch.float64) for shape in shapes]
        parts = [part / part.norm() / (place + 1) for place, part in enumerate(parts)]
        whole = sum(float(part.square().sum()) for part in parts) ** 0.5
        return {"gradients": [(part * (norm / whole)).to(dtype) for part in parts], "max_norm": max_norm, **others}

    def zeros(*shapes: tuple[int, ...]) -> dict[str, Any]:
        return {"gradients": [torch.zeros(shape) for shape in shapes], "max_norm": 1.0}

    return [
        Case.of("with three long gradients", **drawn(7.3046, (a, b), (c,), (b, c, 2))),
        Case.of("with two long gradients and another limit", **drawn(9.1046, (b,), (c, a), max_norm=2.5)),
        Case.of("with gradients that are short enough", SHORT, **drawn(0.8346, (a, c), (b,))),
        Case.of("with gradients that a higher limit allows", SHORT, **drawn(1.7046, (b,), (a, c), max_norm=2.5)),
        Case.of("with gradients that a lower limit forbids", **drawn(0.8046, (a,), (b, c), max_norm=0.5)),
        Case.of("with gradients that are all 0", ZERO, **zeros((a, b), (c,))),
        Case.of("with gradients that are long only together", TOGETHER, **drawn(1.1246, (c,), (a,), (b,))),
        Case.of("with a parameter without a gradient", MISSING, **drawn(5.2046, (b, a), (c,), missing=1)),
        Case.of("with a generator of parameters", ONCE, **drawn(6.4046, (c, b), (a,), once=True)),
        Case.of("with one parameter of one number", SINGLE, **drawn(3.7046, (1,))),
        Case.of("with float64", FLOAT64, **drawn(8.2046e25, (a, b), (c, c), max_norm=1e22, dtype=torch.float64)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with these gradients, one of them perhaps with none, and what becomes of them."""
    inputs, in_words = without_the_wish(inputs)
    parameters = []
    for gradient in inputs["gradients"]:
        parameter = nn.Parameter(torch.ones_like(gradient))
        parameter.grad = gradient.clone()
        parameters.append(parameter)
    parameters[1:1] = [nn.Parameter(torch.ones(2)) for _ in range(inputs.get("missing", 0))]
    handed = (parameter for parameter in parameters) if inputs.get("once") else parameters
    try:
        output = symbol(handed, inputs["max_norm"])
    except (AttributeError, TypeError) as error:  # which of the two depends on what is done to None first
        if "missing" in inputs and "None" in str(error):
            raise TypeError("you calculate with a .grad that is None") from error
        raise
    words = {"scaled": first_said(lambda: asked(_scaled, symbol, inputs["max_norm"]))} if in_words else {}
    return {
        **words,
        **number_and_kind(output),
        "clipped": [parameter.grad for parameter in parameters],
        "weights": [parameter.detach() for parameter in parameters],
    }


def _scaled(symbol: Any, limit: float) -> str:
    """What long gradients are multiplied by: (3, 4) and (12), whose norm is 13, and others."""
    norm, factors = _norm_and_factors(symbol, [[3.0, 4.0], [12.0]], limit)
    if max(factors) - min(factors) > 1e-5:
        alike = abs(factors[0] - factors[1]) < 1e-5
        taken_off = [number * (1 - factor) for number, factor in zip([3, 4, 12], factors, strict=True)]
        if max(taken_off) - min(taken_off) < 1e-3:
            return f"You take {taken_off[0]:.4g} off every number of a gradient. What are they multiplied by instead?"
        return (
            f"Of the gradients (3, 4) and (12), you multiply the first by {factors[0]:.3g} and the second by "
            f"{factors[2]:.3g}. Whose norm decides, and how many factors are there?"
            if alike
            else "Within one gradient, you multiply different numbers by different factors, which turns the step. How "
            "many factors does the docstring name?"
        )
    if abs(factors[0] * 13 - limit) < 1e-4 * limit:
        return AS_ASKED
    if abs(norm - 13) > 1e-3:
        return (
            f"The gradients (3, 4) and (12) have the norm 13 together, as 9 + 16 + 144 is 169, and yours is {norm:.4g}."
            " What is added up over all of them, and what is done with the sum?"
        )
    _, others = _norm_and_factors(symbol, [[2.0, 4.0], [4.0]], limit)
    added = limit / factors[0] - 13 if factors[0] else 0.0
    if abs(others[0] * (6 + added) - limit) < 1e-3:
        return (
            f"You divide max_norm by the norm and {added:.3g} more, so a norm of 13 becomes {13 * factors[0]:.4g}, and "
            f"not {limit:g}. What do you divide by?"
        )
    _, lower = _norm_and_factors(symbol, [[3.0, 4.0], [12.0]], 0.3)
    powers = [(a, b) for a in (0, 0.5, 1, 2) for b in (0, 0.5, 1, 2, 3) if (a, b) != (1, 1)]
    told = next(
        (
            f": {_power('max_norm', a)} / {_power('the norm', b)}"
            for a, b in powers
            if np.allclose(
                [factors[0], others[0], lower[0]], [limit**a / 13.0**b, limit**a / 6.0**b, 0.3**a / 13.0**b], rtol=1e-3
            )
        ),
        "",
    )
    return (
        f"All gradients are multiplied by the same factor, and it is the wrong one{told}. A norm of 13 becomes "
        f"{13 * factors[0]:.4g}, with a limit of {limit:g}. Which factor makes it {limit:g}?"
    )


def _power(name: str, exponent: float) -> str:
    return {0: "1", 0.5: f"the root of {name}", 1: name}.get(exponent, f"{name} ** {exponent}")


def _norm_and_factors(symbol: Any, gradients: list[list[float]], max_norm: float) -> tuple[float, list[float]]:
    """What is returned, and what each number is multiplied by."""
    parameters = [nn.Parameter(torch.ones(len(numbers))) for numbers in gradients]
    for parameter, numbers in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(numbers)
    norm = asked(lambda: float(symbol(parameters, max_norm)))
    clipped = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if len(clipped) < len(gradients):
        raise Unwatched
    factors = [after / torch.tensor(before) for after, before in zip(clipped, gradients, strict=True)]
    return norm, torch.cat(factors).tolist()


TRIAL = Trial(
    module="transformer_course.training_well.gradients",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "output": "the norm",
        "kind": "what is returned",
        "scaled": "what the gradients are multiplied by",
        "clipped": "the gradients afterwards",
        "weights": "the parameters afterwards",
    },
    aspects=(
        A_FLOAT,
        main(
            "the gradients afterwards",
            4.0,
            ("scaled", "clipped"),
            "Long gradients are scaled so that their norm is max_norm.",
        ),
        also(
            "the norm before clipping",
            "output",
            weight=2.0,
            meaning="The result is the norm that the gradients had before.",
        ),
        SHORT,
        TOGETHER,
        MISSING,
        ZERO,
        ONCE,
        SINGLE,
        FLOAT64,
        also(
            "weights untouched",
            "weights",
            meaning="Only the gradients change: the parameters themselves stay as they are.",
        ),
    ),
)

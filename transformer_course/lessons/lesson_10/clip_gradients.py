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


def special(name: str, meaning: str = "", weight: float = 1.0) -> Aspect:
    return aspects.special(name, "", weight, meaning, ("clipped", "output"))


SHORT = aspects.special(
    "short gradients stay as they are",
    "",
    11.0,
    "Gradients whose norm is no more than max_norm don't change.",
    ("clipped",),
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
    return {
        **number_and_kind(output),
        "clipped": [parameter.grad for parameter in parameters],
        "weights": [parameter.detach() for parameter in parameters],
    }


TRIAL = Trial(
    module="transformer_course.training_well.gradients",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "output": "the norm",
        "kind": "what is returned",
        "clipped": "the gradients afterwards",
        "weights": "the parameters afterwards",
    },
    aspects=(
        A_FLOAT,
        main(
            "the gradients afterwards", 4.0, ("clipped",), "Long gradients are scaled so that their norm is max_norm."
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

"""`LoRALinear`: how it is tried."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from grader.authoring.aspects import FLOAT64, also, main, shape, special, untouched
from grader.authoring.calls import gradients, state
from grader.authoring.draw import dims, normal
from grader.authoring.modules import built, hand_in
from grader.authoring.spec import Case, Trial
from lessons.drawing import Inputs

ONE = special("a rank of one, a single vector", "", 0.5, "Rank 1 works, and so does a single vector.")
BARE = special("a layer without bias", "", 0.5, "A base without bias works, too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(
        rows: tuple[int, ...], n: int, m: int, rank: int, bias: bool = True, dtype: torch.dtype = torch.float32
    ) -> Inputs:
        inputs = {
            "x": normal(generator, *rows, n, dtype=dtype),
            "weight": normal(generator, m, n, dtype=dtype),
            "rank": rank,
            "alpha": float(generator.choice([4.0, 5.0, 7.0])),
            "down": normal(generator, rank, n, dtype=dtype),
            "up": normal(generator, m, rank, dtype=dtype),
        }
        return inputs | ({"bias": normal(generator, m, dtype=dtype)} if bias else {})

    b, n, m = dims(generator, 3, 4, 8)
    return [
        Case.of("with rank 2", **layer((b,), n, m, 2)),
        Case.of("with rank 3, on rows of tokens", **layer((b, 3), m, n, 3)),
        Case.of("where the layer is square", **layer((2, b), n, n, 2)),
        Case.of("with rank 1", ONE, **layer((b,), n, m, 1)),
        Case.of("on a single vector", ONE, **layer((), n, m, 2)),
        Case.of("with a layer without bias", BARE, **layer((b,), n, m, 2, bias=False)),
        Case.of("with float64", FLOAT64, **layer((b,), n, m, 2, dtype=torch.float64)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """How a layer begins and what it learns; then, with the case's down and up, what it gives, merged or not."""
    x, weights, bias = inputs["x"], inputs["weight"], inputs.get("bias")
    torch.default_generator.manual_seed(0)
    wide, narrow = weights.shape
    linear = nn.Linear(narrow, wide, bias=bias is not None).to(weights.dtype)
    with torch.no_grad():
        linear.weight.copy_(weights)
        if bias is not None:
            linear.bias.copy_(bias)
    layer = built(symbol, linear, inputs["rank"], inputs["alpha"])
    seen: dict[str, Any] = {"start": layer(x).detach()}
    down = getattr(layer, "down", None)
    seen["down"] = (
        "random numbers"
        if isinstance(down, torch.Tensor) and bool(down.detach().std() > 1e-3)
        else "not random numbers"
    )
    up = getattr(layer, "up", None)
    seen["up"] = "zeros" if isinstance(up, torch.Tensor) and not up.detach().any() else "not zeros"
    seen["learns"] = sorted(name for name, parameter in layer.named_parameters() if parameter.requires_grad)
    seen["parts"], places = hand_in(layer, {"down": inputs["down"], "up": inputs["up"]})
    if len(places) < 2:
        return {**seen, "output": "no output: down or up is missing, or has another shape"}
    handed = x.clone().requires_grad_()
    output = layer(handed)
    seen["output"] = output.detach() if isinstance(output, torch.Tensor) else output
    leaves = [handed, *places.values()]
    seen["gradients"] = gradients(output, leaves) if all(leaf.requires_grad for leaf in leaves) else "cut off"
    seen["base"] = _base(layer, weights)
    seen["arguments"] = [x, state([handed])["values"]]
    return seen | _merged(layer, x)


def _base(layer: nn.Module, weight: torch.Tensor) -> str:
    base = getattr(layer, "base", None)
    if not isinstance(base, nn.Linear):
        return "no Linear layer"
    return "as it was" if torch.equal(base.weight.detach(), weight) else "changed"


def _merged(layer: Any, x: torch.Tensor) -> dict[str, Any]:
    before = copy.deepcopy(layer.state_dict())
    try:
        plain = layer.merged()
        result = plain(x)
    except Exception as error:
        return {"merged": f"stopped with {type(error).__name__}: {error}"}
    seen: dict[str, Any] = {
        "merged": result.detach() if isinstance(result, torch.Tensor) else result,
        "merged_is": "a plain Linear layer" if type(plain) is nn.Linear else f"a {type(plain).__name__}",
    }
    with torch.no_grad():
        for parameter in plain.parameters():
            parameter.add_(1.0)
    after = layer.state_dict()
    same = all(torch.equal(before[name], after[name]) for name in before)
    return {**seen, "by_itself": "as it was" if same else "changed"}


TRIAL = Trial(
    module="course.language_model.adapting",
    points=3,
    cases=cases,
    probe=probe,
    called={
        "start": "the output of a new layer",
        "down": "how down begins",
        "up": "how up begins",
        "learns": "what wants gradients",
        "merged": "the output of merged()",
        "merged_is": "what merged() returns",
        "by_itself": "the layer, after the weights of merged() were changed",
        "base": "the weight of the base",
    },
    shown=lambda case: {name: case.inputs[name] for name in ("x", "rank", "alpha")},
    aspects=(
        also("named parts", "parts", meaning="down and up have the names and shapes of the docstring."),
        shape(),
        main("values", 6.0, meaning="The output is that of the base plus the scaled correction."),
        also(
            "starts as the base",
            "start",
            "up",
            weight=2.0,
            meaning="up starts with zeros, so nothing changes at first.",
        ),
        also(
            "down starts at random", "down", weight=2.0, meaning="If down and up were both zero, neither would learn."
        ),
        also("only down and up learn", "learns", weight=15.0, meaning="The base is frozen, its bias too."),
        also("gradients flow", "gradients", meaning="Gradients reach x, down and up, as they should."),
        also(
            "merged",
            "merged",
            "merged_is",
            weight=15.0,
            meaning="merged() returns a plain Linear layer that gives the same outputs.",
        ),
        also(
            "merging changes nothing here",
            "by_itself",
            "base",
            weight=0.5,
            meaning="merged() leaves this layer as it is, and shares no weights with it.",
        ),
        ONE,
        BARE,
        replace(FLOAT64, weight=0.25),
        untouched(weight=0.25),
    ),
)

"""`LoRALinear`: how it is tried."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.calls import gradients, state
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.modules import built, hand_in
from transformer_course.lessons.aspects import explained
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.watching import AS_ASKED, asked, first_said

RESULT = ("trained", "made_of", "output")
ONE = aspects.special("a rank of one, a single vector", "", 0.5, "Rank 1 works, and so does a single vector.", RESULT)
BARE = aspects.special("a layer without bias", "", 0.5, "A base without bias works, too.", RESULT)


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(
        rows: tuple[int, ...], n: int, m: int, rank: int, bias: bool = True, dtype: torch.dtype = torch.float32
    ) -> Inputs:
        inputs = {
            "x": normal(generator, *rows, n, dtype=dtype),
            "weight": normal(generator, m, n, dtype=dtype),
            "rank": rank,
            "alpha": float(generator.choice([5.0, 7.0, 11.0])),  # no multiple of rank 2 or 3
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
        Case.of("with float64", aspects.FLOAT64, **layer((b,), n, m, 2, dtype=torch.float64)),
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
    plain = nn.functional.linear(x, weights, bias)
    seen: dict[str, Any] = {"start": "that of the trained layer" if _agree(layer(x), plain) else "another one"}
    seen["trained"] = _trained(layer, weights)
    another = built(symbol, copy.deepcopy(linear), inputs["rank"], inputs["alpha"])
    seen["down"] = _in_words(getattr(layer, "down", None), getattr(another, "down", None))
    up = getattr(layer, "up", None)
    seen["up"] = "zeros" if isinstance(up, torch.Tensor) and not up.detach().any() else "not zeros"
    seen["learns"] = sorted(name for name, parameter in layer.named_parameters() if parameter.requires_grad)
    seen["moves"] = _moves(layer, x)
    seen["parts"], places = hand_in(layer, {"down": inputs["down"], "up": inputs["up"]})
    if len(places) < 2:
        return {**seen, "output": "Your layer has no down or no up of the docstring's shape, so it can't be tried."}
    handed = x.clone().requires_grad_()
    output = layer(handed)
    seen["made_of"] = first_said(lambda: asked(_made_of, output, plain, x, inputs))
    seen["output"] = output.detach() if isinstance(output, torch.Tensor) else output
    leaves = [handed, *places.values()]
    seen["gradients"] = gradients(output, leaves) if all(leaf.requires_grad for leaf in leaves) else "cut off"
    for name, place in places.items():
        if place.dtype != weights.dtype:
            seen["output"] = (
                f"Your {name} is in {place.dtype}, the trained weight in {weights.dtype}. Which dtype should it have?"
            )
    seen["base"] = _base(layer, weights)
    seen["arguments"] = [x, state([handed])["values"]]
    return seen | _merged(layer, x, inputs)


def _in_words(down: Any, another: Any) -> str:
    """The numbers with which `down` begins, beside those of another new layer."""
    if not isinstance(down, torch.Tensor):
        return "no tensor"
    if not down.detach().any():
        return "zeros"
    if bool(down.detach().std() <= 1e-3):
        return "one number everywhere"
    same = isinstance(another, torch.Tensor) and torch.equal(down.detach(), another.detach())
    return "the same numbers in every new layer" if same else "random numbers"


def _moves(layer: nn.Module, x: torch.Tensor) -> str:
    """Whether a new layer can learn at all: whether a gradient that isn't 0 reaches any of its parameters."""
    leaves = [parameter for parameter in layer.parameters() if parameter.requires_grad]
    slopes = gradients(layer(x), leaves) if leaves else "cut off"
    reached = isinstance(slopes, list) and any(slope is not None and bool(slope.any()) for slope in slopes)
    return "something" if reached else "nothing: every gradient is 0"


def _trained(layer: nn.Module, weight: torch.Tensor) -> str:
    """Whether a new layer's base has the trained weight: as it is, the other way round, or other numbers."""
    base = getattr(layer, "base", None)
    if not isinstance(base, nn.Linear) or base.weight.shape != weight.shape or torch.equal(base.weight, weight):
        return AS_ASKED
    return "The weight of your base isn't that of the trained layer, but other numbers. What should base be?"


def _made_of(output: Any, plain: torch.Tensor, x: torch.Tensor, inputs: Mapping[str, Any]) -> str:
    """How many times the output has what the trained layer gives, and how many times up(down(x))."""
    correction = (x @ inputs["down"].T @ inputs["up"].T).flatten()
    if not isinstance(output, torch.Tensor) or output.numel() != correction.numel():
        return AS_ASKED
    parts, whole = torch.stack([plain.flatten(), correction], dim=1), output.detach().to(x.dtype).flatten()
    base, scale = _rounded(torch.linalg.lstsq(parts, whole[:, None]).solution)
    if not torch.allclose(parts @ torch.tensor([base, scale], dtype=x.dtype), whole, rtol=1e-3, atol=1e-3):
        return AS_ASKED
    if abs(base - 1) < 1e-3 and abs(scale - inputs["alpha"] / inputs["rank"]) < 1e-3:
        return AS_ASKED
    return (
        f"Your output is {base:.3g} times what the trained layer gives, plus {scale:.4g} times up(down(x)), with an "
        f"alpha of {inputs['alpha']:g} and a rank of {inputs['rank']}. Which two factors does the docstring have?"
    )


def _rounded(solution: torch.Tensor) -> list[float]:
    """Without the last digits, which say nothing and differ from call to call; and 0 without a sign."""
    return [round(number, 4) + 0.0 for number in solution.flatten().tolist()]


def _merged_by(plain: Any, inputs: Mapping[str, Any]) -> str:
    """How many times the merged weight has the base's, and how many times the correction."""
    weight = getattr(plain, "weight", None)
    if not isinstance(weight, torch.Tensor) or weight.shape != inputs["weight"].shape:
        return AS_ASKED
    correction = inputs["alpha"] / inputs["rank"] * inputs["up"] @ inputs["down"]
    parts = torch.stack([inputs["weight"].flatten(), correction.flatten()], dim=1)
    base, times = _rounded(torch.linalg.lstsq(parts, weight.detach().to(parts.dtype).flatten()[:, None]).solution)
    fits = torch.allclose(parts @ parts.new_tensor([base, times]), weight.detach().flatten(), rtol=1e-3, atol=1e-3)
    if not fits or (abs(base - 1) < 1e-3 and abs(times - 1) < 1e-3):
        return AS_ASKED
    return (
        f"The merged weight has {base:.3g} times that of the base, and {times:.3g} times the correction. How often "
        "does forward add each?"
    )


def _base(layer: nn.Module, weight: torch.Tensor) -> str:
    base = getattr(layer, "base", None)
    if not isinstance(base, nn.Linear):
        return "no Linear layer"
    return "as it was" if torch.equal(base.weight.detach(), weight) else "changed"


def _merged(layer: Any, x: torch.Tensor, inputs: Mapping[str, Any]) -> dict[str, Any]:
    before, wanted, mode = copy.deepcopy(layer.state_dict()), layer(x).detach(), layer.training
    try:
        plain = layer.merged()
        result = plain(x)
    except Exception as error:
        return {"merged": f"stopped with {type(error).__name__}: {error}"}
    if not _agree(result, wanted) and _agree(_with_bias(plain, layer, x), wanted):
        result = _but_for_its_bias(layer)  # whose numbers may be new ones
    by = AS_ASKED if _agree(result, wanted) else first_said(lambda: asked(_merged_by, plain, inputs))
    seen: dict[str, Any] = {
        "merged_by": by,
        "merged": result.detach() if isinstance(result, torch.Tensor) else result,
        "merged_is": _kind(plain, layer),
    }
    by_merging = _changed(layer, before) + (["whether it is in training mode"] if layer.training != mode else [])
    seen["by_itself"] = f"changed by merged(): {', '.join(by_merging)}" if by_merging else "as it was"
    after = copy.deepcopy(layer.state_dict())
    with torch.no_grad():
        for parameter in plain.parameters():
            parameter.add_(1.0)
    if not any(name.startswith("base.") for name in by_merging):  # or else it hasn't kept the base, whatever it shares
        shared = _changed(layer, after)
        seen["shared"] = f"changed along with the merged one: {', '.join(shared)}" if shared else "nothing"
    if not _agree(seen["merged"], wanted):
        return {**seen, "merged_later": LATER}  # it is wrong from the beginning, which is told once
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name == "up":
                parameter.add_(1.0)
    wanted = layer(x).detach()
    try:
        again = layer.merged()(x).detach()
    except Exception as error:
        return {**seen, "merged_later": f"stopped with {type(error).__name__}: {error}"}
    return {**seen, "merged_later": LATER if _agree(again, wanted) else "other outputs"}


def _with_bias(plain: Any, layer: Any, x: torch.Tensor) -> Any:
    """What a merged layer would give if it had the base's bias."""
    try:
        return nn.functional.linear(x, plain.weight, layer.base.bias).detach()
    except Exception:
        return None


def _but_for_its_bias(layer: Any) -> str:
    if layer.base.bias is None:
        return "Your merged layer is right but for its bias: the trained layer has none. Where does this one come from?"
    return "Your merged layer is right but for its bias. Which bias does the trained layer have?"


def _changed(layer: nn.Module, before: Mapping[str, torch.Tensor]) -> list[str]:
    return [name for name, tensor in layer.state_dict().items() if not torch.equal(before[name], tensor)]


def _kind(plain: Any, layer: nn.Module) -> str:
    """What `merged` returned: a Linear layer has a weight, and a bias where the base has one."""
    if type(plain) is not nn.Linear:
        return f"a {type(plain).__name__}"
    names = [name for name, _ in plain.named_parameters()]
    wanted = ["weight"] + (["bias"] if getattr(getattr(layer, "base", None), "bias", None) is not None else [])
    return "a plain Linear layer" if names == wanted else f"a Linear layer with the parameters: {', '.join(names)}"


LATER = "the outputs of the layer"


def _agree(one: Any, other: torch.Tensor) -> bool:
    return (
        isinstance(one, torch.Tensor)
        and (one.shape, one.dtype) == (other.shape, other.dtype)
        and torch.allclose(one, other, rtol=1e-4, atol=1e-4)
    )


MEANINGS = {
    "starts as the base": "up starts with zeros, so nothing changes at first.",
    "down starts at random": "If down and up were both zero, neither would learn.",
    "merged": "merged() returns a plain Linear layer that gives the same outputs, and leaves this layer as it is.",
    "merged after more training": "merged() merges what up and down are now, not what they were once.",
    "no weights in common": "The layer keeps the trained weight as it is, and the merged layer has weights of its own.",
}


TRIAL = Trial(
    module="transformer_course.language_model.adapting",
    points=3,
    cases=cases,
    probe=probe,
    called={
        "trained": "the base of a new layer",
        "start": "the output of a new layer",
        "down": "how down begins",
        "up": "how up begins",
        "learns": "what wants gradients",
        "moves": "what changes in the first step",
        "made_of": "what the output is made of",
        "merged_by": "what the merged weight is made of",
        "merged": "the output of merged()",
        "merged_is": "what merged() returns",
        "merged_later": "what merged() gives after up has changed",
        "by_itself": "this layer, after merged()",
        "shared": "what both layers hold in common",
        "base": "the weight of the base",
    },
    shown=lambda case: {name: case.inputs[name] for name in ("x", "rank", "alpha")},
    aspects=explained(
        (
            aspects.named_parts("down and up have the names and shapes of the docstring."),
            aspects.shape(),
            aspects.main(
                "values",
                6.0,
                RESULT,
                meaning="The output is that of the base plus the scaled correction.",
            ),
            replace(aspects.FLOAT64, keys=RESULT, weight=5.0),
            aspects.also("starts as the base", "start", "up", weight=16.0),
            aspects.also("down starts at random", "down", weight=16.0),
            aspects.central(
                aspects.also(
                    "only down and up learn",
                    "learns",
                    "moves",
                    weight=87.0,
                    meaning="The base is frozen, its bias too, and a new layer's gradients aren't all 0.",
                )
            ),
            aspects.also(
                "gradients flow", "gradients", weight=16.0, meaning="Gradients reach x, down and up, as they should."
            ),
            aspects.central(aspects.also("merged", "merged_by", "merged", "merged_is", "by_itself", weight=87.0)),
            aspects.also("merged after more training", "merged_later", weight=8.0),
            aspects.also("no weights in common", "shared", "base", weight=16.0),
            ONE,
            BARE,
            aspects.untouched(weight=0.25),
        ),
        MEANINGS,
    ),
)

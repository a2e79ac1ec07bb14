"""How the symbols of lesson 10 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from grader.authoring.calls import Probe, gradients, state
from grader.authoring.modules import built

Inputs = Mapping[str, Any]


def _clip(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """Parameters with these gradients, one of them perhaps with none, and what becomes of them."""
    parameters = []
    for gradient in inputs["gradients"]:
        parameter = nn.Parameter(torch.ones_like(gradient))
        parameter.grad = gradient.clone()
        parameters.append(parameter)
    parameters[1:1] = [nn.Parameter(torch.ones(2)) for _ in range(inputs.get("missing", 0))]
    handed = (parameter for parameter in parameters) if inputs.get("once") else parameters
    output = symbol(handed, inputs["max_norm"])
    return {
        "output": output,
        "clipped": [parameter.grad for parameter in parameters],
        "weights": [parameter.detach() for parameter in parameters],
    }


def _absolute(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (outputs - targets).abs().mean()


def _accumulated(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    model = nn.Linear(*inputs["weight"].T.shape)
    with torch.no_grad():
        model.weight.copy_(inputs["weight"])
        model.bias.copy_(inputs["bias"])
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    steps: list[int] = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    loss_function = _absolute if inputs.get("absolute") else nn.functional.mse_loss
    output = symbol(model, list(inputs["batches"]), loss_function, optimizer)
    return {"output": output, "weights": [p.detach() for p in model.parameters()], "steps": len(steps)}


def _dropout(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """What each number is multiplied by, how many are dropped, which ones together, and whether again."""
    torch.default_generator.manual_seed(0)
    x = inputs["x"]
    layer = built(symbol, inputs["p"])
    if inputs.get("evaluating"):
        layer.eval()
        return {"in_eval": layer(x)}
    layer.train()
    handed = x.clone()
    first = layer(handed).clone()
    before, after = state([x]), state([handed])
    factors = first / x
    if inputs["p"] == 0:
        return {"output": _levels(factors), "arguments": [before, after]}
    second, dropped = layer(x.clone()), factors == 0
    share = dropped.float().mean().item()
    followed = x.detach().clone().requires_grad_()
    result = layer(followed)
    slopes = gradients(result, [followed]) if result.requires_grad else [None]
    found = slopes[0] if isinstance(slopes, list) else None
    weights = gradients(followed * 1.0, [followed])
    assert isinstance(weights, list)
    assert weights[0] is not None
    fits = found is not None and torch.allclose(found, (result / followed).detach() * weights[0], atol=1e-4)
    return {
        "output": _levels(factors),
        "share": "about p" if abs(share - inputs["p"]) < 0.12 else f"about {share:.1f}",
        "anew": "the same numbers" if torch.equal(first == 0, second == 0) else "different numbers",
        "alone": _together(dropped),
        "gradients": "those of the kept numbers" if fits else "not those of the kept numbers",
        "dtype": str(first.dtype),
        "arguments": [before, after],
    }


def _levels(factors: torch.Tensor) -> list[float]:
    """The different factors, as few as they are."""
    found = sorted({round(factor, 3) + 0.0 for factor in factors.flatten().tolist()})
    return found if len(found) <= 4 else [*found[:2], *found[-2:]]


def _together(dropped: torch.Tensor) -> str:
    flat = dropped.flatten(0, -2)
    if dropped.any() and len({tuple(row.tolist()) for row in flat}) <= len(flat) // 2:
        return "many rows alike"
    if dropped.any() and bool((flat.all(dim=1) | ~flat.any(dim=1)).float().mean() > 0.5):
        return "whole rows"
    return "each by itself"


def _stopping(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """A model whose weights are the number of the step; the answers, and the weights that come back."""
    options = {name: inputs[name] for name in ("min_delta",) if name in inputs}
    stopping, model = symbol(inputs["patience"], **options), nn.Linear(2, 1)
    said, left = [], []
    for step, loss in enumerate(inputs["losses"]):
        _fill(model, float(step))
        said.append(bool(stopping.step(loss, model)))
        left.append(model.weight.detach().clone())
    _fill(model, -5.0)
    restored, other = [], nn.Linear(2, 1)
    for one in (model, other):  # what training does after a restore changes nothing about the next one
        _fill(other, -7.0)
        stopping.restore(one)
        restored.append([parameter.detach().clone() for parameter in one.parameters()])
        _fill(model, -9.0)
    return {"output": said, "restored": restored, "arguments": left}


def _fill(model: nn.Module, value: float) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)


class _Block(nn.Module):
    """Two Linear layers, tanh and dropout between them, and tanh at the end."""

    def __init__(self, weights: Mapping[str, torch.Tensor], p: float) -> None:
        super().__init__()
        wide, narrow = weights["linear_in.weight"].shape
        self.linear_in, self.linear_out = nn.Linear(narrow, wide), nn.Linear(wide, narrow)
        self.load_state_dict(dict(weights))
        self.dropout = nn.Dropout(p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear_out(self.dropout(torch.tanh(self.linear_in(x)))))


def _checkpointed(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x = inputs["x"].clone().requires_grad_(inputs["wanted"])
    blocks = [_Block(weights, inputs["p"]) for weights in inputs["weights"]]
    torch.default_generator.manual_seed(0)
    plain = _kept(_one_by_one, blocks, x)[1]
    torch.default_generator.manual_seed(0)
    output, kept = _kept(symbol, blocks, x)
    leaves = [parameter for block in blocks for parameter in block.parameters()] + [x] * inputs["wanted"]
    try:
        found = gradients(output, leaves)
    except Exception as error:
        found = f"stopped with {type(error).__name__}: {error}"
    few = "much less" if kept < 0.7 * plain else "not much less"
    return {
        "output": output.detach() if isinstance(output, torch.Tensor) else output,
        "kept": f"{few} than without checkpoints",
        "gradients": found,
        "arguments": [len(blocks), inputs["x"], x.detach()],
    }


def _one_by_one(blocks: list[nn.Module], x: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        x = block(x)
    return x


def _kept(run: Any, blocks: list[_Block], x: torch.Tensor) -> tuple[Any, int]:
    """What comes out, and how many numbers were saved for the way back, weights not counted."""
    weights = {id(parameter) for block in blocks for parameter in block.parameters()}
    numbers: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in weights and tensor._base is None:
            numbers.append(tensor.numel())
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        output = run(blocks, x)
    return output, sum(numbers)


class _Watched(nn.Module):
    """A network of two layers that notes what its first layer computes in."""

    def __init__(self, weights: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        (wide, narrow), (out, _) = weights["linear_in.weight"].shape, weights["linear_out.weight"].shape
        self.linear_in, self.linear_out = nn.Linear(narrow, wide), nn.Linear(wide, out)
        self.load_state_dict(dict(weights))
        self.dtypes: list[str] = []
        self.held: list[str] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.linear_in(x)
        self.dtypes.append(str(hidden.dtype))
        self.held.append(str(self.linear_in.weight.dtype))
        result: torch.Tensor = self.linear_out(torch.relu(hidden))
        return result


def _mean_square(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return (outputs.float() - targets.float()).square().mean()


def _half(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    model = _Watched(inputs["weights"])
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 2.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    dtype = getattr(torch, inputs["dtype"])
    output = symbol(model, inputs["inputs"], inputs["targets"], _mean_square, optimizer, dtype)
    parameters = list(model.parameters())
    return {
        "output": output,
        "weights": [parameter.detach().float() for parameter in parameters],
        "computed_in": model.dtypes,
        "held_in": sorted({str(parameter.dtype) for parameter in parameters} | set(model.held)),
    }


def _can_overfit(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ask = inputs["patient"]
    to_come: dict[int, list[float]] = {}  # the losses of a model's next steps

    def train_step(model: Any, batch: Any) -> float:
        if not isinstance(model, int):
            raise TypeError("train_step needs a model that make_model() has returned")
        losses = to_come.setdefault(model, [])
        if not losses:
            losses.extend(ask("steps", model, *batch))
        return float(losses.pop(0))

    return {"output": symbol(lambda: ask("make"), train_step, (inputs["inputs"], inputs["targets"]))}


PROBES: dict[str, Probe] = {
    "clip_gradients": _clip,
    "accumulated_step": _accumulated,
    "Dropout": _dropout,
    "EarlyStopping": _stopping,
    "can_overfit": _can_overfit,
    "run_checkpointed": _checkpointed,
    "half_precision_step": _half,
}

"""How the symbols of lesson 11 are called."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import Probe, given, gradients, state
from grader.authoring.modules import built, followed, hand_in
from lessons.lesson_11.fresh_modules import fresh, learned_numbers
from lessons.lesson_11.randomness import source_of_randomness

Inputs = Mapping[str, Any]


def _targets_are_next(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ask, ids = inputs["patient"], inputs["ids"]

    def make_batch(ids: Any, generator: Any) -> Any:
        number = int(torch.randint(2**31, (1,), generator=generator))
        return tuple(ask("batch", ids, number))

    answer = symbol(make_batch, ids)
    if isinstance(answer, torch.Tensor) and answer.dtype == torch.bool and answer.dim() == 0:
        answer = bool(answer)
    return {"output": answer}


# --- modules


SIZES = ("vocab_size", "max_length", "d_model", "num_heads", "num_kv_heads", "d_ff", "num_layers")


def _model(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    tokens, sizes = inputs["tokens"], given(inputs["sizes"], *SIZES)
    if inputs.get("new"):
        torch.default_generator.manual_seed(0)
        logits = built(symbol, *sizes)(tokens)
        spread = float(logits.detach().std()) if isinstance(logits, torch.Tensor) else float("nan")
        return {"new": "small numbers" if spread < 1.5 else "large numbers"}
    module = fresh(symbol, *sizes)
    seen = {"size": learned_numbers(module), **followed(module, inputs["weights"], [tokens])}
    if "max_length" in inputs["sizes"]:
        seen["positions"] = getattr(module, "max_length", "missing")
    return seen


# --- text


class _Toy(nn.Module):
    """Logits by the last token, and a little by the first one it reads. Notes what it is given."""

    def __init__(self, table: torch.Tensor, first: torch.Tensor, max_length: int | None) -> None:
        super().__init__()
        self.table, self.first = nn.Parameter(table), first
        self.read: list[int] = []
        self.recorded = False
        if max_length is not None:
            self.max_length = max_length

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.dim() != 2 or len(tokens) != 1:
            raise ValueError(f"a model wants tokens of shape (1, length), and these are {tuple(tokens.shape)}")
        longest = getattr(self, "max_length", None)
        if longest is not None and tokens.shape[1] > longest:
            raise ValueError(f"{tokens.shape[1]} tokens are too many: this model has {longest} positions")
        self.read.append(tokens.shape[1])
        self.recorded |= torch.is_grad_enabled()
        return self.table[tokens] + self.first[tokens[:, :1]]


def _continue(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    prompt, settings = inputs["prompt"], given(inputs, "new", "temperature", "top_p")
    model = _Toy(inputs["table"], inputs["first"], inputs.get("max_length"))
    if inputs.get("chance"):
        return {"chance": source_of_randomness(lambda g: symbol(model, prompt, *settings, g).tolist(), inputs["seed"])}
    model.train(inputs["training"])
    before = prompt.clone()
    generator = torch.Generator().manual_seed(inputs["seed"])
    output = symbol(model, prompt, *settings, generator)
    seen = {
        "arguments": [before, prompt],
        "training_mode": model.training,
        "recorded": "recorded" if model.recorded else "not recorded",
    }
    look = inputs.get("look")
    if look is None or not isinstance(output, torch.Tensor) or output.dim() != 1:
        return {**seen, "output": output}
    written = output[len(prompt) :].tolist()
    if look == "which":
        return {**seen, "output": sorted(set(written))}
    share = written.count(inputs["rare"]) / max(len(written), 1)
    return {**seen, "output": "about one in eight" if 0.02 < share < 0.29 else f"{share:.1f}"}


# --- adapting


def _lora(symbol: Any, inputs: Inputs) -> dict[str, Any]:
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


PROBES: dict[str, Probe] = {
    "targets_are_next": _targets_are_next,
    "DecoderOnlyTransformer": _model,
    "continue_text": _continue,
    "ModernLanguageModel": _model,
    "LoRALinear": _lora,
}

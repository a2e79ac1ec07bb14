"""How the symbols of lesson 04 are called."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import Probe, given
from cellcheck.authoring.modules import answered_rows, built, followed
from transformer_course.lessons.lesson_03.again import after_other_calls
from transformer_course.lessons.lesson_04.probes.asking import ask_about
from transformer_course.lessons.lesson_04.probes.translators import look_at

Inputs = Mapping[str, Any]


def _cross_attention(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x = inputs["decoder_states"]
    module = after_other_calls(built(symbol, x.shape[-1], inputs["num_heads"]), inputs)
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    arguments = given(inputs, "decoder_states", "encoder_states", "mask")
    return _followed(module, inputs, {"": module}, arguments, rows, pair=True)


def _decoder_block(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    x, self_mask, encoder_mask = (inputs.get(name) for name in ("x", "self_mask", "encoder_mask"))
    assert x is not None
    module = after_other_calls(built(symbol, x.shape[-1], inputs["num_heads"], inputs["d_ff"]), inputs)
    answered = [answered_rows(mask, x.shape[:-1]) for mask in (self_mask, encoder_mask)]
    known = [each for each in answered if each is not None]
    masks = [self_mask, encoder_mask] if known else []
    layers = {f"{name}.": getattr(module, name, None) for name in ("self_attention", "cross_attention", "feed_forward")}
    return _followed(
        module,
        inputs,
        layers,
        [x, inputs["encoder_states"], *masks],
        torch.stack(known).all(dim=0) if known else None,
    )


def _followed(
    module: nn.Module,
    inputs: Inputs,
    layers: Mapping[str, Any],
    arguments: list[Any],
    rows: torch.Tensor | None,
    pair: bool = False,
) -> dict[str, Any]:
    """As `followed`, where the Linears of a layer may be its own or those of a layer inside it.

    `layers` says which layer a name begins with: {"cross_attention.": the layer}.
    """
    weights, only = inputs["weights"], inputs.get("forward_only", False)
    places = {name: name for name in weights}
    for prefix, layer in layers.items():
        for part, place in _inside(layer).items():
            places |= {name: name.replace(part, place) for name in weights if name.startswith(f"{prefix}{part}.")}
    handed_in = {places[name]: weight for name, weight in weights.items()}
    seen = followed(module, handed_in, arguments, rows, pair, forward_only=only)
    seen["parts"] = {name: seen["parts"][places[name]] for name in weights}
    return seen


def _inside(layer: Any) -> dict[str, str]:
    """Where in `layer` its Linears stand, if not directly: {"query": "attention.query", ...}."""
    if not isinstance(layer, nn.Module):
        return {}
    for parts in (("query", "key", "value", "output"), ("linear_in", "linear_out")):
        for name, inner in layer.named_modules():
            if all(hasattr(inner, part) for part in parts):
                return {part: f"{name}.{part}" if name else part for part in parts}
    linears = [name for name, inner in layer.named_modules() if name and isinstance(inner, nn.Linear)]
    return dict(zip(("linear_in", "linear_out"), linears, strict=True)) if len(linears) == 2 else {}


PROBES: dict[str, Probe] = {
    "CrossAttention": _cross_attention,
    "DecoderBlock": _decoder_block,
    "Seq2SeqTransformer": look_at,
    "encoder_influence": ask_about,
}

"""How the symbols of lesson 08 are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import Probe, given
from grader.authoring.modules import answered_rows, built, followed
from lessons.lesson_04 import probes as lesson_04
from lessons.lesson_08.probes import resuming, stacks, whole
from lessons.lesson_08.probes.moving import has_option

Inputs = Mapping[str, Any]
DECODER_BLOCK = lesson_04.PROBES["DecoderBlock"]


def _acts(module: nn.Module, *arguments: Any) -> dict[str, Any]:
    """Whether dropout acts: in training two calls differ, in evaluation they don't."""
    found = {}
    for mode, training in (("training", True), ("evaluation", False)):
        module.train(training)
        torch.default_generator.manual_seed(0)
        first, second = module(*arguments), module(*arguments)
        found[mode] = "the same twice" if torch.equal(first, second) else "different each time"
    return found


def _pre_norm(symbol: Any, look: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """What comes out in pre-norm order, where a layer has that option; `look` is handed the layer's maker."""
    if not has_option(symbol, "norm_first"):
        look(symbol)  # a blank says so
        return {"pre_norm": "there is no such option"}
    return {"pre_norm": look(lambda *sizes: symbol(*sizes, norm_first=True))["output"]}


def _layer(*sizes: str, named: tuple[str, ...] = ()) -> Probe:
    """Built without dropout and followed; where a case names a rate, built with it, to see whether it drops.

    Of a layer made of parts the contract names the parts, `named`, and leaves open what they are made of.
    """

    def probe(symbol: Any, inputs: Inputs) -> dict[str, Any]:
        x = inputs["x"]
        arguments = given(inputs, "x", "mask")
        wide = [x.shape[-1], *given(inputs, *sizes)]
        if "rate" in inputs:
            return {"dropout": _acts(built(symbol, *wide, inputs["rate"]), *arguments)}
        if "norm_first" in inputs:
            rest = {name: value for name, value in inputs.items() if name != "norm_first"}
            return _pre_norm(symbol, lambda maker: probe(maker, rest))
        module = built(symbol, *wide, 0.0)
        rows = answered_rows(inputs.get("mask"), x.shape[:-1])
        seen = followed(module, inputs["weights"], arguments, rows)
        if named:
            seen["parts"] = {name: "there" if hasattr(module, name) else "missing" for name in named}
        return seen

    return probe


def _decoder_layer(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """As lesson 4's block, built without dropout; where a case names a rate, built with it, to see whether it drops."""
    if "rate" in inputs:
        x = inputs["x"]
        module = built(symbol, x.shape[-1], *given(inputs, "num_heads", "d_ff", "rate"))
        return {"dropout": _acts(module, x, inputs["encoder_states"])}
    if "norm_first" in inputs:
        rest = {name: value for name, value in inputs.items() if name != "norm_first"}
        return _pre_norm(symbol, lambda maker: _decoder_layer(maker, rest))

    def without_dropout(*sizes: int) -> Any:
        return symbol(*sizes, 0.0)

    return DECODER_BLOCK(without_dropout, inputs)


def _masks_are_sound(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ask = inputs["patient"]
    return {"output": symbol(lambda source, target_input: ask("masks", source, target_input))}


PROBES: dict[str, Probe] = {
    "PositionwiseFeedForward": _layer("d_ff"),
    "EncoderLayer": _layer("num_heads", "d_ff", named=("attention", "feed_forward", "norm1", "norm2")),
    "DecoderLayer": _decoder_layer,
    "masks_are_sound": _masks_are_sound,
    "Encoder": stacks.look_at,
    "Decoder": stacks.look_at,
    "Transformer": whole.look_at,
    "save_checkpoint": resuming.save,
    "load_checkpoint": resuming.load,
}

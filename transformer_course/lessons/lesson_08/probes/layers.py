"""What can be seen of the paper's layers: their results in both orders of norms, their wiring, and what they drop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import Probe, given
from cellcheck.authoring.modules import answered_rows, built, followed, hand_in, in_double
from transformer_course.lessons.lesson_04 import probes as lesson_04
from transformer_course.lessons.lesson_08.probes.dropping import WIDTH, layer_dropping, network_dropping
from transformer_course.lessons.lesson_08.probes.moving import with_option
from transformer_course.lessons.lesson_08.probes.repeating import later_calls, starts
from transformer_course.lessons.lesson_08.probes.wiring import wiring
from transformer_course.lessons.watching import AS_ASKED

Inputs = Mapping[str, Any]
Seen = dict[str, Any]
DECODER_BLOCK = lesson_04.PROBES["DecoderBlock"]
MISSING = "there is no such option"

PARTS = {
    "EncoderLayer": ("attention", "feed_forward"),
    "DecoderLayer": ("self_attention", "cross_attention", "feed_forward"),
}
READ_BY = {
    "EncoderLayer": {"mask": "attention"},
    "DecoderLayer": {"self_mask": "self_attention", "encoder_mask": "cross_attention"},
}
_MASK = re.compile(r", (~?(?:self_|encoder_|another )?mask)\b")
# What the docstrings say, as `wiring` writes it: x takes part in each sum, and a norm comes before or after.
POST_NORM = {
    "EncoderLayer": "a = attention(x{mask}); b = norm1(x + a); c = feed_forward(b); d = norm2(b + c); return d",
    "DecoderLayer": "a = self_attention(x{self_mask}); b = norm1(x + a); "
    "c = cross_attention(b, encoder_states{encoder_mask}); d = norm2(b + c); "
    "e = feed_forward(d); f = norm3(d + e); return f",
}
PRE_NORM = {
    "EncoderLayer": "a = norm1(x); b = attention(a{mask}); c = norm2(x + b); d = feed_forward(c); return x + b + d",
    "DecoderLayer": "a = norm1(x); b = self_attention(a{self_mask}); "
    "c = norm2(x + b); d = cross_attention(c, encoder_states{encoder_mask}); "
    "e = norm3(x + b + d); f = feed_forward(e); return x + b + d + f",
}


def feed_forward(symbol: Any, inputs: Inputs) -> Seen:
    """Followed without dropout, as lesson 3's network; or looked at for what it drops."""
    x = inputs["x"]
    sizes = (x.shape[-1], inputs["d_ff"])
    if "look" not in inputs:
        return followed(built(symbol, *sizes, 0.0), inputs["weights"], [x])

    def make(rate: float) -> nn.Module:
        return built(symbol, WIDTH, 2 * WIDTH, rate)

    return network_dropping(make, hand_in) | {"starts": starts(*(built(symbol, *sizes, 0.0) for _ in range(2)))}


def encoder_layer(symbol: Any, inputs: Inputs) -> Seen:
    """Followed without dropout, in the order that the case asks for; or looked at for one thing."""
    return _looked_at("EncoderLayer", _encoder_layer, symbol, inputs, ("mask",))


def decoder_layer(symbol: Any, inputs: Inputs) -> Seen:
    """The same for a layer that also looks at encoder states."""
    return _looked_at("DecoderLayer", _decoder_layer, symbol, inputs, ("self_mask", "encoder_mask"))


def _looked_at(name: str, follow: Probe, symbol: Any, inputs: Inputs, masks: tuple[str, ...]) -> Seen:
    match inputs.get("look"):
        case "dropping":
            return _dropping(name, symbol, inputs)
        case "repeating":
            return _repeating(name, symbol, inputs)
        case "norm_first":
            make = with_option(symbol, "norm_first")
            if make is None:
                _followed(name, follow, symbol, inputs, masks, POST_NORM, PRE_NORM)  # a blank says so
                return {"wiring_with_norm_first": MISSING, "pre_norm": MISSING}
            seen = _followed(name, follow, make, inputs, masks, PRE_NORM, POST_NORM)
            return {
                "wiring_with_norm_first": seen.get("wiring"),
                "pre_norm": seen["output"],
                "pre_norm_gradients": seen.get("gradients"),
            }
        case _:
            return _followed(name, follow, symbol, inputs, masks, POST_NORM, PRE_NORM)


def _followed(
    name: str,
    follow: Probe,
    make: Any,
    inputs: Inputs,
    masks: tuple[str, ...],
    asked: Mapping[str, str],
    other: Mapping[str, str],
) -> Seen:
    """What `follow` sees of the layer, and how its parts are put together, said first where that is not as asked."""
    layers: list[nn.Module] = []

    def noted(*sizes: Any) -> nn.Module:
        layers.append(built(make, *sizes, 0.0))
        return layers[-1]

    seen = follow(noted, inputs)
    if "forward_only" in inputs:
        return seen
    text = ""
    if "training_mode" in seen:  # it has run, and is in float64
        parts = (*PARTS[name], "norm1", "norm2", "norm3")
        names = ["x", "encoder_states", *masks] if name == "DecoderLayer" else ["x", *masks]
        tensors = {key: in_double(inputs.get(key), follow=False) for key in names if key in inputs or key in masks}
        text = wiring(layers[0], parts, tensors)
    marks = {mask: f", {mask}" if mask in inputs else "" for mask in masks}
    right, exchanged = (order[name].format(**marks) for order in (asked, other))
    words = {right: AS_ASKED, "": AS_ASKED, exchanged: "in the other order of norms"}
    return {
        "wiring": words.get(text, f"Your layer computes {text}. Which step does the docstring describe differently?"),
        "masks": _of_masks(text, right, {part: mask for mask, part in READ_BY[name].items() if mask in inputs}),
        **seen,
    }


def _of_masks(text: str, right: str, masks: Mapping[str, str]) -> str:
    """Which attention isn't given its mask, where other steps of the wiring draw the eye away from that."""
    if not text or _MASK.sub("", text) == _MASK.sub("", right):
        return AS_ASKED
    for part, mask in masks.items():
        for arguments in re.findall(rf"\b{part}\(([^)]*)\)", text):
            if (given := _MASK.findall(arguments)) != [mask]:
                told = f"{given[0]} in place of {mask}" if given else f"no {mask}"
                return f"In your layer, {part} is given {told}. Which tokens can it see then?"
    return AS_ASKED


def _encoder_layer(make: Any, inputs: Inputs) -> Seen:
    x = inputs["x"]
    module = make(x.shape[-1], *given(inputs, "num_heads", "d_ff"))
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    arguments = given(inputs, "x", "mask")
    seen = followed(module, inputs["weights"], arguments, rows, forward_only="forward_only" in inputs)
    # The contract names the parts, and leaves open what the feed-forward part is made of.
    names = ("attention", "feed_forward", "norm1", "norm2")
    seen["parts"] = {name: "there" if hasattr(module, name) else "missing" for name in names}
    return seen


def _decoder_layer(make: Any, inputs: Inputs) -> Seen:
    return DECODER_BLOCK(make, inputs)


def _dropping(name: str, symbol: Any, inputs: Inputs) -> Seen:
    sizes = (WIDTH, 2, inputs["d_ff"])
    looks: Seen = {}
    for prefix, make in (("", symbol), ("norm_first: ", with_option(symbol, "norm_first"))):
        if make is not None:
            maker = partial(lambda make, rate: built(make, *sizes, rate), make)
            seen = layer_dropping(maker, PARTS[name], states=name == "DecoderLayer", normed=not prefix)
            looks |= {f"{prefix}{key}": value for key, value in seen.items()}
    return looks


def _repeating(name: str, symbol: Any, inputs: Inputs) -> Seen:
    x = inputs["x"].double()
    rest = [inputs["encoder_states"].double()] if "encoder_states" in inputs else []
    length = x.shape[1]
    lower = torch.ones(length, length, dtype=torch.bool).tril()
    two = lower[:2, :2]
    if rest:
        (states,), some = rest, torch.arange(rest[0].shape[1]) < 2
        calls: dict[str, Any] = {
            "first": (x[:, :2], states, two, some),
            "with more tokens": (x, states, lower, some),
            "with another self_mask": (x, states, lower.mT, some),
            "with another encoder_mask": (x, states, lower.mT, some.flip(0)),
            "with other encoder states": (x, states.flip(0), lower.mT, some.flip(0)),
            "without self_mask": (x, states, None, some),
            "without encoder_mask": (x, states, lower),
        }
    else:
        calls = {
            "first": (x[:, :2], two),
            "with more tokens": (x, lower),
            "with another mask": (x, lower.mT),
            "without a mask": (x,),
        }
    sizes = (x.shape[-1], inputs["num_heads"], inputs["d_ff"], 0.0)
    new = built(symbol, *sizes)
    seen = {"starts": starts(new, built(symbol, *sizes))}
    with torch.no_grad():
        seen["later_calls"] = later_calls(new.double().eval(), calls)
        if (make := with_option(symbol, "norm_first")) is not None:
            seen["later_calls_with_norm_first"] = later_calls(built(make, *sizes).double().eval(), calls)
    return seen

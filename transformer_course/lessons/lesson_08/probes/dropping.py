"""Where dropout acts, told by what comes out: sub-layers that always say the same show what becomes of it.

A part whose matrices are 0 and whose biases are all c returns c, whatever it reads. Where one part of a layer returns c
and all others 0, and x is 0, each token comes out with a single number, or with two: what was dropped, and what was
kept. A norm moves the two, and leaves their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from transformer_course.lessons.lesson_08.probes.moving import say

RATE = 0.4
"""Dropped once, 40 % are gone; dropped twice, 64 %."""
NEAR = 0.08
ROWS, LENGTH, WIDTH = 6, 10, 24
"""So many numbers that shares as far apart can't be mixed up."""


def layer_dropping(
    make: Callable[[float], nn.Module], parts: Sequence[str], *, states: bool, normed: bool
) -> dict[str, Any]:
    """What dropout does to each part's result and to x; `make` takes the rate, and `normed` layers end with a norm."""
    module = make(RATE)
    missing = [name for name in parts if not isinstance(getattr(module, name, None), nn.Module)]
    if missing:
        return {"missing": ", ".join(missing)}
    others = [torch.ones(ROWS, LENGTH + 1, WIDTH)] if states else []
    quiet = torch.zeros(ROWS, LENGTH, WIDTH)
    torch.default_generator.manual_seed(0)
    x = torch.randn(ROWS, LENGTH, WIDTH)
    words: dict[str, Any] = {}
    with torch.no_grad():
        plain = make(0.0).eval()
        plain.load_state_dict(module.state_dict())
        words["evaluation"] = say(
            torch.allclose(module.eval()(x, *others), plain(x, *others), atol=1e-5),
            "nothing is dropped",
            "another result than without dropout",
        )
        module.train()
        for speaking in parts:
            for name in parts:
                _always_say(getattr(module, name), 3.0 if name == speaking else 0.0)
            result = module(quiet, *others)
            # Without a norm behind the sum, it says so itself where nothing of the part is left.
            arrives = normed or bool((result.abs() > 1e-3).any())
            words[speaking] = _in_words(result) if arrives else "left out of the sum"
        for name in parts:
            _always_say(getattr(module, name), 0.0)
        trained, read = _followed(module, parts, x, *others)
        evaluated, read_then = _followed(module.eval(), parts, x, *others)
        words["x"] = say(torch.allclose(trained, evaluated, atol=1e-5), "whole", "dropped, too")
        alike = len(read) == len(read_then) and all(map(torch.equal, read, read_then))
        words["read"] = say(alike, "as in evaluation mode", "dropped before that")
    return words


def _followed(module: nn.Module, parts: Sequence[str], *given: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The result of a call, and all that the parts read on the way."""
    read: list[torch.Tensor] = []

    def note(_: nn.Module, positional: Any, named: Any) -> None:
        read.extend(each.clone() for each in (*positional, *named.values()) if isinstance(each, torch.Tensor))

    handles = [getattr(module, name).register_forward_pre_hook(note, with_kwargs=True) for name in parts]
    result = module(*given)
    for handle in handles:
        handle.remove()
    return result, read


def _always_say(part: nn.Module, number: float) -> None:
    for parameter in part.parameters():
        parameter.fill_(number if parameter.dim() == 1 else 0.0)


def _in_words(seen: torch.Tensor) -> str:
    low, high = seen.amin(dim=-1, keepdim=True), seen.amax(dim=-1, keepdim=True)
    two = (high - low > 1e-3).squeeze(-1)
    if not two.any():
        return "never dropped"
    return share_in_words(float((seen < (low + high) / 2)[two].float().mean()))


def share_in_words(share: float) -> str:
    """What a share of dropped numbers says of a rate of RATE."""
    for times, words in ((1, "dropped once"), (2, "dropped twice"), (3, "dropped three times")):
        if abs(share - (1 - (1 - RATE) ** times)) < NEAR / times:
            return words
    return "dropped at another rate"


def network_dropping(make: Callable[[float], nn.Module], hand_in: Callable[[nn.Module, Any], Any]) -> dict[str, Any]:
    """Where a feed-forward network drops. Each output is the sum of two hidden numbers, both 1.

    Dropped outputs are 0, and the rest is 2 / (1 - rate). Dropped hidden numbers leave some outputs half as large.
    """
    module = make(RATE)
    places = torch.arange(WIDTH)
    inwards, outwards = torch.zeros(2 * WIDTH, WIDTH), torch.zeros(WIDTH, 2 * WIDTH)
    inwards[2 * places, places] = inwards[2 * places + 1, (places + 1) % WIDTH] = 1.0
    outwards[places, 2 * places] = outwards[places, 2 * places + 1] = 1.0
    weights = {
        "linear_in.weight": inwards,
        "linear_in.bias": torch.zeros(2 * WIDTH),
        "linear_out.weight": outwards,
        "linear_out.bias": torch.zeros(WIDTH),
    }
    hand_in(module, weights)
    x = torch.ones(ROWS, LENGTH, WIDTH)
    torch.default_generator.manual_seed(0)
    with torch.no_grad():
        trained, evaluated = module.train()(x), module.eval()(x)
        dropped = _what_is_dropped(trained)
        if "between the layers" in dropped:  # or numbers of x? Here hidden numbers are 1 whatever x is
            hand_in(module, weights | {"linear_in.weight": 0 * inwards, "linear_in.bias": torch.ones(2 * WIDTH)})
            if _what_is_dropped(module.train()(x)) != dropped:
                dropped = dropped.replace("between the layers", "of x")
    return {
        "in_training": dropped,
        "in_evaluation": say(
            bool(((evaluated - 2).abs() < 1e-4).all()), "nothing is dropped", "another result than without dropout"
        ),
    }


def _what_is_dropped(seen: torch.Tensor) -> str:
    if ((seen - 2).abs() < 1e-4).all():
        return "nothing is dropped"
    gone, largest = seen.abs() < 1e-4, float(seen.max())
    halves = bool(((seen - largest / 2).abs() < 1e-4 * max(largest, 1)).any())
    if halves:
        once = abs(largest - 2 / (1 - RATE)) < 1e-3
        return "numbers between the layers" if once else "outputs, and numbers between the layers"
    if gone.all(dim=-1).any():
        return "whole tokens"
    if gone.flatten(0, 1).all(dim=0).any() or gone.all(dim=0).any():
        return "the same outputs of every token"
    words = share_in_words(float(gone.float().mean()))
    scaled = abs(largest - 2 / (1 - RATE)) < 1e-3
    if words == "dropped once":
        return "outputs, each for itself" if scaled else "outputs, and the rest isn't scaled up by 1 / (1 - rate)"
    return f"outputs, {words.removeprefix('dropped ')}"

"""Probing a learner's `nn.Module`: build it, hand drawn weights in by name, run it forward and backward.

And a module that stands in for a patient. Besides `optim`, nothing else that is offered to authors imports PyTorch by
itself.

Weights come by dotted name ("attention.query.weight"), so the order in which a learner creates layers never matters.
A model without the right names can still compute the right thing: where a name is missing, the weight goes to the
next parameter of its shape that nobody has named, and only the missing name is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from cellcheck.authoring.calls import gradients, state, tensors_in
from cellcheck.authoring.patients import Ask

if TYPE_CHECKING:
    from cellcheck.authoring.spec import Case


def built(symbol: Any, *sizes: Any) -> nn.Module:
    """`symbol(*sizes)`.

    Raises:
        TypeError: when that isn't an `nn.Module`, or has no `forward`, or has a part before it is a module.
    """
    name = getattr(symbol, "__name__", "it")
    try:
        module = symbol(*sizes)
    except AttributeError as error:
        if "before Module.__init__() call" not in str(error):
            raise
        raise TypeError(f"{name} is given a part before super().__init__() has run: call that first") from error
    if not isinstance(module, nn.Module):
        raise TypeError(f"{name} should make an nn.Module, and it makes a {type(module).__name__}")
    forward = getattr(module.forward, "__func__", module.forward)  # a model may also choose it in __init__
    if forward is nn.Module.forward and type(module).__call__ is nn.Module.__call__:
        # Calling it would look like an answer that is still blank.
        raise TypeError(f"{type(module).__name__} has no method called forward")
    return module


def hand_in(module: nn.Module, weights: Mapping[str, torch.Tensor]) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    """Copies the weights into the module; returns what stands at each name, in words, and where each weight went.

    A weight that finds no place is not among the places.
    """
    parameters = list(module.parameters())
    registered = {id(parameter) for parameter in parameters}
    tensors = {name: _find(module, name) for name in weights}
    named = {id(tensor) for tensor in tensors.values() if tensor is not None}
    others = [parameter for parameter in parameters if id(parameter) not in named]
    places: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        for name, weight in weights.items():
            place = tensors[name]
            if place is None or not _fits(weight, place):
                place = next((other for other in others if other.shape == weight.shape), None)
                others = [other for other in others if other is not place]
            if place is not None:
                place.copy_(weight)
                places[name] = place
    return {name: _describe(tensors[name], registered) for name in weights}, places


def _find(module: nn.Module, name: str) -> torch.Tensor | None:
    part: Any = module
    for step in name.split("."):
        part = getattr(part, step, None)
    return part if isinstance(part, torch.Tensor) else None


def _fits(weight: torch.Tensor, tensor: torch.Tensor) -> bool:
    """The same shape, but for axes of length one in front."""
    shape = tuple(tensor.shape)
    while len(shape) > weight.dim() and shape[0] == 1:
        shape = shape[1:]
    return shape == tuple(weight.shape)


def _describe(tensor: torch.Tensor | None, registered: set[int]) -> str:
    if tensor is None:
        return "missing"
    kind = "" if id(tensor) in registered else ", not among the parameters"
    return f"{tuple(tensor.shape)}{kind}"


def _without_a_home(name: str, part: str, shape: tuple[int, ...]) -> str:
    """Why a weight could not be handed in, as a sentence for a card."""
    if part == "missing":
        return f"Your module can't be given its weights: it has no {name}, which should have the shape {shape}."
    return f"Your module can't be given its weights: {name} should have the shape {shape}, but it has {part}."


_RANDOM = "Your module draws random numbers: is there dropout in it? The same input should give the same result."

_DRAWS = 30
"""So often a module is asked again that draws random numbers: at a small rate, few numbers may all be left."""


def followed(
    module: nn.Module,
    weights: Mapping[str, torch.Tensor],
    arguments: Sequence[Any],
    rows: torch.Tensor | None = None,
    pair: bool = False,
    learning: bool = False,
    forward_only: bool = False,
) -> dict[str, Any]:
    """What is seen of a module with these weights on these arguments.

    `output` (of a `pair` also the attention `weights`) in training mode, where a dropout that nobody asked for
    would show, and is told in words; `gradients` with respect to arguments and weights, in evaluation mode, or in
    training mode if it is to be seen `learning`; `parts`, `unused` (trainable parameters that no gradient reaches),
    `training_mode` and `arguments`. `rows` (batch, length) says which rows of the output are fixed by the contract:
    only those are followed back. With `forward_only` no gradients are looked at: they take twice as long as all the
    rest.
    """
    dtype = next((t.dtype for t in tensors_in(list(arguments)) if t.is_floating_point()), torch.float32)
    if dtype != torch.float32:
        module = module.to(dtype)
    parts, places = hand_in(module, weights)
    seen: dict[str, Any] = {"parts": parts}
    homeless = [name for name in weights if name not in places and not name.endswith("bias")]
    if homeless:
        name = homeless[0]
        seen["output"] = _without_a_home(name, parts[name], tuple(weights[name].shape))
        return seen
    module.train()
    chance = torch.get_rng_state()
    seen |= parted(module(*arguments), pair)
    if not torch.equal(chance, torch.get_rng_state()):
        again = (parted(module(*arguments), pair)["output"] for _ in range(_DRAWS))
        if any(_differ(seen["output"], other) for other in again):
            seen["output"] = _RANDOM  # a dropout written by hand draws numbers at a rate of 0, too
    modes = [_modes(module)]
    if forward_only:
        return seen | {"training_mode": modes, "arguments": [state(list(arguments))]}
    module = module.double().train(learning)
    tracked = [in_double(argument) for argument in arguments]
    trainable = {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}
    wanted = [tensor for tensor in tensors_in(tracked) if tensor.requires_grad]
    wanted += [places[name] for name in weights if name in places and places[name].requires_grad]
    try:
        output = parted(module(*tracked), pair)["output"]
        flowing = gradients(settled(output, rows), [*wanted, *trainable.values()])
    except Exception as error:
        flowing = f"stopped with {type(error).__name__}: {error}"
    modes.append(_modes(module))
    if isinstance(flowing, str):
        seen["gradients"], seen["unused"] = flowing, "none"
    else:
        seen["gradients"] = in_single(flowing[: len(wanted)])
        reached = zip(trainable, flowing[len(wanted) :], strict=True)
        seen["unused"] = ", ".join([name for name, gradient in reached if gradient is None][:3]) or "none"
    seen["training_mode"] = modes
    seen["arguments"] = [state(list(arguments)), state(tracked)]
    return seen


def _differ(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    return one.shape != other.shape or not torch.allclose(one, other, equal_nan=True)


def forward_only(case: Case) -> Case:
    """The same case without gradients, where they would tell no more than those of another case.

    A probe hands `inputs.get("forward_only", False)` on to `followed`.
    """
    return replace(case, inputs={**case.inputs, "forward_only": True})


def as_it_is(module: nn.Module) -> Callable[[], None]:
    """What makes the module again what it is now, whatever its calls keep: each part's attributes, and what lists and
    dictionaries among them hold. A copy would take ten times as long."""
    now = [(vars(part), _copied(vars(part))) for part in module.modules()]

    def put_back() -> None:
        for own, before in now:
            own.clear()
            own.update(_copied(before))

    return put_back


def _copied(own: dict[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if isinstance(value, list | dict | set) else value for name, value in own.items()}


def _modes(module: nn.Module) -> list[bool]:
    return sorted({part.training for part in module.modules()})


def in_double(value: Any, follow: bool = True) -> Any:
    """A copy in float64, laid out in memory as it was: gradients are sums in which much cancels."""
    if not isinstance(value, torch.Tensor):
        return value
    dtype = torch.float64 if value.is_floating_point() else value.dtype
    copy = torch.empty_strided(value.shape, value.stride(), dtype=dtype).copy_(value.detach())
    return copy.requires_grad_() if follow and value.is_floating_point() else copy


def in_single(flowing: list[torch.Tensor | None] | str) -> list[torch.Tensor | None] | str:
    """Gradients in float32, so that they are compared as coarsely."""
    return flowing if isinstance(flowing, str) else [None if tensor is None else tensor.float() for tensor in flowing]


def parted(result: Any, pair: bool) -> dict[str, Any]:
    """(output, weights) under their names, where a `pair` is expected. A result that isn't a pair is the output."""
    if not pair:
        return {"output": result}
    both = isinstance(result, list | tuple) and len(result) == 2
    return {"output": result[0], "weights": result[1]} if both else {"output": result, "weights": None}


def settled(output: Any, rows: torch.Tensor | None) -> Any:
    """The output with the rows that the contract leaves open multiplied by 0: finite numbers pass no gradient there."""
    if rows is None or not isinstance(output, torch.Tensor) or output.shape[:-1] != rows.shape:
        return output
    return output * rows.to(output.dtype)[..., None]


def answered_rows(mask: torch.Tensor | None, shape: Sequence[int]) -> torch.Tensor | None:
    """Which queries have a key to look at, in every head: booleans of `shape`, the output's without its last axis.

    With one axis more than `shape`, the mask's second axis is that of the heads.
    """
    if mask is None:
        return None
    rows = mask.any(dim=-1)
    if rows.dim() == len(shape) + 1:
        rows = rows.all(dim=1)
    return rows.expand(*shape)


def with_followed_rows(
    function: Any, arguments: Sequence[Any], rows: torch.Tensor | None, of: Sequence[int], pair: bool = False
) -> dict[str, Any]:
    """As `calls.call_and_follow`, for a function whose output may have open rows, alone or before the weights."""
    tracked = [in_double(argument, follow=place in of) for place, argument in enumerate(arguments)]
    leaves = [t for place in of for t in tensors_in(tracked[place]) if t.requires_grad]
    seen = parted(function(*arguments), pair)
    try:
        seen["gradients"] = in_single(gradients(settled(parted(function(*tracked), pair)["output"], rows), leaves))
    except Exception as error:
        seen["gradients"] = f"stopped with {type(error).__name__}: {error}"
    seen["arguments"] = [state(list(arguments)), state(tracked)]
    return seen


class StandIn(nn.Module):
    """A model whose work is done by a patient. Its parameters, buffers and mode are its own, and go along."""

    def __init__(
        self,
        ask: Ask,
        parts: Mapping[str, nn.Module | torch.Tensor],
        buffers: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.ask = ask
        for name, part in parts.items():
            setattr(self, name, part if isinstance(part, nn.Module) else nn.Parameter(part))
        for name, buffer in (buffers or {}).items():
            self.register_buffer(name, buffer)
        self.dropout = nn.Dropout(0.5)

    def forward(self, *arguments: Any) -> torch.Tensor:
        tensors = {name: tensor.detach() for name, tensor in self.state_dict().items()}
        return self.tied(self.ask("logits", *arguments, tensors, self.dropout.training))

    def tied(self, result: torch.Tensor) -> torch.Tensor:
        """The result as it hangs on the parameters: gradients can be asked for, and are 0."""
        if not torch.is_grad_enabled():
            return result
        sums = [parameter.sum() for parameter in self.parameters()]
        return result + 0.0 * sum(sums[1:], sums[0]) if sums else result

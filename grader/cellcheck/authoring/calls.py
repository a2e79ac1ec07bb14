"""Small helpers that probes are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from cellcheck.authoring.arrays import as_tensor, copied, is_tensor

if TYPE_CHECKING:
    import torch

    from cellcheck.authoring.spec import Trial

Probe = Callable[[Any, Mapping[str, Any]], dict[str, Any]]


def probes_in(module: ModuleType) -> dict[str, Probe]:
    """The probes of a module that travels: those of its PROBES, or that of an exercise's own TRIAL."""
    shared: dict[str, Probe] = getattr(module, "PROBES", {})
    trial: Trial | None = getattr(module, "TRIAL", None)
    if trial is None or trial.probe is None:
        return shared
    return {**shared, module.__name__.rpartition(".")[2]: trial.probe}


def call(function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Calls `function`; returns its `output` and the `arguments` as they are afterwards."""
    output = function(*arguments)
    return {"output": output, "arguments": list(arguments)}


def in_order(function: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Calls `function` with a case's inputs, in their order: how a plain function is called unless its lesson says."""
    return call(function, *inputs.values())


def in_order_with_gradients(*of: int) -> Probe:
    """A probe as `in_order`, which also follows the gradients back into the arguments at the places `of`."""

    def probe(function: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        return call_and_follow(function, *inputs.values(), of=of)

    return probe


def call_and_follow(function: Callable[..., Any], *arguments: Any, of: Sequence[int] = (0,)) -> dict[str, Any]:
    """Calls `function` twice: with the arguments as they are, and with copies that want gradients.

    The gradients flow into every floating-point tensor inside the arguments at the places `of`, however deep
    it lies in lists and tuples. What goes wrong in the second call is a finding about the gradients, not
    about the output. `arguments` holds the `state` of both sets afterwards.
    """
    tracked = [following(a) if place in of else _copy(a) for place, a in enumerate(arguments)]
    leaves = [t for place in of for t in tensors_in(tracked[place]) if t.requires_grad]
    output = function(*arguments)
    try:
        flowing = gradients(function(*tracked), leaves)
    except Exception as error:
        flowing = f"stopped with {type(error).__name__}: {error}"
    return {"output": output, "gradients": flowing, "arguments": [state(arguments), state(tracked)]}


def tensors_in(value: Any) -> list[torch.Tensor]:
    """All tensors in nested lists, tuples and dicts, in order."""
    if is_tensor(value):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    return [t for item in value for t in tensors_in(item)] if isinstance(value, list | tuple) else []


def following(value: Any) -> Any:
    """A copy in which every floating-point tensor is a leaf that wants a gradient."""
    copy = _copy(value)
    for tensor in tensors_in(copy):
        if tensor.is_floating_point():
            tensor.requires_grad_()
    return copy


def state(value: Any) -> dict[str, Any]:
    """What a call may not change: the numbers, and each tensor's `requires_grad` and `.grad`."""
    tensors = tensors_in(value)
    return {
        "values": value,
        "requires_grad": [tensor.requires_grad for tensor in tensors],
        "grad": [tensor.grad if tensor.is_leaf else None for tensor in tensors],
    }


def _copy(value: Any) -> Any:
    """A detached copy with the same layout in memory."""
    if is_tensor(value):
        return copied(value)
    if isinstance(value, Mapping):
        return {name: _copy(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copy(item) for item in value)
    return value


def gradients(output: Any, leaves: Sequence[torch.Tensor]) -> list[torch.Tensor | None] | str:
    """Gradients of a weighed sum of `output` with respect to `leaves`; a sentence where none can flow."""
    if not is_tensor(output) or not output.is_floating_point():
        return "no tensor to follow"
    if not output.requires_grad:
        return "cut off"
    import torch  # there is a tensor: it has been imported long ago

    flowing = torch.autograd.grad((output * weights_like(output)).sum(), leaves, allow_unused=True)
    return list(flowing)


def weights_like(tensor: torch.Tensor) -> torch.Tensor:
    """Fixed, all-different weights of the tensor's shape, between 0.5 and 1.5."""
    numbers = np.cos(np.arange(1, tensor.numel() + 1) * 1.7) / 2 + 1
    return as_tensor(numbers).to(tensor.dtype).reshape(tensor.shape)


def plain_bool(answer: Any) -> Any:
    """The answer of a learner's test: a boolean tensor with a single entry is as good as a bool."""
    if is_tensor(answer) and str(answer.dtype) == "torch.bool" and answer.dim() == 0:
        return bool(answer)
    return answer


def given(inputs: Mapping[str, Any], *names: str) -> list[Any]:
    """The inputs of these names, in order; an option that the case does not have is left out."""
    return [inputs[name] for name in names if name in inputs]

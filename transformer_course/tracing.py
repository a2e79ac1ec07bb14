"""Looking into a model while it works: the shapes that pass each module, and what each attention layer looks at.

Both listen at the modules' forward methods, so they work with any model, whatever its parts are called.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.fitting import device_of, evaluating

Listener = Callable[[str, nn.Module, Any, Any], None]  # name, module, its inputs, its output
Forward = Callable[..., Any]


def trace(model: nn.Module, batch: torch.Tensor) -> pd.DataFrame:
    """Send `batch` through the model once: one row for each call of a module, with the
    shapes in and out.

    The rows come in the order in which the calls begin. `parameters` counts the numbers
    that a module can learn, those of its parts included.

    >>> table = trace(nn.Sequential(nn.Linear(3, 5), nn.ReLU()), torch.zeros(2, 3))
    >>> list(table["type"]), list(table["output"]), list(table["parameters"])
    (['Sequential', 'Linear', 'ReLU'], ['(2, 5)', '(2, 5)', '(2, 5)'], [20, 20, 0])
    """
    rows: list[dict[str, Any]] = []
    open_rows: list[dict[str, Any]] = []

    def begin(name: str, module: nn.Module, inputs: Any, _: Any) -> None:
        count = sum(parameter.numel() for parameter in module.parameters())
        row = {"module": name or "model", "type": type(module).__name__, "input": _shapes(inputs), "output": ""}
        rows.append(row | {"parameters": count})
        open_rows.append(rows[-1])

    def end(name: str, module: nn.Module, inputs: Any, output: Any) -> None:
        open_rows.pop()["output"] = _shapes(output)

    with _listening(model, begin, end):
        model(batch.to(device_of(model)))
    return pd.DataFrame(rows, columns=["module", "type", "input", "output", "parameters"])


def attention_maps(model: nn.Module, batch: torch.Tensor) -> dict[str, torch.Tensor]:
    """{name of an attention module: the weights that it returned for `batch`}, in the
    order of the calls.

    An attention module is one whose forward returns a pair of tensors,
    (output, weights). Its weights are (batch, query_length, key_length), or
    (batch, heads, query_length, key_length). Modules are found by what they return, so
    their names don't matter. Of attention modules inside one another, only the
    outermost counts.
    """
    maps: dict[str, torch.Tensor] = {}

    def keep(name: str, module: nn.Module, inputs: Any, output: Any) -> None:
        pair = isinstance(output, tuple | list) and len(output) == 2
        if pair and all(isinstance(part, torch.Tensor) for part in output):
            for inner in [other for other in maps if other.startswith(f"{name}.") or not name]:
                del maps[inner]  # it has just returned, as a part of this one
            maps[name] = output[1].detach().cpu()

    with _listening(model, None, keep):
        model(batch.to(device_of(model)))
    return maps


@contextmanager
def _listening(model: nn.Module, before: Listener | None, after: Listener) -> Iterator[None]:
    """Meanwhile `before` and `after` hear of every call of a module; the model is in
    eval mode, without gradients.
    """
    modules = dict(model.named_modules())
    own = {name: module.__dict__["forward"] for name, module in modules.items() if "forward" in module.__dict__}
    for name, module in modules.items():
        module.forward = _heard(name, module, module.forward, before, after)
    try:
        with evaluating(model):
            yield
    finally:
        for name, module in modules.items():
            del module.forward
            if name in own:
                module.forward = own[name]


def _heard(name: str, module: nn.Module, forward: Forward, before: Listener | None, after: Listener) -> Forward:
    """The same forward, with listeners. Unlike a hook, it also hears a call of
    `module.forward` itself.
    """

    def listened(*inputs: Any, **named: Any) -> Any:
        everything = (*inputs, *named.values())
        if before is not None:
            before(name, module, everything, None)
        output = forward(*inputs, **named)
        after(name, module, everything, output)
        return output

    return listened


def _shapes(values: Any) -> str:
    """The shapes of all tensors among `values`, each written once however often it
    repeats.

    >>> _shapes((torch.zeros(2, 3), torch.zeros(2, 3), None, torch.zeros(2)))
    '2 x (2, 3), (2,)'
    """
    if isinstance(values, torch.Tensor):
        values = (values,)
    shapes = [str(tuple(value.shape)) for value in values if isinstance(value, torch.Tensor)]
    counts = {shape: shapes.count(shape) for shape in shapes}
    return ", ".join(shape if count == 1 else f"{count} x {shape}" for shape, count in counts.items())

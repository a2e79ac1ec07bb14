"""How what learners write in lesson 9 is tried: a layer forward, backward, and both once more. Only NumPy is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.authoring.calls import Probe


def _copied(value: Any) -> Any:
    """A deep copy that keeps how arrays lie in memory."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, list | tuple):
        return type(value)(_copied(item) for item in value)
    return {name: _copied(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def _holder(layer: Any, name: str) -> Any:
    """What has the last of the dotted names as an attribute; None where it doesn't exist."""
    for step in name.split(".")[:-1]:
        try:
            layer = layer[int(step)] if step.isdigit() else getattr(layer, step, None)
        except (TypeError, IndexError, KeyError):
            return None
    return layer if hasattr(layer, name.rpartition(".")[2]) else None


def _described(layer: Any, name: str) -> str:
    holder = _holder(layer, name)
    if holder is None:
        return "missing"
    weight = getattr(holder, name.rpartition(".")[2])
    if not isinstance(weight, np.ndarray):
        return f"a {type(weight).__name__}"
    return str(weight.shape)


def _beginning(layer: Any, names: list[str]) -> dict[str, str]:
    """Of each weight as the layer made it, in words: all ones, all zeros, or different numbers."""
    words = {}
    for name in names:
        weight = getattr(_holder(layer, name), name.rpartition(".")[2], None)
        if not isinstance(weight, np.ndarray) or weight.size == 0:
            words[name] = "none"
        elif weight.min() == weight.max():
            words[name] = f"all {float(weight.flat[0]):g}"
        else:
            words[name] = "different numbers"
    return words


def _sizes(layer: Any, expected: Mapping[str, float]) -> dict[str, str]:
    """Of each weight as the layer made it, in words: whether its numbers lie around 0 and have the expected size.

    Many numbers are needed for that. What is called the right size is wide: it takes in every usual way to begin.
    """
    words = {}
    for name, size in expected.items():
        weight = getattr(layer, name, None)
        if not isinstance(weight, np.ndarray) or weight.size == 0:
            words[name] = "no numbers"
        elif weight.std() < 0.08 * size:
            words[name] = "numbers that are too small"
        elif weight.std() > 2.5 * size:
            words[name] = "numbers that are too large"
        elif abs(weight.mean()) > 0.3 * weight.std():
            words[name] = "numbers that don't lie around 0"
        else:
            words[name] = "numbers around 0, of the right size"
    return words


def _gradients(layer: Any, names: list[str]) -> dict[str, Any]:
    return {name: getattr(_holder(layer, name), f"{name.rpartition('.')[2]}_grad", "there is none") for name in names}


def _there_and_back(layer: Any, arguments: list[Any], gradient: Any, names: list[str]) -> dict[str, Any]:
    result = layer.forward(*arguments)
    seen: dict[str, Any] = {"output": result}
    if gradient is None:
        return seen
    kept = _copied(result)  # a backward pass must not write into what forward returned
    try:
        seen["input_gradient"] = layer.backward(gradient)
        seen["weight_gradients"] = _gradients(layer, names)
    except NotImplementedError:
        raise
    except Exception as error:
        seen["input_gradient"] = f"stopped with {type(error).__name__}: {error}"
        seen["weight_gradients"] = _gradients(layer, names)
    seen["output"] = kept
    return seen


def _layer(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Builds `symbol(*sizes)`, hands in the weights by name, and goes forward and backward twice.

    The second time other arguments go through, so that whatever is left from the first shows.
    """
    layer = symbol(*inputs["sizes"])
    if "begins" in inputs:
        return {"output": "accepted", "beginning": _sizes(layer, inputs["begins"])}
    weights = inputs["weights"]
    names = list(weights)
    seen: dict[str, Any] = {"parts": {name: _described(layer, name) for name in names}}
    if not inputs.get("any_beginning"):
        seen["beginning"] = _beginning(layer, names)
    for name, weight in weights.items():
        holder = _holder(layer, name)
        if holder is None:
            seen["output"] = f"no output: {name} is missing"
            return seen
        setattr(holder, name.rpartition(".")[2], weight.copy())
    if not inputs["arguments"]:  # whether it can be built at all is the question
        return seen | {"output": "accepted"}
    arguments, gradient = _copied(inputs["arguments"]), _copied(inputs["gradient"])
    seen |= _there_and_back(layer, arguments, gradient, names)
    if "other_arguments" in inputs:
        first = _copied(seen)  # what the second pass overwrites in place was right when it was asked for
        try:
            again = _there_and_back(layer, _copied(inputs["other_arguments"]), _copied(inputs["other_gradient"]), names)
        except NotImplementedError:
            raise
        except Exception as error:
            again = {"output": f"stopped with {type(error).__name__}: {error}"}
        seen = first | {"again": [again.get("input_gradient"), again.get("weight_gradients")]}
    after = {name: getattr(_holder(layer, name), name.rpartition(".")[2]) for name in names}
    seen["arguments"] = [arguments, gradient, after]
    return seen


def _dropout(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What can be said of a random layer: where it is 0, by what it divides, and whether backward does the same.

    A layer is in training without being told to; the case says whether it is told.
    """
    layer = symbol(inputs["p"], np.random.default_rng(inputs["seed"]))
    if inputs["told"]:
        layer.training = inputs["training"]
    x, gradient = inputs["x"].copy(), inputs["gradient"].copy()
    output = layer.forward(x)
    seen: dict[str, Any] = {"arguments": [x, gradient]}
    if not isinstance(output, np.ndarray) or output.shape != x.shape:
        return seen | {"output": output, "back": "no array of the shape of x came forward"}
    kept = output != 0
    share = float(1 - kept.mean())
    rows = kept.reshape(len(kept), -1)
    seen["output"] = {
        "dropped": "about p" if abs(share - inputs["p"]) < 0.05 else f"a share of {share:.2f}",
        "what is left": np.where(kept, output / x, np.array(0, x.dtype))[kept][:4] if kept.any() else "nothing",
        "all divided alike": bool(np.allclose(np.where(kept, output / x, 0), kept / (1 - inputs["p"]), rtol=1e-4))
        or not inputs["training"],
        "dtype": str(output.dtype),
        "each number on its own": not inputs["training"]
        or inputs["p"] == 0
        or (bool(rows.any(axis=1).all()) and not bool((rows == rows[0]).all())),
    }
    came = output.copy()
    try:
        back = layer.backward(gradient)
        same = isinstance(back, np.ndarray) and back.shape == x.shape
        seen["back"] = (
            {
                "drops what forward dropped": bool(((back == 0) == ~kept).all()),
                "drops something": bool((back == 0).any()) == bool((~kept).any()),
                "divides as forward did": bool(np.allclose(back * x, gradient * came, rtol=1e-4)),
                "dtype": str(back.dtype),
            }
            if same
            else "no array of the shape of x came back"
        )
    except NotImplementedError:
        raise
    except Exception as error:
        seen["back"] = f"stopped with {type(error).__name__}: {error}"
    second = layer.forward(x.copy())
    fresh = isinstance(second, np.ndarray) and not np.array_equal(second != 0, kept)
    seen["fresh"] = bool(fresh) == bool(inputs["training"] and inputs["p"] > 0)
    return seen


def _dropout_or_refusal(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    if "x" not in inputs:
        symbol(inputs["p"], np.random.default_rng(0))
        return {"output": "accepted"}
    return _dropout(symbol, inputs)


def _optimiser(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters after each step. They are looked at through the arrays that the caller holds."""
    parameters, gradients = _copied(inputs["parameters"]), _copied(inputs["gradients"])
    optimizer = symbol(parameters, inputs["learning_rate"], **inputs.get("options", {}))
    path = []
    for step in gradients:
        optimizer.step(step)
        path.append(_copied(parameters))
    return {"output": path, "arguments": gradients}


def _gradient_check(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask, x = inputs["patient"], inputs["x"].copy()

    def f(where: Any) -> tuple[float, np.ndarray]:
        value, gradient = ask("f", np.array(where, dtype=np.float64))
        return float(value), np.asarray(gradient)

    answer = symbol(f, x)
    if isinstance(answer, np.ndarray | np.floating) and np.ndim(answer) == 0:
        answer = float(answer)
    return {"output": answer, "arguments": [x]}


PROBES: dict[str, Probe] = {
    "gradient_check": _gradient_check,
    "Dropout": _dropout_or_refusal,
    "SGD": _optimiser,
    "Adam": _optimiser,
    **dict.fromkeys(
        (
            "Linear",
            "ReLU",
            "Embedding",
            "LayerNorm",
            "FeedForward",
            "MultiHeadAttention",
            "TransformerBlock",
            "DecoderBlock",
            "Transformer",
        ),
        _layer,
    ),
}

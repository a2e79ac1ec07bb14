"""How what learners write in lesson 9 is tried: a layer forward, backward, and both once more. Only NumPy is needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from cellcheck.authoring.calls import Probe
from transformer_course.lessons.lesson_09.wiring import (
    AS_ASKED,
    RESULT,
    Plan,
    merging,
    shares,
    slopes_of_norm,
    slopes_of_product,
    stretched,
    wiring,
)


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


def _with_weights(symbol: Any, inputs: Mapping[str, Any]) -> Any:
    """A new layer of these sizes, with the weights of the case; None where one of them has no place."""
    layer = symbol(*inputs["sizes"])
    return layer if _hand_in(layer, inputs["weights"]) else None


def _hand_in(layer: Any, weights: Mapping[str, Any]) -> bool:
    for name, weight in weights.items():
        holder = _holder(layer, name)
        if holder is None:
            return False
        setattr(holder, name.rpartition(".")[2], weight.copy())
    return True


def _layer(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Builds `symbol(*sizes)`, hands in the weights by name, and goes forward, and back if there is a gradient.

    Then once more with other arguments, beside a new layer that has seen nothing else: what is left from the first
    time shows. What comes forward counts in the cases that go forward only, and an error on the way back in the others.
    """
    layer = symbol(*inputs["sizes"])
    if "begins" in inputs:
        return {
            "output": "accepted",
            "beginning": _sizes(layer, inputs["begins"]),
            "two": _alike(layer, symbol, inputs),
        }
    weights = inputs["weights"]
    names = list(weights)
    seen: dict[str, Any] = {"parts": {name: _described(layer, name) for name in names}} if names else {}
    if not inputs.get("any_beginning"):
        seen["beginning"] = _beginning(layer, names)
    missing = [name for name in names if _holder(layer, name) is None]
    if missing:
        return seen | {"output": f"Your layer has no {missing[0]}, so it can't be tried."}
    _hand_in(layer, weights)
    if not inputs["arguments"]:  # whether it can be built at all is the question
        return seen | {"output": "accepted"}
    arguments, gradient = _copied(inputs["arguments"]), _copied(inputs["gradient"])
    output = layer.forward(*arguments)
    if gradient is None:
        seen["output"] = _copied(output)
    else:
        seen["input_gradient"] = _copied(layer.backward(gradient))
        seen["weight_gradients"] = _copied(_gradients(layer, names))
    after = {name: getattr(_holder(layer, name), name.rpartition(".")[2]) for name in names}
    handed = {"the input": (inputs["arguments"], arguments), "the incoming gradient": (inputs["gradient"], gradient)}
    changed = [what for what, pair in (handed | {"a weight": (weights, after)}).items() if not _same(*pair)]
    seen["left"] = " and ".join(changed) + " changed" if changed else "as it was"
    if "other_arguments" in inputs:
        seen["again"] = _again(layer, symbol, inputs)
    if "lost" in inputs and gradient is not None:
        seen["own_slopes"] = _own_slopes(symbol, inputs)
    return seen


# What the docstrings say of how the parts are joined.
_BLOCK: Plan = {
    "norm1": (("x",),),
    "attention": (("norm1",),) * 3,
    "norm2": (("x", "attention"),),
    "feed_forward": (("norm2",),),
    RESULT: (("x", "attention", "feed_forward"),),
}
_DECODER_BLOCK: Plan = {
    "norm1": (("x",),),
    "self_attention": (("norm1",),) * 3,
    "norm2": (("x", "self_attention"),),
    "cross_attention": (("norm2",), ("encoder_states",), ("encoder_states",)),
    "norm3": (("x", "self_attention", "cross_attention"),),
    "feed_forward": (("norm3",),),
    RESULT: (("x", "self_attention", "cross_attention", "feed_forward"),),
}
_ATTENTION: Plan = {
    "query": (("queries",),),
    "key": (("keys",),),
    "value": (("values",),),
    "output": (),
    RESULT: (("output",),),
}


def _joined(plan: Plan, *names: str) -> Probe:
    """The same for a layer of parts, and how these are joined, which is said first. A mask would make no difference."""

    def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        seen = _layer(symbol, inputs)
        if not inputs.get("in_words") or len(inputs["arguments"]) != len(names):
            return seen
        return {"wiring" if inputs["gradient"] is None else "way_back": _look(symbol, inputs, plan, names)} | seen

    return probe


def _look(symbol: Any, inputs: Mapping[str, Any], plan: Plan, names: tuple[str, ...]) -> str:
    """On numbers of its own, since a single position may not tell one sum from another."""
    generator = np.random.default_rng(0)
    weights = {name: weight.astype(np.float64) for name, weight in inputs["weights"].items()}
    arguments = {
        name: generator.standard_normal((3, 4 + (place > 0), inputs["sizes"][0])) for place, name in enumerate(names)
    }
    gradient = None if inputs["gradient"] is None else generator.standard_normal(arguments[names[0]].shape)

    def made() -> Any:
        return _with_weights(symbol, {**inputs, "weights": weights})

    try:
        words = wiring(made(), plan, arguments, gradient)
        if plan is _ATTENTION and gradient is None and words == AS_ASKED:
            words = merging(made(), inputs["sizes"][1], arguments)
    except Exception:  # parts of another kind, which nobody can watch
        return AS_ASKED
    return words


def _of_rows(symbol: Any, inputs: Mapping[str, Any], norm: bool = False) -> dict[str, Any]:
    """The same for a layer that treats each row alike; how the rows come together in the gradients is said first."""
    seen = _layer(symbol, inputs)
    if inputs.get("gradient") is None or not inputs.get("in_words"):
        return seen
    generator = np.random.default_rng(0)
    weights = {name: weight.astype(np.float64) for name, weight in inputs["weights"].items()}
    d_in, d_out = inputs["arguments"][0].shape[-1], inputs["gradient"].shape[-1]
    x, gradient = generator.standard_normal((2, 3, d_in)), generator.standard_normal((2, 3, d_out))

    def passes(x: np.ndarray, gradient: np.ndarray, **times: Any) -> tuple[Any, Mapping[str, Any]]:
        given = {name: times.get(name, 1.0) * weight for name, weight in weights.items()}
        layer = _with_weights(symbol, {**inputs, "weights": given})
        layer.forward(x.copy())
        return layer.backward(gradient.copy()), _gradients(layer, list(weights))

    def back(x: np.ndarray, gradient: np.ndarray, **times: Any) -> Any:
        return passes(x, gradient, **times)[0]

    def gradients(x: np.ndarray, gradient: np.ndarray, **times: Any) -> Mapping[str, Any]:
        return passes(x, gradient, **times)[1]

    words: dict[str, Any] = {"shares": "added up", "slopes": AS_ASKED}
    far = 1e5 * x  # where eps makes no difference
    try:
        words["slopes"] = (
            slopes_of_norm(back, weights["weight"], far, gradient) if norm else slopes_of_product(back, x, gradient)
        )
        words["shares"] = shares(gradients, x, gradient)
        if norm and words["shares"] == "added up":
            words["shares"] = stretched(gradients, far, gradient)
    except Exception:  # gradients that aren't there, or have another shape
        pass
    return words | seen


def _again(layer: Any, symbol: Any, inputs: Mapping[str, Any]) -> str:
    """Whether a used layer gives what a new one gives, and one beside another layer what it gives alone.

    A forward pass that nobody follows back is a use, too.
    """

    left = _copied(_gradients(layer, list(inputs["weights"])))
    before = [each[::-1].copy() for each in inputs["other_arguments"]]

    def passes(one: Any, used: bool, beside: Any = None, last: Any = None) -> Any:
        try:
            if used:
                one.forward(*_copied(inputs["arguments"]))
                one.forward(*_copied(before))
            one.forward(*_copied(inputs["other_arguments"] if last is None else last))
            if beside is not None:
                beside(*inputs["sizes"]).forward(*_copied(inputs["arguments"]))
            return [one.backward(_copied(inputs["other_gradient"])), _gradients(one, list(inputs["weights"]))]
        except Exception as error:
            return f"it stops with {type(error).__name__}: {error}"

    _hand_in(layer, inputs["weights"])
    old, beside = passes(layer, True), passes(_with_weights(symbol, inputs), False, symbol)
    if not isinstance(old, str) and _same(old, beside):
        return "what a new layer gives"
    new = passes(_with_weights(symbol, inputs), False)
    if not _same(new, old):
        if isinstance(old, str):
            return old
        if _same(old, passes(_with_weights(symbol, inputs), False, last=before)):
            return "Backward goes by the input of an earlier call. When do you remember x?"
        return "this pass and the one before, added up" if _added_up(left, new, old) else "something else"
    if not isinstance(new, str) and not _same(new, beside):
        return "something else, when another layer goes forward in between"
    return "what a new layer gives"


def _added_up(left: Any, new: Any, old: Any) -> bool:
    """Whether a gradient that a used layer sets is that of a new one, and what was there before on top."""
    if isinstance(new, str):
        return False
    known = [name for name, one in new[1].items() if isinstance(one, np.ndarray) and isinstance(left[name], np.ndarray)]
    return any(
        left[name].shape == new[1][name].shape and _same(old[1][name], left[name] + new[1][name]) for name in known
    )


def _alike(layer: Any, symbol: Any, inputs: Mapping[str, Any]) -> str:
    other = symbol(*inputs["sizes"])
    alike = all(_same(getattr(layer, name, None), getattr(other, name, None)) for name in inputs["begins"])
    return "the same numbers" if alike else "different numbers"


def _same(one: Any, other: Any) -> bool:
    """Whether two results are the same, up to rounding."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        small = 1e-5 if one.dtype == np.float32 else 1e-10
        return bool(np.allclose(one, other, rtol=small, atol=small, equal_nan=True))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and (one is other or bool(one == other))


def _own_slopes(symbol: Any, inputs: Mapping[str, Any]) -> str:
    """Of a query without any allowed key: whether queries and keys get the slopes of what forward itself does there."""
    gradient = np.zeros_like(inputs["gradient"])
    gradient[-1, 0] = np.cos(np.arange(gradient.shape[-1]))
    layer = _with_weights(symbol, inputs)

    def value(place: int, moved: np.ndarray) -> float:
        arguments = _copied(inputs["arguments"])
        arguments[place] = arguments[place] + moved
        return float((layer.forward(*arguments)[0] * gradient).sum())

    layer.forward(*_copied(inputs["arguments"]))
    found = layer.backward(gradient.copy())
    for place, claimed in enumerate(list(found)[:2]):
        size = float(np.sqrt((claimed**2).sum()))
        along = claimed / size if size > 1e-6 else np.ones_like(claimed) / claimed.size**0.5
        measured = (value(place, 0.05 * along) - value(place, -0.05 * along)) / 0.1
        if not abs(measured - float((claimed * along).sum())) < 0.05 * max(abs(measured), size) + 1e-5:
            return "others"
    return "the slopes of its own forward"


def _dropout(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What can be said of a random layer: where it is 0, by what it divides, and whether backward does the same.

    A layer is in training without being told to; the case says whether it is told.
    """

    def made(seed: int) -> Any:
        layer = symbol(inputs["p"], np.random.default_rng(seed))
        if not inputs.get("training", True):  # a layer is switched off when it has been trained
            layer.forward(inputs["x"].copy())
        if inputs.get("told"):
            layer.training = inputs["training"]
        return layer

    layer = made(inputs["seed"])
    if "x" not in inputs:
        return {"dropped": "accepted"}
    x, gradient = inputs["x"].copy(), inputs["gradient"].copy()
    output = layer.forward(x)
    if not isinstance(output, np.ndarray) or output.shape != x.shape:
        return {"dropped": "no array of the shape of x"}
    output = output.copy()
    kept = output != 0
    seen = {
        "dropped": _share(kept, inputs["p"]),
        "divided": _divided(output[kept], inputs["x"][kept], inputs["p"]),
        "alone": _alone(kept),
        "dtype": str(output.dtype),
        "left": "as it was" if np.array_equal(x, inputs["x"]) else "the input changed",
    }
    if "others" in inputs:
        again, same, another = layer.forward(inputs["x"].copy()), made(inputs["seed"]), made(inputs["seed"] + 1)
        seen["fresh"] = "other numbers" if _apart(again, kept) else "the same numbers"
        came = layer.backward(gradient)
        seen["follows"] = "another one" if _apart(came, np.asarray(again) != 0) else "the last forward pass"
        seen["generator"] = "the generator"
        if not _apart(another.forward(inputs["x"].copy()), kept):
            seen["generator"] = "the same numbers whichever generator it gets"
        elif _apart(same.forward(inputs["x"].copy()), kept):
            seen["generator"] = "something else than its generator"
        return seen
    if not inputs["back"]:
        return seen
    back = layer.backward(gradient)
    if np.any(gradient != inputs["gradient"]):
        seen["left"] = "the incoming gradient changed"
    if not isinstance(back, np.ndarray) or back.shape != x.shape:
        return seen | {"back_drops": "no array of the shape of x", "back_divides": "nothing"}
    passed = back != 0
    drops = "what forward dropped" if np.array_equal(passed, kept) else "nothing" if passed.all() else "other numbers"
    return seen | {
        "back_drops": drops,
        "back_divides": _divided(back[passed], inputs["gradient"][passed], inputs["p"]),
        "back_dtype": str(back.dtype),
    }


def _share(kept: np.ndarray, p: float) -> str:
    share = float(1 - kept.mean())
    near = 0.05 if _alone(kept) == _ALONE else 0.25  # whole rows are few, so their share varies more
    for name, expected in (("nothing", 0.0), ("everything", 1.0)):
        if share == expected:
            return name
    for name, expected in (("p", p), ("1 - p", 1 - p)):
        if abs(share - expected) < near:
            return f"a share of about {name}"
    return f"a share of {share:.1f}"


def _divided(numbers: np.ndarray, before: np.ndarray, p: float) -> str:
    if not numbers.size:
        return "nothing is left to look at"
    ratios = before / numbers
    usual = {"1": 1.0, "1 - p": 1 - p, "p": p, "(1 - p) squared": (1 - p) ** 2, "the root of 1 - p": (1 - p) ** 0.5}
    for name, divisor in usual.items():
        if np.allclose(ratios, divisor, rtol=1e-4):
            return f"by {name}"
    return "by something else"


_ALONE = "each number by itself"


def _alone(kept: np.ndarray) -> str:
    for what, rows in (("columns", kept), ("rows", kept.T)):
        if not kept.all() and (rows == rows[0]).all():
            return f"whole {what} together"
    return _ALONE


def _apart(output: Any, kept: np.ndarray) -> bool:
    """Whether other numbers have been dropped than were before."""
    return not isinstance(output, np.ndarray) or not np.array_equal(output != 0, kept)


def _optimiser(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters after each step, in the very arrays that the caller holds; the list that was handed in is another.

    In some cases another optimiser of the kind is busy with parameters of its own.
    """
    parameters, gradients = _copied(inputs["parameters"]), _copied(inputs["gradients"])
    optimizer = symbol(list(parameters), inputs["learning_rate"], **inputs.get("options", {}))
    if inputs.get("beside"):
        others = [np.ones_like(parameter) for parameter in parameters]
        other = symbol(others, 0.5)
        other.step([np.full_like(parameter, 3.0) for parameter in parameters])
    path = []
    for step in gradients:
        optimizer.step(list(step))
        path.append(_copied(parameters))
    return {"output": path, "left": "as they were" if _same(gradients, inputs["gradients"]) else "changed"}


def _gradient_check(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask, x = inputs["patient"], inputs["x"].copy()

    def f(where: Any) -> tuple[float, np.ndarray]:
        value, gradient = ask("f", np.array(where, dtype=np.float64))
        return float(value), np.asarray(gradient)

    answer = symbol(f, x)
    if isinstance(answer, np.ndarray | np.floating) and np.ndim(answer) == 0:
        answer = float(answer)
    return {"output": answer, "left": "as it was" if np.array_equal(x, inputs["x"]) else "changed"}


PROBES: dict[str, Probe] = {
    "gradient_check": _gradient_check,
    "Dropout": _dropout,
    "SGD": _optimiser,
    "Adam": _optimiser,
    **dict.fromkeys(
        (
            "ReLU",
            "Embedding",
            "Transformer",
        ),
        _layer,
    ),
    "Linear": _of_rows,
    "LayerNorm": partial(_of_rows, norm=True),
    "MultiHeadAttention": _joined(_ATTENTION, "queries", "keys", "values"),
    "TransformerBlock": _joined(_BLOCK, "x"),
    "DecoderBlock": _joined(_DECODER_BLOCK, "x", "encoder_states"),
}

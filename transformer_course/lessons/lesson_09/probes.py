"""How what learners write in lesson 9 is tried: a layer forward, backward, and both once more. Only NumPy is needed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from cellcheck.authoring.calls import Probe, in_order
from transformer_course.lessons.lesson_09.claims import Claims, form_of_returned, form_of_set
from transformer_course.lessons.lesson_09.losses import of_loss
from transformer_course.lessons.lesson_09.model import of_model
from transformer_course.lessons.lesson_09.rates import of_company, of_default, of_descent, of_rates
from transformer_course.lessons.lesson_09.rows import (
    shares,
    slopes_of_norm,
    slopes_of_product,
    steps_of_norm,
    stretched,
)
from transformer_course.lessons.lesson_09.thresholds import of_backward, of_forward
from transformer_course.lessons.lesson_09.wiring import RESULT, Plan, merging, wiring
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked, first_said
from transformer_course.lessons.wordings import IN_WORDS, without_the_wish


def _copied(value: Any) -> Any:
    """A deep copy that keeps how arrays lie in memory."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, list | tuple):
        return type(value)(_copied(item) for item in value)
    return {name: _copied(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def _part(layer: Any, name: str) -> Any:
    """The part of a layer that has this dotted name, the layer itself if that is empty; None where it doesn't exist."""
    for step in name.split(".") if name else ():
        try:
            layer = layer[int(step)] if step.isdigit() else getattr(layer, step, None)
        except (TypeError, IndexError, KeyError):
            return None
    return layer


def _holder(layer: Any, name: str) -> Any:
    """What has the last of the dotted names as an attribute; None where it doesn't exist."""
    part, _, own = name.rpartition(".")
    holder = _part(layer, part)
    return holder if hasattr(holder, own) else None


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
            words[name] = f"Your {name} begins with numbers that are too small. What size does the docstring give?"
        elif weight.std() > 2.5 * size:
            words[name] = f"Your {name} begins with numbers that are too large. What size does the docstring give?"
        elif abs(weight.mean()) > 0.3 * weight.std():
            words[name] = (
                f"Your {name} begins with numbers that aren't centred on 0. Which are as often negative as positive?"
            )
        else:
            words[name] = "numbers around 0, of the right size"
    return words


def _gradients(layer: Any, names: list[str]) -> dict[str, Any]:
    return {name: getattr(_holder(layer, name), f"{name.rpartition('.')[2]}_grad", None) for name in names}


def _with_weights(symbol: Any, inputs: Mapping[str, Any]) -> Any:
    """A new layer of these sizes, with the weights of the case; None where one of them has no place."""
    layer = symbol(*inputs["sizes"])
    return layer if _hand_in(layer, inputs["weights"]) else None


def _hand_in(layer: Any, weights: Mapping[str, Any]) -> bool:
    parts: dict[str, Any] = {}
    for name, weight in weights.items():
        part, _, own = name.rpartition(".")
        if part not in parts:
            parts[part] = _part(layer, part)
        if not hasattr(parts[part], own):
            return False
        setattr(parts[part], own, weight.copy())
    return True


def _layer(symbol: Any, inputs: Mapping[str, Any], called: tuple[str, ...]) -> dict[str, Any]:
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
        returned = layer.backward(gradient)
        floats = {name: one for name, one in zip(called, inputs["arguments"], strict=False) if one.dtype.kind == "f"}
        seen["input_gradient"] = form_of_returned(returned, floats) or _copied(returned)
        seen["weight_gradients"] = {
            name: form_of_set(name, one, weights[name]) or _copied(one)
            for name, one in _gradients(layer, names).items()
        }
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
_IDS_OF_MODEL = ("source", "target_input")


def _in_words(*names: str, plan: Plan | None = None, norm: bool | None = None) -> Probe:
    """The same for a layer that reads arguments of these names, and in words what it does otherwise, said first.

    `plan` says how its parts are joined; `norm`, of a layer that treats rows alike, whether it brings them to one size.
    """

    @lru_cache(maxsize=256)  # many cases have one form
    def words(symbol: Any, form: _Form) -> dict[str, str]:
        return _Look(symbol, form, names, plan, norm).words()

    def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        seen = _layer(symbol, inputs, names)
        if not inputs.get(IN_WORDS) or len(inputs["arguments"]) != len(names):
            return seen
        return {**words(symbol, _Form.of(inputs)), **seen}

    return probe


@dataclass(frozen=True)
class _Form:
    """What a look takes from a case: sizes, and no numbers."""

    sizes: tuple[int, ...]
    weights: tuple[tuple[str, tuple[int, ...]], ...]
    widths: tuple[int | None, ...]
    """Of each argument; None where it holds ids."""
    gradient: int | None
    """How wide the incoming gradient is; None in a case that goes forward only."""

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> _Form:
        return cls(
            tuple(inputs["sizes"]),
            tuple((name, weight.shape) for name, weight in inputs["weights"].items()),
            tuple(one.shape[-1] if one.dtype.kind == "f" else None for one in inputs["arguments"]),
            None if inputs["gradient"] is None else inputs["gradient"].shape[-1],
        )


@dataclass(frozen=True)
class _Look:
    """A look at a layer on numbers of its own, since a single position may not tell one sum from another."""

    symbol: Any
    form: _Form
    names: tuple[str, ...]
    plan: Plan | None
    norm: bool | None

    def words(self) -> dict[str, str]:
        if self.form.gradient is None:
            return {"wiring": first_said(self.wiring, self.merging, self.steps, self.model, self.kept)}
        words = {
            "way_back": first_said(self.wiring),
            "returned": first_said(self.slopes, self.let_back, self.claims.of_returned),
        }
        if self.weights:
            words["gathered"] = first_said(self.shares, self.claims.of_set)
        return words

    @cached_property
    def weights(self) -> dict[str, np.ndarray]:
        """Of the usual size, and a norm's away from 0."""
        generator = np.random.default_rng(2)
        drawn: dict[str, np.ndarray] = {}
        for name, shape in self.form.weights:
            numbers = generator.standard_normal(shape)
            of_a_norm = len(shape) == 1 and not name.endswith("bias")
            drawn[name] = 1.5 + np.tanh(numbers) if of_a_norm else numbers / (shape[0] if shape[1:] else 4) ** 0.5
        return drawn

    @cached_property
    def arguments(self) -> dict[str, np.ndarray]:
        generator = np.random.default_rng(0)
        drawn: dict[str, np.ndarray] = {}
        for place, (name, width) in enumerate(zip(self.names, self.form.widths, strict=True)):
            front = (3, 4 + (place > 0))
            if width is None:
                drawn[name] = generator.integers(1, self.form.sizes[0], front)
            else:
                drawn[name] = generator.standard_normal((*front, width))
        return drawn

    @cached_property
    def claims(self) -> Claims:
        return Claims(self.made, self._set_by, self.weights, self.arguments)

    def made(self, weights: Mapping[str, np.ndarray]) -> Any:
        layer = asked(_with_weights, self.symbol, {"sizes": self.form.sizes, "weights": weights})
        if layer is None:
            raise Unwatched
        return layer

    def wiring(self) -> str:
        if self.plan is None:
            return AS_ASKED
        back = self.form.gradient is not None
        gradient = np.random.default_rng(1).standard_normal(self.arguments[self.names[0]].shape)
        return wiring(self.made(self.weights), self.plan, self.arguments, gradient if back else None)

    def merging(self) -> str:
        if self.plan is not _ATTENTION:
            return AS_ASKED
        return merging(self.made(self.weights), self.form.sizes[1], self.arguments)

    def steps(self) -> str:
        if not self.norm:
            return AS_ASKED

        def forward(x: np.ndarray, **weights: np.ndarray) -> Any:
            return asked(self.made(self.weights | weights).forward, x.copy())

        return steps_of_norm(forward, self.weights["weight"], self.weights["bias"], self._far)

    def model(self) -> str:
        if self.names != _IDS_OF_MODEL:
            return AS_ASKED
        return of_model(self.made, self.weights, *self.arguments.values())

    @property
    def _of_single_numbers(self) -> bool:
        """Whether it is a layer without weights, such as a ReLU."""
        return not self.form.sizes

    def kept(self) -> str:
        return of_forward(lambda: self.made({})) if self._of_single_numbers else AS_ASKED

    def let_back(self) -> str:
        return of_backward(lambda: self.made({})) if self._of_single_numbers else AS_ASKED

    def slopes(self) -> str:
        if self.norm is None:
            return AS_ASKED

        def back(x: np.ndarray, gradient: np.ndarray, **times: Any) -> Any:
            returned = self._back(x, gradient, times)[0]
            if form_of_returned(returned, {"x": x}):
                raise Unwatched
            return returned

        if self.norm:
            return slopes_of_norm(back, self.weights["weight"], self._far, self._gradient)
        return slopes_of_product(back, self.arguments["x"], self._gradient)

    def shares(self) -> str:
        if self.norm is None:
            return AS_ASKED

        def gradients(x: np.ndarray, gradient: np.ndarray, **times: Any) -> Mapping[str, Any]:
            gathered = self._back(x, gradient, times)[1]
            if any(form_of_set(name, gathered[name], weight) for name, weight in self.weights.items()):
                raise Unwatched
            return gathered

        sentence = shares(gradients, self.arguments["x"], self._gradient)
        return stretched(gradients, self._far, self._gradient) if self.norm and sentence == AS_ASKED else sentence

    @property
    def _far(self) -> np.ndarray:
        """Where eps makes no difference."""
        return 1e5 * self.arguments["x"]

    @cached_property
    def _gradient(self) -> np.ndarray:
        return np.random.default_rng(1).standard_normal((3, 4, self.form.gradient or 1))

    def _set_by(self, layer: Any) -> Mapping[str, Any]:
        return _gradients(layer, list(self.weights))

    def _back(self, x: np.ndarray, gradient: np.ndarray, times: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        layer = self.made({name: times.get(name, 1.0) * weight for name, weight in self.weights.items()})
        asked(layer.forward, x.copy())
        return asked(layer.backward, gradient.copy()), self._set_by(layer)


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
            stops = old.removeprefix("it stops with ")
            return (
                f"A new layer goes forward and back; used before on other sizes, it stops with {stops}. What is left?"
            )
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
        if np.array_equal(one, other):  # the usual thing, and soon seen
            return True
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
    slopes = layer.backward(gradient.copy())
    for place, claimed in enumerate(list(slopes)[:2]):
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
    mask = output != 0
    seen = {
        "dropped": _share(mask, inputs["p"]),
        "divided": _divided(output[mask], inputs["x"][mask], inputs["p"]),
        "alone": _alone(mask),
        "dtype": str(output.dtype),
        "left": "as it was" if np.array_equal(x, inputs["x"]) else "the input changed",
    }
    if "others" in inputs:
        again, same, another = layer.forward(inputs["x"].copy()), made(inputs["seed"]), made(inputs["seed"] + 1)
        seen["fresh"] = "other numbers" if _apart(again, mask) else "the same numbers"
        if _as_many(
            [output, again, *(made(inputs["seed"] + more).forward(inputs["x"].copy()) for more in range(2, 5))]
        ):
            seen["fresh"] = (
                "You drop exactly as many numbers in each pass. When each number is decided by itself, how many are "
                "dropped is up to chance, too: does one number's fate depend on the others'?"
            )
        came = layer.backward(gradient)
        seen["follows"] = "another one" if _apart(came, np.asarray(again) != 0) else "the last forward pass"
        seen["generator"] = "the generator"
        if not _apart(another.forward(inputs["x"].copy()), mask):
            seen["generator"] = "the same numbers whichever generator it gets"
        elif _apart(same.forward(inputs["x"].copy()), mask):
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
    drops = "what forward dropped" if np.array_equal(passed, mask) else "nothing" if passed.all() else "other numbers"
    return seen | {
        "back_drops": drops,
        "back_divides": _divided(back[passed], inputs["gradient"][passed], inputs["p"]),
        "back_dtype": str(back.dtype),
    }


def _share(mask: np.ndarray, p: float) -> str:
    share = float(1 - mask.mean())
    near = 0.05 if _alone(mask) == _ALONE else 0.25  # whole rows are few, so their share varies more
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
    usual["1 / (1 - p), which multiplies them by 1 - p"] = 1 / (1 - p)
    for name, divisor in usual.items():
        if np.allclose(ratios, divisor, rtol=1e-4):
            return f"by {name}"
    return "by something else"


_ALONE = "each number by itself"


def _alone(mask: np.ndarray) -> str:
    for what, rows in (("columns", mask), ("rows", mask.T)):
        if not mask.all() and (rows == rows[0]).all():
            return f"whole {what} together"
    return _ALONE


def _as_many(outputs: list[Any]) -> bool:
    """Whether some are dropped, and exactly as many in each of several passes."""
    counts = {np.count_nonzero(one) for one in outputs if isinstance(one, np.ndarray)}
    return len(counts) == 1 and 0 < int(counts.pop()) < int(np.size(outputs[0]))


def _apart(output: Any, mask: np.ndarray) -> bool:
    """Whether other numbers have been dropped than were before."""
    return not isinstance(output, np.ndarray) or not np.array_equal(output != 0, mask)


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


def _adam(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same, and in words what it does with the simplest gradients, said first."""
    if "learning_rate" not in inputs:
        return {"default": of_default(symbol)}
    looks = (lambda: of_rates(symbol), lambda: of_company(symbol))
    words = {"steps": first_said(*looks)} if inputs.get(IN_WORDS) else {}
    return _said_at_least(words, symbol, inputs)


def _descent(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same for plain gradient descent."""
    steps = len(inputs["gradients"])
    looks = (lambda: of_company(symbol, steps), lambda: of_descent(symbol, steps > 1))
    words = {"steps": first_said(*looks)} if inputs.get(IN_WORDS) else {}
    return _said_at_least(words, symbol, inputs)


def _said_at_least(words: Mapping[str, str], symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What an optimiser does; where it stops, what may be the reason."""
    try:
        return {**words, **_optimiser(symbol, inputs)}
    except Exception:
        if set(words.values()) <= {AS_ASKED}:
            raise
        return {"steps": AS_ASKED, "output": words["steps"], "left": "as they were"}


def _cross_entropy(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A plain call; and in words how the loss and its gradient hang together, on logits of the probe's own."""
    inputs, in_words = without_the_wish(inputs)
    seen = in_order(symbol, inputs)
    if not in_words:
        return seen
    mean = slopes = AS_ASKED
    with suppress(Unwatched):
        mean, slopes = of_loss(
            symbol, np.random.default_rng(0).standard_normal((2, 3, 7)), np.array([[1, 2, 3], [4, 5, 6]])
        )
    return seen | {"mean": mean, "slopes": slopes}


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
    "SGD": _descent,
    "Adam": _adam,
    "cross_entropy": _cross_entropy,
    "ReLU": _in_words("x"),
    "Embedding": _in_words("tokens"),
    "Transformer": _in_words(*_IDS_OF_MODEL),
    "Linear": _in_words("x", norm=False),
    "LayerNorm": _in_words("x", norm=True),
    "MultiHeadAttention": _in_words("queries", "keys", "values", plan=_ATTENTION),
    "TransformerBlock": _in_words("x", plan=_BLOCK),
    "DecoderBlock": _in_words("x", "encoder_states", plan=_DECODER_BLOCK),
}

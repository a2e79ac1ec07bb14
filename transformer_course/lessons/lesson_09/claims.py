"""What backward claims, beside how the output of the layer's own forward changes: in words, and only what is certain.

A gradient goes wrong in few ways: it isn't there, has another form, doesn't go by the incoming gradient, is too large
by a factor, or is wrong in some parts of the layer and right in others. All of that shows without knowing the right
answer: a number is moved a little, and forward is asked again. A backward that fits a wrong forward is no news.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked

Arrays = Mapping[str, np.ndarray]
_STEP = 1e-6
_FITS, _NOTHING = 1.0, 0.0


@dataclass(frozen=True)
class Claims:
    """A layer, gone forward and back on these arguments.

    `make` makes one with these weights; `gradients` reads what its last backward has set.
    """

    make: Callable[[Arrays], Any]
    gradients: Callable[[Any], Mapping[str, Any]]
    weights: Arrays
    arguments: Arrays

    def of_returned(self) -> str:
        """How the gradients of the inputs fit forward, where they have the right form."""
        inputs = self._inputs
        if not inputs or form_of_returned(self._once[0], inputs):
            return AS_ASKED
        claimed, twice = (_by_name(each[0], inputs) for each in (self._once, self._twice))

        def value(moved: Arrays) -> float:
            return self._value(self.weights, {**self.arguments, **moved})

        return _fit(claimed, twice, inputs, value, {name: [name] for name in inputs}, "gradient of ")

    def of_set(self) -> str:
        """How those of the weights do."""
        claimed = self._once[1]
        if any(form_of_set(name, claimed[name], one) for name, one in self.weights.items()):
            return AS_ASKED

        def value(moved: Arrays) -> float:
            return self._value({**self.weights, **moved}, self.arguments)

        sentence = _fit(claimed, self._twice[1], self.weights, value, _parts(self.weights), "")
        if sentence != AS_ASKED and not self._inputs and [*self.weights] == ["weight"]:
            return _rows_left_out(claimed["weight"], self.weights["weight"], value) or sentence
        return sentence

    @cached_property
    def _inputs(self) -> Arrays:
        return {name: one for name, one in self.arguments.items() if one.dtype == np.float64}

    @cached_property
    def _gradient(self) -> np.ndarray:
        return np.random.default_rng(1).standard_normal(self._forward(self.make(self.weights), self.arguments).shape)

    @cached_property
    def _once(self) -> tuple[Any, Mapping[str, Any]]:
        return self._back(1.0)

    @cached_property
    def _twice(self) -> tuple[Any, Mapping[str, Any]]:
        return self._back(2.0)

    def _back(self, times: float) -> tuple[Any, Mapping[str, Any]]:
        layer = self.make(self.weights)
        self._forward(layer, self.arguments)
        return asked(layer.backward, times * self._gradient), self.gradients(layer)

    def _forward(self, layer: Any, arguments: Arrays) -> np.ndarray:
        output = asked(layer.forward, *(one.copy() for one in arguments.values()))
        output = output[0] if isinstance(output, tuple) and output else output
        if not isinstance(output, np.ndarray) or output.dtype != np.float64:
            raise Unwatched
        return output

    def _value(self, weights: Arrays, arguments: Arrays) -> float:
        return float((self._forward(self.make(weights), arguments) * self._gradient).sum())


def _parts(weights: Arrays) -> dict[str, list[str]]:
    """The weights by the part that they are in, such as "query" or "encoder_blocks.0"; each by itself without parts."""
    parts: dict[str, list[str]] = {}
    for name in weights:
        steps = name.split(".")
        parts.setdefault(".".join(steps[: 2 if steps[1:] and steps[1].isdigit() else 1]), []).append(name)
    return parts


def _by_name(returned: Any, inputs: Arrays) -> dict[str, np.ndarray]:
    return dict(zip(inputs, [returned] if len(inputs) == 1 else returned, strict=True))


def form_of_returned(returned: Any, inputs: Arrays) -> str:
    """What is wrong with the form of what backward returns; nothing where it has one array of each input's shape."""
    if not inputs:
        return "" if returned is None else "Your backward returns something. Can an id move a little?"
    if returned is None:
        return f"Your backward returns nothing. Which layer needs the gradient of {_listed(inputs)}?"
    several = list(returned) if isinstance(returned, list | tuple) else [returned]
    if len(several) != len(inputs) or (isinstance(returned, list | tuple) and len(inputs) == 1):
        what = "one result" if several[0] is returned else f"a {type(returned).__name__} of {len(several)}"
        return f"Your backward returns {what}. Which gradients does the docstring want back?"
    for one, (name, of) in zip(several, inputs.items(), strict=True):
        if np.shape(one) != of.shape:
            return f"As the gradient of {_listed([name])}, you return the shape {np.shape(one)}, not {of.shape}. " + (
                "Which two axes are swapped?" if np.shape(one) == of.mT.shape else "Which step changes the shape?"
            )
    return ""


def form_of_set(name: str, one: Any, weight: np.ndarray) -> str:
    """What is wrong with the form of a weight's gradient, if anything."""
    part, _, kind = name.rpartition(".")
    if one is None:
        return f"After backward, {part or 'your layer'} has no {kind}_grad. " + (
            "Is its backward ever called?" if part else "Which names does the docstring give to what is set?"
        )
    shape = np.shape(one)
    if shape == weight.shape:
        return ""
    says = f"Your {name}_grad has the shape {shape}, and {name} has {weight.shape}."
    if not shape:
        return f"Your {name}_grad is a single number, and {name} has {weight.size}. Over which axes do you sum?"
    if shape == weight.T.shape:
        return f"{says} Which of the arrays in it is the wrong way round?"
    if len(shape) > weight.ndim:
        return f"{says} Over which axes do the shares of all rows add up, and what becomes of those axes?"
    return f"{says} Which two arrays meet in it?"


def _fit(
    claimed: Mapping[str, Any],
    of_twice_as_much: Mapping[str, Any],
    arrays: Arrays,
    value: Callable[[Arrays], float],
    parts: Mapping[str, list[str]],
    called: str,
) -> str:
    """How the claimed gradients of these arrays fit the slopes of `value`, part by part."""
    factors = {part: _factor(claimed, {name: arrays[name] for name in names}, value) for part, names in parts.items()}
    wrong = [part for part, factor in factors.items() if factor != _FITS]
    right = [part for part in parts if part not in wrong]
    if not wrong:
        return AS_ASKED
    plain = not called and wrong[0] in arrays  # the layer's own weights, not those of its parts
    of = called.replace("gradient", "gradients") if len(wrong) > 1 else called
    names = _listed([f"{part}_grad" for part in wrong]) if plain else of + _listed(wrong)
    subject = f"Your {names}" if plain or called else f"What you set in {names}"
    verb = "are" if (plain or called) and len(wrong) > 1 else "is"
    alike = {factors[part] for part in wrong}
    if alike == {_NOTHING}:
        return (
            f"{subject} {verb} zero, though your forward's output changes when a number in {_listed(wrong)} moves. "
            "Where does the gradient get lost?"
        )
    if not any(_follows(claimed[name], of_twice_as_much[name]) for part in wrong for name in parts[part]):
        return (
            f"{subject} {verb} no larger when the incoming gradient is twice as large. What does the chain rule "
            "multiply slopes by?"
        )
    factor = factors[wrong[0]]
    if len(alike) == 1 and factor is not None:
        return f"{subject} {verb} {_times(factor)}, going by your own forward. {_whose(factor)}"
    return (
        f"Move a number in {_listed(wrong)} a little, and your forward's output doesn't change as your gradient says"
        + (
            f". With {_listed(right) if len(right) < 5 else 'all the others'}, it does. What comes between the two "
            "on the way back?"
            if right
            else ". What did forward do with it, step by step, and which step isn't on your way back?"
        )
    )


def _factor(claimed: Mapping[str, Any], arrays: Arrays, value: Callable[[Arrays], float]) -> float | None:
    """By how much the claimed gradients are larger than the slopes; None where that differs from place to place."""
    generator = np.random.default_rng(2)
    says, slopes = [], []
    for _ in range(3):
        way = {name: generator.standard_normal(one.shape) for name, one in arrays.items()}
        above, below = (
            value({name: one + step * way[name] for name, one in arrays.items()}) for step in (_STEP, -_STEP)
        )
        slopes.append((above - below) / (2 * _STEP))
        says.append(sum(float((claimed[name] * way[name]).sum()) for name in arrays))
    size = sum(float((claimed[name] ** 2).sum()) for name in arrays) ** 0.5
    if (
        np.abs(np.subtract(says, slopes)).max() <= 1e-3 * max(size, np.abs(slopes).max()) + 1e-6
    ):  # eps isn't the question
        return _FITS
    if np.allclose(says, 0.0, atol=1e-9):
        return _NOTHING
    if np.abs(slopes).min() < 1e-6:
        return None
    factors = np.divide(says, slopes)
    return float(f"{factors[0]:.4g}") if np.allclose(factors, factors[0], rtol=1e-3) else None


def _follows(one: Any, of_twice_as_much: Any) -> bool:
    return not np.allclose(one, of_twice_as_much, rtol=1e-9, atol=1e-12)


def _rows_left_out(claimed: np.ndarray, table: np.ndarray, value: Callable[[Arrays], float]) -> str:
    """Of a table: the rows that have a say, and get no gradient."""
    left_out = []
    for place in range(len(table)):
        moved = table.copy()
        moved[place] += np.cos(np.arange(table.shape[1]))
        if abs(value({"weight": moved}) - value({"weight": table})) > 1e-6 and not claimed[place].any():
            left_out.append(str(place))
    if not left_out:
        return ""
    return f"Ids such as {left_out[0]} came in, and their rows get no gradient. Which ids do you gather for?"


def _times(factor: float) -> str:
    """A factor in words that follow "is"."""
    size, sign = abs(factor), "minus " * (factor < 0)
    if size == 1:
        return "right but for the sign"
    for number in range(2, 100):
        for times, name in ((number, f"{number}"), (number**0.5, f"the root of {number}")):
            if abs(size - times) < 1e-3 * times:
                return f"{sign}{name} times what it should be"
            if abs(size * times - 1) < 2e-3:
                return f"{sign}1 / {name} of what it should be"
    return f"{sign}{size:.3g} times what it should be"


def _whose(factor: float) -> str:
    if factor < 0:
        return "When a number grows, which way does the output go?"
    return "Which sum, mean or division has no counterpart in forward, or is left out?"


def _listed(names: Iterable[str], word: str = "and") -> str:
    listed: Sequence[str] = [name.replace("_states", " states") for name in names]
    return f" {word} ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))

"""How the parts of a layer are joined, in words: what each is given going forward, and what each gets on the way back.

Each part notes what goes into its `forward` and its `backward`, and what comes out. What goes in is a sum of what has
come out before; which one, least squares tell. Only what is recognised for certain is said: where somebody does without
a part's method, or makes something of its result that is no sum, nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked

Plan = Mapping[str, tuple[tuple[str, ...], ...]]
"""What each part reads going forward, in order: for each of its arguments, what is added up. `RESULT` comes last."""
RESULT = ""
AGAIN = " again"
"""What a part returns when it is called with something else has a name of its own."""
Terms = dict[str, float]
"""A sum: how often each of the known arrays is in it."""
_ROLES = ("queries", "keys", "values")
_FACTORS = {1.0: "", 2.0: "twice ", 0.5: "half of "}


@dataclass
class _Trace:
    known: dict[str, np.ndarray]
    calls: dict[str, list[list[Terms | None]]] = field(default_factory=dict)
    """Of each part, what went into each of its calls."""

    def terms(self, array: Any) -> Terms | None:
        """What an array is the sum of; None where that isn't certain."""
        if not isinstance(array, np.ndarray):
            return None
        names = [name for name, one in self.known.items() if one.shape == array.shape]
        if not names or array.size < 2 * len(names):
            return None
        columns = np.stack([self.known[name].ravel() for name in names], axis=1)
        factors, _, rank, _ = np.linalg.lstsq(columns, array.ravel(), rcond=1e-9)
        if rank < len(names) or not np.allclose(columns @ factors, array.ravel(), rtol=1e-8, atol=1e-8):
            return None
        return {
            name: round(float(factor), 6) for name, factor in zip(names, factors, strict=True) if abs(factor) > 1e-6
        }

    def learn(self, name: str, array: Any) -> None:
        """What is a sum of other arrays anyway needs no name of its own."""
        if isinstance(array, np.ndarray) and array.dtype == np.float64 and self.terms(array) is None:
            self.known[name + AGAIN * (name in self.known)] = array.copy()

    def call(self, part: str) -> list[Terms | None] | None:
        """What went into a part, if that was the same each time."""
        calls = self.calls.get(part, [])
        return calls[0] if calls and all(call == calls[0] for call in calls) else None

    def watch(self, parts: Mapping[str, Any], method: str) -> None:
        """From now on, each part notes the calls of this method."""
        for name, part in parts.items():
            asked(setattr, part, method, self._noting(name, asked(getattr, part, method), method == "backward"))

    def _noting(self, name: str, original: Any, backward: bool) -> Any:
        def noting(*positional: Any, **named: Any) -> Any:
            arrays = [
                each
                for each in (*positional, *named.values())
                if isinstance(each, np.ndarray) and each.dtype == np.float64
            ]
            self.calls.setdefault(name, []).append([self.terms(each) for each in arrays])
            for each in arrays:
                self.learn(f"into {name}", each)
            result = original(*positional, **named)
            if not isinstance(result, tuple):
                self.learn(name, result)
            elif backward:
                for place, each in enumerate(result):
                    self.learn(f"{name}.{place}", each)
            else:
                self.learn(name, result[0])
            return result

        return noting


def one_and_the_same(parts: Mapping[str, Any]) -> str:
    """Whether one object stands for two parts."""
    named: dict[int, str] = {}
    for name, part in parts.items():
        if (other := named.setdefault(id(part), name)) != name:
            return f"Your {other} and your {name} are one and the same part. Where does each get weights of its own?"
    return ""


def wiring(layer: Any, plan: Plan, arguments: Mapping[str, np.ndarray], gradient: np.ndarray | None) -> str:
    """How the parts of a new layer are joined going forward; with a gradient, on the way back, if forward is right."""
    parts = {name: getattr(layer, name) for name in plan if name != RESULT}
    if sentence := one_and_the_same(parts):
        return sentence if gradient is None else AS_ASKED
    ahead = _Trace({name: one.copy() for name, one in arguments.items()})
    ahead.watch(parts, "forward")
    output = asked(layer.forward, *(one.copy() for one in arguments.values()))
    output = output[0] if isinstance(output, tuple) else output
    sentence = _forward(ahead, plan, output)
    if gradient is None or sentence != AS_ASKED:
        return sentence if gradient is None else AS_ASKED
    back = _Trace({"gradient": gradient.copy()})
    back.watch(parts, "backward")
    returned = asked(layer.backward, gradient.copy())
    if len(arguments) == 1:
        returned = [returned]
    if not isinstance(returned, list | tuple) or len(returned) != len(arguments):
        return AS_ASKED
    return _backward(back, plan, {name: back.terms(one) for name, one in zip(arguments, returned, strict=True)})


def _forward(trace: _Trace, plan: Plan, output: Any) -> str:
    for part, reads in plan.items():
        got = [trace.terms(output)] if part == RESULT else trace.call(part)
        asked = [dict.fromkeys(names, 1.0) for names in reads]
        if not got or not asked or got == asked:  # a part that is left out is missing in what another one reads
            continue
        if len(got) != len(asked) or None in got:
            return AS_ASKED
        given = [_written(terms or {}, _returned) for terms in got]
        if part == RESULT:
            return f"Your forward returns {given[0]}. What does the docstring add up at the end?"
        if len(set(given)) == 1:
            return f"Going forward, {part} gets {given[0]}. What does the docstring give it?"
        wrong = next(place for place, terms in enumerate(got) if terms != asked[place])
        return f"Going forward, {part} gets {given[wrong]} as its {_ROLES[wrong]}. What does the docstring give it?"
    return AS_ASKED


def _backward(trace: _Trace, plan: Plan, returned: Mapping[str, Terms | None]) -> str:
    twice = [part for part in trace.calls if trace.call(part) is None]
    if None in returned.values() or (twice and trace.calls.keys() >= plan.keys() - {RESULT}):
        return AS_ASKED
    arriving: dict[str, Terms] = {}
    for reader, reads in plan.items():
        for place, names in enumerate(reads):
            sender = "gradient" if reader == RESULT else reader if len(reads) == 1 else f"{reader}.{place}"
            for name in names:
                arriving.setdefault(name, {})[sender] = 1.0
    used = set(_used(trace, returned))
    for part in (name for name in reversed([*plan]) if name in used and name in arriving and name not in twice):
        got = trace.calls[part][0]
        if len(got) != 1 or got[0] is None:
            return AS_ASKED
        if got[0] != arriving[part]:
            words = _written(got[0], _sent_back)
            return f"On the way back, {part} gets {words}. Where did its result go on the way forward?"
    for name, terms in returned.items():
        if terms is not None and terms != arriving[name]:
            words, called = _written(terms, _sent_back), _returned(name)
            return f"As the gradient of {called}, you return {words}. Where did {called} go on the way forward?"
    return _of_attention(trace)


def _of_attention(trace: _Trace) -> str:
    """What has to hold of the gradients of keys and values, whatever the weights are."""
    sums = {name: one.sum(axis=1) for name, one in trace.known.items()}
    if {"into key", "into value", "output"} <= sums.keys():
        if not np.allclose(sums["into value"], sums["output"], rtol=1e-8, atol=1e-8):
            return (
                "On the way back, what value gets doesn't add up to what output sends back, though the weights of each "
                "query add up to 1. Is that what you share out, and how much of it belongs to each value?"
            )
        if not np.allclose(sums["into key"], 0.0, atol=1e-8):
            return (
                "On the way back, what key gets doesn't add up to 0, though the weights stay as they are when all keys "
                "move alike. How do you come back through the softmax?"
            )
    return AS_ASKED


def _used(trace: _Trace, returned: Mapping[str, Terms | None]) -> Iterator[str]:
    """The parts whose results are in what is returned."""
    waiting, seen = [name for terms in returned.values() for name in terms or ()], set()
    while waiting:
        part = waiting.pop().removesuffix(AGAIN).split(".")[0]
        if part in trace.calls and part not in seen:
            seen.add(part)
            yield part
            waiting += [name for call in trace.calls[part] for terms in call for name in terms or ()]


def _written(terms: Terms, say: Callable[[str], str]) -> str:
    words = ""
    for name, factor in sorted(terms.items(), key=lambda term: term[1] < 0):
        words += (" minus " if factor < 0 else " plus ") if words or factor < 0 else ""
        words += _FACTORS.get(abs(factor), f"{abs(factor):.3g} times ") + say(name)
    return words.strip() + (" alone" if len(terms) == 1 and words != "x" else "") or "nothing but zeros"


def _returned(name: str) -> str:
    """What the known arrays are called on the way forward."""
    if name.endswith(AGAIN):
        return f"what {name.removesuffix(AGAIN)} returns in another call"
    part = name.removeprefix("into ")
    if part != name:
        return f"what {part} was given"
    return name.replace("_", " ") if name in ("x", "encoder_states", *_ROLES) else f"what {name} returns"


def _sent_back(name: str) -> str:
    """And on the way back."""
    if name.endswith(AGAIN):
        return f"{_sent_back(name.removesuffix(AGAIN))} in another call"
    if name == "gradient":
        return "the incoming gradient"
    if name.startswith("into "):
        return f"what {name.removeprefix('into ')} got"
    part, _, place = name.partition(".")
    return f"what {part} sends back" + (f" for its {_ROLES[int(place)]}" if place else "")


def merging(layer: Any, heads: int, arguments: Mapping[str, np.ndarray]) -> str:
    """What a multi-head attention gives to its last layer, by its own weights."""
    trace = _Trace({})
    parts = {name: getattr(layer, name) for name in ("query", "key", "value", "output")}
    trace.watch(parts, "forward")
    results = asked(layer.forward, *(one.copy() for one in arguments.values()))
    batch, m, width = arguments["queries"].shape
    if not isinstance(results, tuple) or np.shape(results[-1]) != (batch, heads, m, arguments["keys"].shape[1]):
        raise Unwatched
    weights = results[-1]
    for name in parts:
        if name not in trace.calls:
            return f"Your forward never calls {name}. What does the docstring use it for?"
    if not np.allclose(weights.sum(axis=-1), 1.0):
        return _shared_out(weights)
    if not {"into output", "query", "key", "value"} <= trace.known.keys():
        raise Unwatched
    merged, projected = trace.known["into output"], {name: trace.known[name] for name in ("query", "key", "value")}
    if merged.shape != (batch, m, width) or any(one.ndim != 3 or one.shape[-1] != width for one in projected.values()):
        raise Unwatched

    def blocks(of: np.ndarray) -> np.ndarray:
        return of.reshape(batch, -1, heads, width // heads).swapaxes(1, 2)

    def side_by_side(of: np.ndarray) -> np.ndarray:
        return of.swapaxes(1, 2).reshape(batch, m, width)

    mixed, by_reshape = (
        weights @ blocks(projected["value"]),
        weights @ projected["value"].reshape(batch, heads, -1, width // heads),
    )
    ways = {
        AS_ASKED: side_by_side(mixed),
        "The values are cut into heads by reshape alone, so a head gets numbers of several positions. Which two axes "
        "have to be swapped once the columns are in blocks?": side_by_side(by_reshape),
        "The heads are merged by reshape alone, so the output layer gets one position's numbers at another. Which two "
        "axes have to be swapped before the blocks lie side by side?": mixed.reshape(batch, m, width),
        "The values are cut into heads, and the heads merged, by reshape alone. Which two axes have to be swapped "
        "each time?": by_reshape.reshape(batch, m, width),
        "The heads are merged column by column, so their blocks are mixed. Where do the columns of head h belong?": (
            mixed.transpose(0, 2, 3, 1).reshape(batch, m, width)
        ),
    }
    for words, way in ways.items():
        if np.allclose(way, merged, rtol=1e-8, atol=1e-8):
            return _cut(weights, projected, heads) if words == AS_ASKED else words
    trace.known = {"the merged heads": ways[AS_ASKED], **{name: projected[name] for name in ("query",)}, **arguments}
    for name in ("key", "query"):
        if len(blocks(projected[name])[0, 0]) == weights.shape[-1]:
            trace.known[f"heads made of {name}"] = side_by_side(weights @ blocks(projected[name]))
    for name, given in list(arguments.items())[1:]:
        trace.known[f"heads made of {name}"] = side_by_side(weights @ blocks(given))
    terms = trace.terms(merged)
    if terms is None:
        return AS_ASKED
    return (
        f"Going forward, output gets {_written(terms, _mixed)}. What do the weights add up, and what comes after that?"
    )


def _cut(weights: np.ndarray, projected: Mapping[str, np.ndarray], heads: int) -> str:
    """Whether the queries or the keys of these weights were cut into heads by reshape alone."""
    batch, _, width = projected["query"].shape

    def cut(name: str, by_reshape: bool) -> np.ndarray:
        of = projected[name]
        if by_reshape:
            return of.reshape(batch, heads, -1, width // heads)
        return of.reshape(batch, -1, heads, width // heads).swapaxes(1, 2)

    for names in ((), ("query",), ("key",), ("query", "key")):
        scores = cut("query", "query" in names) @ cut("key", "key" in names).mT / (width // heads) ** 0.5
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        if np.allclose(powers / powers.sum(axis=-1, keepdims=True), weights, rtol=1e-6, atol=1e-8):
            roles = {"query": "queries", "key": "keys"}
            return (
                AS_ASKED
                if not names
                else (
                    f"The {' and '.join(roles[name] for name in names)} are cut into heads by reshape alone, so a head "
                    "gets numbers of several positions. Which two axes have to be swapped when the columns are in "
                    "blocks?"
                )
            )
    return AS_ASKED


def _shared_out(weights: np.ndarray) -> str:
    """Weights that don't add up to 1 along the keys."""
    for axis, name in ((-2, "queries"), (1, "heads"), (0, "batch")):
        if np.allclose(weights.sum(axis=axis), 1.0):
            return f"Your weights add up to 1 over the {name}. What should each query share its attention among?"
    if (weights < 0).any():
        return "Some of the weights that you return are negative. What happens to scores before they become weights?"
    return (
        "The weights that you return don't add up to 1 over the keys. What happens to the scores, and in which order?"
    )


def _mixed(name: str) -> str:
    if name.startswith("heads made of "):
        rest = name.removeprefix("heads made of ")
        return f"heads that mix {rest if rest in _ROLES else f'what {rest} returns'}"
    return name if name == "the merged heads" else _returned(name)

"""Slips that come along with a mistake, tried on what was seen of it: no code is run again.

Each slip does what a second, unrelated carelessness would do to the same answer: it changes an argument, loses
float64, refuses nothing, stops on a special case. What a slip would cover up isn't a second slip, and is left out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellcheck.authoring.arrays import as_array, dtype_of, is_array, is_tensor, numbers, size_of
from cellcheck.authoring.spec import Aspect, Case, Observation
from cellcheck.checking.compare import compare, concerns, is_number
from cellcheck.checking.diagnose import core_keys, says_little
from cellcheck.checking.judge import Judge

Spoil = Callable[[Observation, Observation, Case], Observation]
"""(what was seen, what was expected, the case) to what is seen when the slip comes along; the same when it doesn't."""
_STOPPED = {"error": {"type": "IndexError", "message": "index 0 is out of bounds", "line": ""}}


@dataclass(frozen=True)
class Slipped:
    """An answer with one slip more, case by case."""

    slip: str
    seen: list[Observation]


def failing(judge: Judge, seen: Sequence[Observation], expected: Sequence[Observation]) -> frozenset[str]:
    """The names of the aspects in which two answers differ."""
    return frozenset(
        aspect.name
        for case, e, s in zip(judge.cases, expected, seen, strict=True)
        if e is not s
        for difference in compare(e, s)
        for aspect in judge.exercise.aspects
        if concerns(aspect, case, difference)
    )


def slipped(judge: Judge, seen: list[Observation]) -> Iterator[Slipped]:
    """An answer with each of the slips that leave something of it to see; `seen` is in its canonical form."""
    expected = judge.references[0]
    wrong = _wrong_keys(judge, seen, expected)
    right = not any(wrong)
    for name, spoil in _slips(judge, expected, seen):
        combined = [spoil(s, e, c) for s, e, c in zip(seen, expected, judge.cases, strict=True)]
        if all(c is s for c, s in zip(combined, seen, strict=True)):
            continue
        if right or name == _OTHER_KIND or _still_shows(wrong, seen, combined):
            yield Slipped(name, combined)


def _wrong_keys(judge: Judge, seen: list[Observation], expected: list[Observation]) -> list[set[str]]:
    """Per case, under which names an answer is wrong in a way that an aspect looks at."""
    return [
        {d.key for d in compare(e, s) if any(concerns(aspect, case, d) for aspect in judge.exercise.aspects)}
        for case, e, s in zip(judge.cases, expected, seen, strict=True)
    ]


def _still_shows(wrong: list[set[str]], seen: list[Observation], combined: list[Observation]) -> bool:
    """Whether the slip leaves alone something that the answer had got wrong."""
    return any(
        c is s or ("error" not in c and any(key in s and c.get(key) is s[key] for key in keys))
        for keys, s, c in zip(wrong, seen, combined, strict=True)
        if keys
    )


_OTHER_KIND = "returns another kind of container"


def _slips(judge: Judge, expected: list[Observation], seen: list[Observation]) -> Iterator[tuple[str, Spoil]]:
    keys = core_keys(judge.exercise)
    little = says_little(keys, expected)
    yield "changes an argument", _under("arguments", _nudged)
    yield "leaves the other mode", _under("training_mode", _turned)
    yield "cuts the gradients", _under("gradients", lambda value: "cut off" if isinstance(value, list) else value)
    went_on = next((one for one in seen if "error" not in one), None)
    if went_on is not None:
        yield "refuses nothing", lambda s, e, c: went_on if "error" in e and "error" in s else s
    yield "refuses with another error", lambda s, e, c: _STOPPED if "error" in e and "error" in s else s
    if little:
        return  # with one word to say, a wrong word in a special case isn't a second slip but another answer
    yield "loses float64", lambda s, e, c: _changed(s, keys, _narrow)
    yield _OTHER_KIND, lambda s, e, c: _in_another_kind(s, e, keys)
    for place, aspect in enumerate(aspect for aspect in judge.exercise.aspects if _is_special(aspect, judge)):
        if place % 2:  # one kind each: a special case that goes wrong looks much like one that stops
            yield f"stops: {aspect.name}", _on(aspect, lambda s: s if "error" in s else _STOPPED)
        else:
            yield f"wrong: {aspect.name}", _on(aspect, lambda s: _changed(s, keys, _nudged))


def _is_special(aspect: Aspect, judge: Judge) -> bool:
    """Whether an aspect has cases of its own, and asks for more than an error in them."""
    core = [one.tags for one in judge.exercise.aspects if one.core]
    about = [case for case in judge.cases if aspect.tags <= case.tags]
    return (
        bool(aspect.tags) and "values" in aspect.kinds and not any(tags <= case.tags for tags in core for case in about)
    )


def _on(aspect: Aspect, change: Callable[[Observation], Observation]) -> Spoil:
    return lambda seen, expected, case: change(seen) if aspect.tags <= case.tags and "error" not in expected else seen


def _under(key: str, change: Callable[[Any], Any]) -> Spoil:
    return lambda seen, expected, case: _changed(seen, (key,), change) if key in expected else seen


def _changed(seen: Observation, keys: Sequence[str], change: Callable[[Any], Any]) -> Observation:
    changed = {key: change(seen[key]) for key in keys if key in seen}
    return seen | changed if any(changed[key] is not seen[key] for key in changed) else seen


def _nudged(value: Any) -> Any:
    """The value with its first number, or its text, changed."""
    if is_array(value) and size_of(value):
        return ~value if dtype_of(value) == "bool" else value + 1
    if is_number(value):
        return value + 1
    if isinstance(value, str):
        return f"{value}?"
    if isinstance(value, dict):
        items = {key: _nudged(item) for key, item in value.items() if key == next(iter(value))}
        return value | items if items else value
    if isinstance(value, list | tuple) and value:
        for place, item in enumerate(value):
            if (other := _nudged(item)) is not item:
                return type(value)([*value[:place], other, *value[place + 1 :]])
    return value


def _turned(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return [_turned(item) for item in value] if isinstance(value, list) and value else value


def _narrow(value: Any) -> Any:
    if is_tensor(value) and dtype_of(value) == "float64":
        return value.float()
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.float32)
    if isinstance(value, list | tuple):
        items = [_narrow(item) for item in value]
        return type(value)(items) if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def _in_another_kind(seen: Observation, expected: Observation, keys: Sequence[str]) -> Observation:
    """NumPy for PyTorch, a list for NumPy, a tensor or an array for a number; where it was the right kind."""

    def other(key: str, value: Any) -> Any:
        if type(value) is not type(expected.get(key)):
            return value
        if is_tensor(value):
            return numbers(value)
        if isinstance(value, np.ndarray):
            return value.tolist()
        return as_array(value) if isinstance(value, float) else value

    changed = {key: other(key, seen[key]) for key in keys if key in seen}
    if all(changed[key] is seen[key] for key in changed):
        return seen
    lost = {"gradients": "no tensor to follow"} if isinstance(seen.get("gradients"), list) else {}
    return seen | changed | lost

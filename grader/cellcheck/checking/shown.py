"""What a card shows of a case's inputs."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from cellcheck.authoring.arrays import is_array
from cellcheck.authoring.spec import Case, Exercise, Value
from cellcheck.checking.compare import is_number

MAX_SHOWN = 60  # characters of an input


def shown(exercise: Exercise, case: Case) -> Mapping[str, Value]:
    """The inputs that mean something to a learner: the author's choice, or what the symbol has a parameter for."""
    if exercise.shown is not None:
        return exercise.shown(case)
    names = _parameters(exercise.references[0])
    return {name: value for name, value in case.inputs.items() if name in names}


@cache
def _parameters(symbol: Any) -> frozenset[str]:
    """What a function takes; what a class takes when it is made, and when it is called."""

    def each() -> Iterator[str]:
        functions: list[Callable[..., Any]] = [symbol]
        if isinstance(symbol, type):
            functions += [getattr(symbol, name) for name in ("forward", "__call__") if name in vars(symbol)]
        for function in functions:
            try:
                yield from inspect.signature(function).parameters
            except (TypeError, ValueError):  # some built-in functions keep theirs to themselves
                continue

    return frozenset(each()) - {"self"}


def in_short(value: Value) -> str:
    """An input in a few words: a number, an array's shape, a short text or list; nothing for what is long."""
    if is_array(value):
        return f"of shape {tuple(value.shape)}" if value.ndim else ""
    if is_number(value) or isinstance(value, bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, str | list | tuple | dict) and "tensor(" not in repr(value) and "array(" not in repr(value):
        return repr(value) if len(repr(value)) <= MAX_SHOWN else ""
    return ""

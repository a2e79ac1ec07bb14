"""One mistake costs one exercise: earlier symbols are the course's while a later one is looked at."""

import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_ABSENT = object()


@contextmanager
def bound(symbol: Any, replacements: Mapping[str, Any]) -> Iterator[None]:
    """Binds `replacements` in the globals that `symbol`'s code sees, and restores them afterwards."""
    namespaces = {id(names): names for names in _globals_of(symbol)}.values()
    saved = [(names, {name: names.get(name, _ABSENT) for name in replacements}) for names in namespaces]
    for names in namespaces:
        names.update(replacements)
    try:
        yield
    finally:
        for names, values in saved:
            for name, value in values.items():
                if value is _ABSENT:
                    names.pop(name, None)
                else:
                    names[name] = value


def _globals_of(symbol: Any) -> Iterator[dict[str, Any]]:
    symbol = getattr(symbol, "__wrapped__", symbol)
    if isinstance(symbol, types.FunctionType):
        yield symbol.__globals__
    elif isinstance(symbol, type):
        for base in symbol.__mro__:
            if base.__module__ == "__main__":
                for member in vars(base).values():
                    function = getattr(member, "__func__", getattr(member, "fget", member))
                    if isinstance(function, types.FunctionType):
                        yield function.__globals__

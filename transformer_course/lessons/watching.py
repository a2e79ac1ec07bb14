"""Looks at what a learner's code does, for words beside the result: what it stops with there, the case itself shows."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

AS_ASKED = "as in the docstring"


class Unwatched(Exception):
    """Something of another kind, or that stops: nothing can be said of it."""


def asked(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a learner's code returns; whatever it stops with is no fault of those who look at it."""
    try:
        return call(*arguments)
    except Exception as error:
        raise Unwatched from error


def first_said(*looks: Callable[[], str], as_asked: str = AS_ASKED) -> str:
    """What is to be said first; `as_asked` where nothing is, and where somebody's code can't be watched."""
    for look in looks:
        with suppress(Unwatched):
            if (words := look()) != as_asked:
                return words
    return as_asked

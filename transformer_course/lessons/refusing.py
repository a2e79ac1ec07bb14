"""Arguments that a contract refuses: whether an error says so, whether it is the answer's own, and of which kind."""

import dis
from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring import aspects
from cellcheck.authoring.spec import Aspect

CALLED = {"refusal": "the answer to arguments that don't fit", "kind": "the error"}


def refused(name: str, weight: float) -> tuple[Aspect, Aspect]:
    """Stopping counts with this weight, and the kind of error half a point more."""
    return (
        aspects.special(name, name, weight, "Where the docstring asks for an error, one is raised.", ("refusal",)),
        aspects.special("by a ValueError", name, 0.5, "The error is the one that the docstring names.", ("kind",)),
    )


def refusal(function: Callable[..., Any], *arguments: Any) -> dict[str, str]:
    """What a function does with arguments that it should refuse, in words."""
    result, error = _outcome(function, *arguments)
    if error is None:
        return {"refusal": _described(result), "kind": "no error"}
    return {"refusal": "an error", "kind": _kind(error)}


def own_refusal(function: Callable[..., Any], *arguments: Any) -> dict[str, str]:
    """The same where an error has to speak of these arguments; one from within speaks of something else.

    A ValueError does, and so does whatever the function raises itself.
    """
    result, error = _outcome(function, *arguments)
    if error is None:
        return {"refusal": _described(result), "kind": "no error"}
    own = isinstance(error, ValueError) or _raised_by(function, error)
    return {"refusal": "an error" if own else "only an error from within", "kind": _kind(error)}


def _outcome(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """The result, or the error. A blank answer raises one as well, and refuses nothing."""
    try:
        return function(*arguments), None
    except NotImplementedError:
        raise
    except Exception as error:
        return None, error


def _kind(error: Exception) -> str:
    return "a ValueError" if isinstance(error, ValueError) else "another error than a ValueError"


def _described(result: Any) -> str:
    return f"a {type(result).__name__}" + (
        f" of shape {tuple(result.shape)}" if isinstance(result, torch.Tensor) else ""
    )


def _raised_by(function: Callable[..., Any], error: Exception) -> bool:
    """Whether it comes from a `raise` or an `assert` in the module in which the function was written."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_globals is not getattr(function, "__globals__", None):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]

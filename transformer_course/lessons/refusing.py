"""Arguments that a contract refuses with a ValueError: whether any error says so, and whether it is that one."""

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
    """What a function does with arguments that it should refuse, in words.

    A blank answer raises an error as well, and refuses nothing.
    """
    try:
        result = function(*arguments)
    except NotImplementedError:
        raise
    except ValueError:
        return {"refusal": "an error", "kind": "a ValueError"}
    except Exception:
        return {"refusal": "an error", "kind": "another error than a ValueError"}
    shape = f" of shape {tuple(result.shape)}" if isinstance(result, torch.Tensor) else ""
    return {"refusal": f"a {type(result).__name__}{shape}", "kind": "no error"}

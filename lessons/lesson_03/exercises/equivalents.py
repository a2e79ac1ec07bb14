"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_REFUSED_BELOW = "reshape itself refuses heads that don't fit; the error's type and words are open"

_ANY_CONTENT = "any other content shows whether padding is read"
_CHANGE = "vector += torch.linspace({}, {}, len(vector), dtype=vector.dtype)"
_CHANGED = _CHANGE.format(-1, 1)

EQUIVALENTS: dict[str, dict[str, str]] = {
    "ignores_padding": {
        f"{_CHANGED} -> {_CHANGE.format(1, 1)}": _ANY_CONTENT,
        f"{_CHANGED} -> {_CHANGE.format(-2, 1)}": _ANY_CONTENT,
        f"{_CHANGED} -> {_CHANGE.format(-1, 2)}": _ANY_CONTENT,
        f"{_CHANGED} -> {_CHANGED.replace('+=', '-=')}": _ANY_CONTENT,
        "answers = [examined(tokens), examined(nn.functional.pad(tokens, (0, 3)))]"
        " -> answers = [examined(tokens), examined(nn.functional.pad(tokens, (0, 4)))]": "any amount will do",
    },
}

"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_REFUSED_ANYWAY = "torch.randint refuses such a range as well, with an error of its own"
_JOINED = "return ''.join((letter + digit for letter, digit in zip(letters, digits, strict={})))"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "index_hints": {
        f"{_JOINED.format(True)} -> {_JOINED.format(False)}": "there are always as many letters as digits",
    },
    "random_offset_positions": {
        "if length > max_length: -> (dropped)": _REFUSED_ANYWAY,
        'raise ValueError(f"{length} positions don\'t fit into {max_length}") -> (dropped)': _REFUSED_ANYWAY,
    },
}

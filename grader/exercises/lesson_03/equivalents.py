"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_REFUSED_BELOW = "reshape itself refuses heads that don't fit; the error's type and words are open"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "split_heads": {
        "if d_model % num_heads != 0: -> (dropped)": _REFUSED_BELOW,
        """raise ValueError(f"d_model = {d_model} can't be cut into {num_heads} heads of one size") -> (dropped)""": (
            _REFUSED_BELOW
        ),
    },
}

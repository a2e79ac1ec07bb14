"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_REFUSED_BELOW = "reshape itself refuses heads that don't fit; the error's type and words are open"

_ANY_CONTENT = "any other content shows whether padding is read"
_FILL = "vectors[rows == 0] = torch.linspace({}, {}, vectors.shape[-1], dtype=vectors.dtype)"
_FILLED = _FILL.format(-1, 1)

EQUIVALENTS: dict[str, dict[str, str]] = {
    "split_heads": {
        "if d_model % num_heads != 0: -> (dropped)": _REFUSED_BELOW,
        """raise ValueError(f"d_model = {d_model} can't be cut into {num_heads} heads of one size") -> (dropped)""": (
            _REFUSED_BELOW
        ),
    },
    "ignores_padding": {
        f"{_FILLED} -> {_FILL.format(1, 1)}": _ANY_CONTENT,
        f"{_FILLED} -> {_FILL.format(-2, 1)}": _ANY_CONTENT,
        f"{_FILLED} -> {_FILL.format(-1, 2)}": _ANY_CONTENT,
        "answers = [examined(rows), examined(nn.functional.pad(rows, (0, 3)))]"
        " -> answers = [examined(rows), examined(nn.functional.pad(rows, (0, 4)))]": "any amount of padding will do",
        "rows = tokens[(tokens != 0).any(dim=1)] -> rows = tokens[(tokens != 1).any(dim=1)]": (
            "what a row of padding alone says is left open, and the rows of ids are drawn, never all of one id"
        ),
    },
}

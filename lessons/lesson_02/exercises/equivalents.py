"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_ANYWAY = "the look-up below stops with a KeyError anyway, and which error is left open"
_TOO_LONG = "writing a row into a shorter one stops with a RuntimeError anyway, and which error is left open"

EQUIVALENTS = {
    "encode": {
        "if unknown: -> (dropped)": _ANYWAY,
        "raise ValueError(f'the vocabulary does not hold {unknown}') -> (dropped)": _ANYWAY,
    },
    "decode": {
        "if unknown: -> (dropped)": _ANYWAY,
        "raise ValueError(f'the vocabulary has no symbol for {unknown}') -> (dropped)": _ANYWAY,
    },
    "pad_sequences": {
        "if longest > max_length: -> (dropped)": _TOO_LONG,
        "raise ValueError(f'a sequence of {longest} ids does not fit into {max_length}') -> (dropped)": _TOO_LONG,
        "longest = max((len(sequence) for sequence in sequences), default=0)"
        " -> longest = max((len(sequence) for sequence in sequences), default=1)": (
            "the default counts only where there are no sequences, and then none is too long"
        ),
        "for row, sequence in zip(padded, sequences, strict=True):"
        " -> for row, sequence in zip(padded, sequences, strict=False):": (
            "`padded` has a row for each sequence, so strict never finds a difference"
        ),
    },
}

"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_ANYWAY = "the lookup below raises a KeyError anyway, and any error will do"
_TOO_LONG = "writing a row into a shorter one raises a RuntimeError anyway, and any error will do"

EQUIVALENTS = {
    "encode": {
        "if unknown: -> (dropped)": _ANYWAY,
        "raise ValueError(f'not in the vocabulary: {unknown}') -> (dropped)": _ANYWAY,
    },
    "decode": {
        "if unknown: -> (dropped)": _ANYWAY,
        "raise ValueError(f'no symbol has the id {unknown}') -> (dropped)": _ANYWAY,
    },
    "pad_sequences": {
        "if longest > max_length: -> (dropped)": _TOO_LONG,
        "raise ValueError(f'a sequence of {longest} ids does not fit into {max_length}') -> (dropped)": _TOO_LONG,
        "longest = max((len(sequence) for sequence in sequences), default=0)"
        " -> longest = max((len(sequence) for sequence in sequences), default=1)": (
            "the default matters only if there are no sequences, and then none is too long"
        ),
        "for row, sequence in zip(padded, sequences, strict=True):"
        " -> for row, sequence in zip(padded, sequences, strict=False):": (
            "`padded` has a row for each sequence, so strict never finds a difference"
        ),
    },
}

"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_STRICT = "zip's strict only guards against lists of different lengths, which no sensible caller passes in"
_NUMBERS = "the toy numbers are free as long as a wrong pairing shows, and it does"
_REFUSAL = "either answer will do for a loss that refuses the shape"

EQUIVALENTS = {
    "loss_is_sound": {
        **{
            f"predictions = torch.tensor([0.2, 0.3, 0.7, 0.8]) -> predictions = torch.tensor({changed})": _NUMBERS
            for changed in (
                [0.9, 0.3, 0.7, 0.8],
                [0.2, 1.1, 0.7, 0.8],
                [0.2, 0.3, 1.9, 0.8],
                [0.2, 0.3, 0.7, 2.1],
            )
        },
        **{
            f"targets = torch.tensor([0.1, 0.2, 0.6, 0.9]) -> targets = torch.tensor({changed})": _NUMBERS
            for changed in (
                [0.7, 0.2, 0.6, 0.9],
                [0.1, 0.9, 0.6, 0.9],
                [0.1, 0.2, 1.7, 0.9],
                [0.1, 0.2, 0.6, 2.3],
            )
        },
        "return True -> (dropped)": _REFUSAL,
        "return True -> return False": _REFUSAL,
    },
}

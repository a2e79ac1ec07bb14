"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

ANOTHER = "which other id is tried is free, as long as one is tried that exists"
OTHER_SIDE = "the other row's ids are only there to name more ids that exist"
_VOCABULARY = "a row that shows no id above 1 says nothing of its vocabulary"
_HIGHEST = "highest = max(int(source.max()), int(target_input.max()), 2)"
_CHANGED = "changed[:, place] = (target_input[:, place] - 1 + step) % highest + 1"


def of_the_tries() -> dict[str, str]:
    """What both clinics' references may try instead."""
    return {
        f"{_HIGHEST} -> highest = max(int(source.min()), int(target_input.max()), 2)": OTHER_SIDE,
        f"{_HIGHEST} -> highest = max(int(source.max()), int(target_input.min()), 2)": OTHER_SIDE,
        f"{_HIGHEST} -> highest = max(int(source.max()), int(target_input.max()), 3)": _VOCABULARY,
        **{
            f"for step in (1, 2, 3): -> for step in {steps}:": ANOTHER
            for steps in ("(2, 2, 3)", "(1, 3, 3)", "(1, 2, 4)")
        },
    }


EQUIVALENTS = {
    "future_leak": {
        **of_the_tries(),
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] - 1 - step) % highest + 1": ANOTHER,
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] + 1 + step) % highest + 1": ANOTHER,
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] - 2 + step) % highest + 1": ANOTHER,
    },
}

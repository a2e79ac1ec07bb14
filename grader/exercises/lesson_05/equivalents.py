"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

from grader.exercises.lesson_04.equivalents import ANOTHER, of_the_tries

_CHANGED = "changed[:, place] = (target_input[:, place] - 1 + step) % highest + 1"

EQUIVALENTS = {
    "future_leak": {
        **of_the_tries(),
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] - 1 - step) % highest + 1": ANOTHER,
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] + 1 + step) % highest + 1": ANOTHER,
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] - 2 + step) % highest + 1": ANOTHER,
    },
}

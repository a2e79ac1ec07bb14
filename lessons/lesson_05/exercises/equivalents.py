"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

from lessons.lesson_04.exercises.equivalents import ANOTHER, of_the_tries

_CHANGED = "changed[:, place] = (target_input[:, place] - 1 + step) % highest + 1"

EQUIVALENTS = {
    "future_leak": {
        **of_the_tries(),
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] - 1 - step) % highest + 1": ANOTHER,
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] + 1 + step) % highest + 1": ANOTHER,
        f"{_CHANGED} -> changed[:, place] = (target_input[:, place] - 2 + step) % highest + 1": ANOTHER,
    },
}

"""The aspects that most exercises of this lesson share.

The cases with the tag "usual" decide about what the exercise is about; what is special has a tag and an aspect of
its own, so that one slip costs one aspect.
"""

from __future__ import annotations

from grader.exercises.lesson_01.aspects import CONTENT, USUAL, special, untouched
from grader.exercises.spec import Aspect

__all__ = ["CONTENT", "USUAL", "main", "refused", "special", "untouched"]


def main(name: str, weight: float = 4.0, keys: tuple[str, ...] = ("output",)) -> Aspect:
    """What the exercise is about, on the usual cases."""
    return Aspect(name, keys=keys, kinds=CONTENT, weight=weight, core=True, tags=USUAL)


def refused(name: str, tag: str, weight: float = 1.0) -> Aspect:
    """A clear error where the contract asks for one."""
    return Aspect(name, kinds=frozenset({"error"}), weight=weight, tags=frozenset({tag}))

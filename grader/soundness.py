"""Faults in an exercise's description that an author should hear about at once, each as one sentence.

What needs a run to be found (a mistake that passes, a right answer that fails) is the audit's.
"""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path

import numpy as np

from grader.authoring.spec import Case, Exercise, Lesson
from grader.errors import GraderError
from grader.running.blanks import blank
from grader.syllabus import load_probes


def insist_on_sound(lesson: Lesson) -> None:
    """Looks at every exercise of a lesson, and at its probes.

    Raises:
        GraderError: for the first fault.
    """
    if not lesson.exercises:
        raise GraderError(f"{lesson.name} has no exercises: list at least one in its LESSON.")
    for exercise in lesson.exercises:
        _insist(exercise)
    _once(Counter(exercise.symbol for exercise in lesson.exercises), f"Lesson {lesson.name}", "exercise")
    load_probes(lesson.name)


def _insist(exercise: Exercise) -> None:
    symbol, where = exercise.symbol, _file(exercise.cases)
    reference = exercise.references[0]
    home = inspect.getsourcefile(reference) or reference.__module__
    if getattr(reference, "__name__", symbol) != symbol:
        raise GraderError(
            f"The exercise {symbol!r} in {where} has {reference.__name__} as its first reference: both need one name."
        )
    source = inspect.getsource(reference)
    if blank(source) == source:
        raise GraderError(
            f"{symbol} in {home} does not say what learners are to write: "
            "put that between ### BEGIN SOLUTION and ### END SOLUTION."
        )
    if exercise.points <= 0:
        raise GraderError(f"{symbol} in {where} is worth {exercise.points:g} points: give it more than none.")
    if not any(aspect.core for aspect in exercise.aspects):
        raise GraderError(
            f"{symbol} in {where} has no core aspect, so that form alone would earn points: "
            "begin with aspects.of_function(), or add aspects.values()."
        )
    _insist_on_cases(exercise, where)
    _once(Counter(aspect.name for aspect in exercise.aspects), f"{symbol} in {where}", "aspect")
    _once(Counter(mistake.name for mistake in exercise.mistakes), f"{symbol} in {where}", "mistake")


def _insist_on_cases(exercise: Exercise, where: str) -> None:
    symbol = exercise.symbol
    cases = exercise.cases(np.random.default_rng(0))
    if not cases or not all(isinstance(case, Case) for case in cases):
        raise GraderError(f"{symbol} in {where} has no cases: let `cases` return a list with at least one Case.")
    _once(Counter(case.label for case in cases), f"{symbol} in {where}", "case")
    for aspect in exercise.aspects:
        if not any(aspect.tags <= case.tags for case in cases):
            tags = ", ".join(sorted(aspect.tags))
            raise GraderError(
                f"{symbol} in {where} has no case for its aspect {aspect.name!r}: give a case the tag {tags!r}."
            )


def _once(counted: Counter[str], where: str, what: str) -> None:
    for name, count in counted.items():
        if count > 1:
            raise GraderError(f"{where} has {count} of the {what} {name!r}: give each a name of its own.")


def _file(function: object) -> str:
    """Where an exercise is described, as far as can be told."""
    code = getattr(function, "__code__", None)
    return str(Path(code.co_filename)) if code is not None else "its lesson"

"""Faults in an exercise's description that an author should hear about at once, each as one sentence.

Here are those that show without a run. `cellcheck.rehearsal` has the others; the audit says how good the checks are.
"""

import inspect
import math
from collections import Counter
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from cellcheck.authoring.spec import USUAL, Case, Exercise, Lesson
from cellcheck.checking.compare import KINDS, compare
from cellcheck.errors import GraderError
from cellcheck.lines import line_of, told, written
from cellcheck.rehearsal import rehearse
from cellcheck.running.blanks import blank
from cellcheck.running.wire import MAX_MESSAGE, decode, encode
from cellcheck.syllabus import Syllabus, find_lesson, load_lesson, load_probes


def insist_on_sound(lesson: Lesson) -> None:
    """Looks at every exercise of a lesson, and at its probes; then tries them out.

    Raises:
        GraderError: for the first fault.
    """
    syllabus, _ = find_lesson(lesson.name)
    if not lesson.exercises:
        raise GraderError(f"{lesson.name} has no exercises: name at least one in its text.")
    for exercise in lesson.exercises:
        _insist(exercise, syllabus.root, syllabus.place(lesson.name))
    _once(Counter(exercise.symbol for exercise in lesson.exercises), f"Lesson {lesson.name}", "exercise")
    probes = load_probes(lesson.name)
    _insist_on_symbols(lesson, syllabus)
    rehearse(lesson, probes, syllabus)


def _insist_on_symbols(lesson: Lesson, syllabus: Syllabus) -> None:
    """A probe for a symbol that isn't there would never be used."""
    symbols = [exercise.symbol for exercise in load_lesson(lesson.name).exercises]
    probes = syllabus.part(lesson.name, "probes").PROBES if syllabus.has(lesson.name, "probes") else {}
    for symbol in probes:
        if symbol not in symbols:
            near = get_close_matches(symbol, symbols, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(symbols)}."
            folder = syllabus.place(lesson.name)
            where = written(line_of(symbol, folder, probes=True), str(folder))
            raise GraderError(f"PROBES has {symbol!r}, and the lesson has no such exercise: {where}. {advice}")


def _insist(exercise: Exercise, root: Path, folder: Path) -> None:
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
    if not inspect.getdoc(reference):
        raise GraderError(f"{symbol} in {home} has no docstring: it is the contract, and all that learners are told.")
    if not 0.01 <= exercise.points < math.inf:  # marks have two decimals
        raise GraderError(
            f"{symbol} in {where} is worth {exercise.points:g} points: give it at least 0.01, and not infinity."
        )
    for mistake in exercise.mistakes:
        if not callable(mistake.implementation):
            raise GraderError(f"{symbol} in {where}: the mistake {mistake.name!r} is no function or class: write one.")
        if not mistake.advice.strip():
            raise GraderError(f"{symbol} in {where}: the mistake {mistake.name!r} has no advice for whoever makes it.")
    for aspect in exercise.aspects:
        if unknown := sorted(aspect.kinds.difference(KINDS)):
            raise GraderError(
                f"{symbol} in {where}: the aspect {aspect.name!r} looks at {unknown[0]!r}, and nothing differs in "
                f"that. There are {', '.join(KINDS)}."
            )
        if not 0 <= aspect.weight < math.inf:
            raise GraderError(
                f"{symbol} in {where}: the aspect {aspect.name!r} weighs {aspect.weight:g}. Give it more than nothing, "
                "or 0 if it only says something, or take it out."
            )
        if not aspect.counts and (aspect.core or aspect.central):
            raise GraderError(
                f"{symbol} in {where}: the aspect {aspect.name!r} weighs nothing, and points depend on it. Give it a "
                "weight, or let it be neither core nor central."
            )
    if not any(aspect.core for aspect in exercise.aspects):
        raise GraderError(
            f"{symbol} in {where} has no core aspect, so that form alone would earn points: "
            "begin with aspects.of_function(), or add aspects.values()."
        )
    _insist_on_cases(exercise, where, root, folder)
    _once(Counter(aspect.name for aspect in exercise.aspects), f"{symbol} in {where}", "aspect")
    _once(Counter(mistake.name for mistake in exercise.mistakes), f"{symbol} in {where}", "mistake")
    for answers in (exercise.honest, exercise.wrong):  # nothing else compiles those, and they may hold a slip
        list(answers.values())


def _insist_on_cases(exercise: Exercise, where: str, root: Path, folder: Path) -> None:
    symbol = exercise.symbol
    with told(symbol, "cases", root, where):
        cases, again = (exercise.cases(np.random.default_rng(0)) for _ in range(2))
    if not cases or not all(isinstance(case, Case) for case in cases):
        raise GraderError(f"{symbol} in {where} has no cases: let `cases` return a list with at least one Case.")
    _once(Counter(case.label for case in cases), f"{symbol} in {where}", "case")
    for case in cases:
        _insist_on_plain(symbol, case, where, folder)
    # A learner's process, and each that judges, has to draw the same.
    if [c.label for c in cases] != [c.label for c in again] or any(
        compare(dict(one.inputs), dict(other.inputs)) for one, other in zip(cases, again, strict=True)
    ):
        raise GraderError(
            f"The cases of {symbol} in {where} are not the same when they are drawn again from the same seed. Draw "
            "everything from the generator that they are given."
        )
    for aspect in exercise.aspects:
        if not any(aspect.tags <= case.tags for case in cases):
            tags = ", ".join(sorted(aspect.tags))
            raise GraderError(
                f"{symbol} in {where} has no case for its aspect {aspect.name!r}: give a case the tag {tags!r}."
            )
    all_tags = USUAL.union(*(aspect.tags for aspect in exercise.aspects))
    for case in cases:
        for tag in sorted(case.tags - all_tags):
            raise GraderError(
                f"{symbol}: no aspect looks at the tag {tag!r} of the case {case.label!r}, in "
                f"{written(line_of(tag, folder), where)}. Give an aspect this tag, or the case another: "
                f"there are {', '.join(sorted(all_tags))}."
            )


def _insist_on_plain(symbol: str, case: Case, where: str, folder: Path) -> None:
    """What a case has must reach the process that runs a learner's code."""
    for name, value in case.inputs.items():
        try:
            decode(encode(value), MAX_MESSAGE)
        except Exception as error:  # each library on this path has errors of its own
            raise GraderError(
                f"{symbol}: the case {case.label!r} ({written(line_of(case.label, folder), where)}) has {name!r}, of "
                f"type {type(value).__name__}, which can't travel to a learner's process: {error}. Give it plain data: "
                "None, Python's own numbers and strings, arrays, tensors, and lists, tuples and dicts of these."
            ) from error


def _once(counted: Counter[str], where: str, what: str) -> None:
    for name, count in counted.items():
        if count > 1:
            raise GraderError(f"{where} has {count} of the {what} {name!r}: give each a name of its own.")


def _file(function: object) -> str:
    """Where an exercise is described, as far as can be told."""
    code = getattr(function, "__code__", None)
    return str(Path(code.co_filename)) if code is not None else "its lesson"

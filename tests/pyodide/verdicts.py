"""What is judged inside and outside, by the same lines: every answer to an exercise that the catalogue has."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from cellcheck.authoring.calls import Probe, in_order
from cellcheck.authoring.spec import Exercise
from cellcheck.checking.judge import Judge
from cellcheck.syllabus import find_lesson
from tests.lessons.marks import answers_to


def alone(lesson: str, symbol: str) -> tuple[Exercise, Probe]:
    """An exercise by itself, and how it is called: others of its lesson may need what isn't here."""
    syllabus, name = find_lesson(lesson)
    exercise = syllabus.exercise(name, symbol)
    shared = syllabus.part(name, "probes").PROBES if syllabus.has(name, "probes") else {}
    return exercise, exercise.probe or shared.get(symbol) or in_order


def verdicts(lesson: str, symbol: str, seed: int, texts: dict[str, str]) -> dict[str, dict[str, Any]]:
    """For each answer by its kind and name, and for each text: points, the mistake, the aspects, what is said."""
    exercise, probe = alone(lesson, symbol)
    judge = Judge(exercise, probe, seed)
    judged = {f"{each.kind} {each.name}": one for each, one in answers_to(exercise).items()}
    for name, text in texts.items():
        around = vars(sys.modules[exercise.references[0].__module__])
        namespace: dict[str, Any] = {**around, "np": numpy, "__name__": "__main__"}
        exec(text, namespace)
        judged[f"text {name}"] = namespace[symbol]
    table = {}
    for name, one in judged.items():
        verdict = judge.verdict(judge.observe(one))
        if hasattr(one, "__code__"):  # what it keeps on itself
            vars(one).clear()
        table[name] = {
            "points": verdict.score,
            "status": verdict.status,
            "diagnosis": verdict.diagnosis,
            "aspects": {each.name: each.passed for each in verdict.aspects},
            "message": verdict.message,
        }
    return table

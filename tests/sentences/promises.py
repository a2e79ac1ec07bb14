"""What the docstrings of exercises promise, sentence by sentence, and what an answer loses that breaks one.

A docstring is the contract: all that a learner is told. `tests/sentences/NN.csv` is the list of lesson NN, and has a
line for each of its sentences: the aspects of the exercise that look at it, and the mistakes of its NAME.md that break
just this. In place of aspects stands `premise` where a sentence says what is given, or why, and asks nothing of an
answer.

    .venv/bin/python -m tests.sentences.promises 16    writes the list anew: sentences that are new have empty cells

Examples are left out, since the build runs them, and so are sources. A lesson is wholly in its list or has none.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path
from typing import Any

from cellcheck.authoring.aspects import SETTINGS_UNTOUCHED
from cellcheck.authoring.spec import Exercise
from cellcheck.syllabus import find_lesson, load_lesson
from tests.lessons.marks import Answer, Marks, recorded

FOLDER = Path(__file__).parent
COLUMNS = ("symbol", "sentence", "looked_at_by", "mistakes")
PREMISE = "premise"
BETWEEN_ASPECTS = "; "

_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*- )")
_END_OF_A_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_NO_PROMISE = ("Source:", "Sources:", ">>>")


@dataclass(frozen=True)
class Promise:
    """A line of a list."""

    symbol: str
    sentence: str
    looked_at_by: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()

    @property
    def premise(self) -> bool:
        """Whether it asks nothing of an answer."""
        return self.looked_at_by == (PREMISE,) and not self.mistakes

    def __str__(self) -> str:
        return f"{self.symbol}: {self.sentence}"


def sentences(docstring: str) -> Iterator[str]:
    """The sentences of a docstring, each in one line, without its examples and its source."""
    for paragraph in _PARAGRAPHS.split(cleandoc(docstring)):
        text = " ".join(paragraph.split()).removeprefix("- ")
        if text and not text.startswith(_NO_PROMISE):
            yield from _END_OF_A_SENTENCE.split(text)


def docstrings(symbol: Any) -> Iterator[str]:
    """Those of a function, or of a class and its methods."""
    for one in (symbol, *(vars(symbol).values() if isinstance(symbol, type) else ())):
        if (callable(one) or isinstance(one, property)) and one.__doc__:
            yield one.__doc__


def said(lesson: str) -> list[tuple[str, str]]:
    """All that the docstrings of a lesson say: the symbol and the sentence."""
    return [
        (exercise.symbol, sentence)
        for exercise in load_lesson(lesson).exercises
        for docstring in docstrings(exercise.references[0])
        for sentence in sentences(docstring)
    ]


def path_of(lesson: str) -> Path:
    """Where a lesson's list stands."""
    return FOLDER / f"{lesson[:2]}.csv"


def listed(lesson: str) -> list[Promise]:
    """The list of a lesson, empty if it has none yet."""
    if not path_of(lesson).is_file():
        return []
    with path_of(lesson).open(encoding="utf-8", newline="") as file:
        return [
            Promise(
                row["symbol"],
                row["sentence"],
                tuple(filter(None, row["looked_at_by"].split(BETWEEN_ASPECTS))),
                tuple(row["mistakes"].split()),
            )
            for row in csv.DictReader(file)
        ]


def faults(lesson: str) -> Iterator[str]:
    """What is amiss with a lesson's list, a sentence each that says what to do."""
    exercises, marks, lines = load_lesson(lesson), recorded(lesson), listed(lesson)
    inside = {(line.symbol, line.sentence) for line in lines}
    for symbol, sentence in said(lesson):
        if (symbol, sentence) not in inside:
            yield f"{Promise(symbol, sentence)} This has no line: run python -m tests.sentences.promises {lesson[:2]}"
    for line in lines:
        if (line.symbol, line.sentence) not in said(lesson):
            yield f"{line} No docstring says so any more: run python -m tests.sentences.promises {lesson[:2]}"
        elif not line.premise:
            yield from (f"{line} {fault}" for fault in _faults_of(line, exercises[line.symbol], marks))


def _faults_of(line: Promise, exercise: Exercise, marks: Marks) -> Iterator[str]:
    if not line.looked_at_by or not line.mistakes:
        yield f"Name an aspect that looks at it and a mistake that breaks it, or write: {PREMISE}"
    for name in line.looked_at_by:
        if name not in {aspect.name for aspect in (*exercise.aspects, SETTINGS_UNTOUCHED)}:
            yield f"There is no aspect {name!r} any more: name another."
    for name in line.mistakes:
        by_seed = marks.get(Answer(line.symbol, "mistake", name))
        if by_seed is None:
            yield f"There is no mistake {name!r} in tests/marks: name another, or run make marks."
        elif any(mark.points >= exercise.points for mark in by_seed.values()):
            yield f"The mistake {name!r} loses no points: it needs a case that shows it."


def write(lesson: str) -> int:
    """Writes a lesson's list anew, in the order of the docstrings, and says how many lines are to be filled in."""
    before = {(promise.symbol, promise.sentence): promise for promise in listed(lesson)}
    promises = [before.get(pair, Promise(*pair)) for pair in said(lesson)]
    with path_of(lesson).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for promise in promises:
            aspects, mistakes = BETWEEN_ASPECTS.join(promise.looked_at_by), " ".join(promise.mistakes)
            writer.writerow([promise.symbol, promise.sentence, aspects, mistakes])
    return sum(not promise.looked_at_by for promise in promises)


if __name__ == "__main__":
    for number in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("[0-9][0-9].csv")):
        _, name = find_lesson(number)
        print(f"{path_of(name)}: {write(name)} lines to be filled in")

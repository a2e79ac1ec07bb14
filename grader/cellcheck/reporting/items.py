"""What the marks of a class say about its exercises: how hard each is, whether it tells strong from weak, and which
mistakes are made by the same people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import StatisticsError, correlation

from cellcheck.running.result import Result, title_of
from cellcheck.tables import ClassMistake

ENOUGH = 10
"""Learners: a correlation over fewer says nothing."""
FEWEST = 3
"""Learners who make two mistakes together, for the pair to be told."""


@dataclass(frozen=True)
class Item:
    """An exercise, test or hand-graded answer, as test theory looks at it."""

    title: str
    difficulty: float
    """The share of its points that the class earned, from 0 to 1."""
    discrimination: float | None
    """The correlation of its points with those of everything else; None where there are too few learners, or where one
    of the two is the same for all."""


@dataclass(frozen=True)
class MistakePair:
    """Two mistakes that some learners made both."""

    one: ClassMistake
    other: ClassMistake
    count: int


def items(results: Mapping[str, Result]) -> list[Item]:
    """Each exercise that earns points, in its order; answers that nobody has graded yet are left out."""
    scores: dict[str, dict[str, float]] = {}
    worth: dict[str, float] = {}
    for student, result in results.items():
        for part in result.parts:
            if part.max_score and part.score is not None:
                scores.setdefault(title_of(part), {})[student] = part.score
                worth[title_of(part)] = part.max_score
    totals = {student: result.score for student, result in results.items()}
    exercises = []
    for title, by_student in scores.items():
        earned = list(by_student.values())
        rest = [totals[student] - score for student, score in by_student.items()]
        exercises.append(Item(title, sum(earned) / len(earned) / worth[title], _correlation(earned, rest)))
    return exercises


def together(mistakes: Sequence[ClassMistake], most: int = 10) -> list[MistakePair]:
    """Pairs of mistakes in two exercises that most of those who made the rarer one made both, the largest first."""
    pairs = []
    for one, other in combinations(mistakes, 2):
        count = len(set(one.who) & set(other.who))
        rarer = min(len(one.who), len(other.who))
        if one.title != other.title and count >= FEWEST and 2 * count > rarer:
            pairs.append(MistakePair(one, other, count))
    return sorted(pairs, key=lambda pair: -pair.count)[:most]


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    if len(one) < ENOUGH:
        return None
    try:
        return correlation(one, other)
    except StatisticsError:  # one of them is the same for all
        return None

"""Tables for the terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from rich.markup import escape
from rich.table import Table

from cellcheck.authoring.spec import Lesson
from cellcheck.checking.cards import points, standing, worth
from cellcheck.checking.judge import ERROR, FAILED, MISSING, PARTIAL, PASSED, Verdict
from cellcheck.plain import named, visible
from cellcheck.running.result import Failure, HandResult, OwnResult, Part, Result, title_of

LONGEST_WHOLE = 32


def results_table(outcomes: Iterable[tuple[str, Result | Failure]], who: str) -> Table:
    """A line for each submission: who, score, and what went wrong in a few words."""
    table = Table(box=None, pad_edge=False)
    table.add_column(who, overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("what went wrong")
    for name, outcome in outcomes:
        if isinstance(outcome, Failure):
            table.add_row(escape(visible(name)), "-", escape(f"not graded: {visible(outcome.message, limit=1000)}"))
        else:
            score = f"{points(outcome.mark)} / {points(outcome.max_score)}"
            table.add_row(escape(visible(name)), score, escape(in_a_few_words(outcome)))
    return table


@dataclass(frozen=True)
class ExerciseStanding:
    """How a class stands with one exercise: how many have it right, partly, not yet, and blank."""

    title: str
    right: int
    partly: int
    wrong: int
    blank: int
    mean: float | None
    """Points; None while nobody's are known."""
    max_score: float
    mistakes: tuple[tuple[str, int], ...]
    """The known mistakes and how many made each, the most common first."""


class Summary:
    """How a class stands, counted one submission at a time: it stays small, however large the class is."""

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}
        self._forgeable: dict[str, None] = {}
        self._judged = False

    @classmethod
    def of(cls, outcomes: Iterable[Result | Failure]) -> Self:
        """All of these, counted."""
        summary = cls()
        for outcome in outcomes:
            summary.add(outcome)
        return summary

    def add(self, outcome: Result | Failure) -> None:
        """Counts what came of a submission."""
        if isinstance(outcome, Failure):
            return
        for part in outcome.parts:
            if part.max_score or not isinstance(part, HandResult):
                self._counts.setdefault(title_of(part), _Count(part.max_score)).add(part)
        self._forgeable |= dict.fromkeys(test.title for test in outcome.own_tests)
        self._judged = self._judged or bool(outcome.verdicts)

    def counting(self, pairs: Iterable[tuple[str, Result | Failure]]) -> Iterator[tuple[str, Result | Failure]]:
        """The pairs as they come, counted on the way."""
        for name, outcome in pairs:
            self.add(outcome)
            yield name, outcome

    def standings(self) -> list[ExerciseStanding]:
        """One for each exercise, test, and answer that earns points, in their order."""
        return [count.standing(title) for title, count in self._counts.items()]

    def table(self) -> Table:
        """A line for each: how many solved it, how many points it gave on average, and its most common mistake."""
        standings = self.standings()
        short = all(len(line.title) <= LONGEST_WHOLE for line in standings)
        table = Table(box=None, pad_edge=False)
        table.add_column("exercise", overflow="fold", no_wrap=short)  # what is short is not broken in a narrow window
        for column in ("right", "partly", "not yet", "blank", "mean"):
            table.add_column(column, justify="right")
        table.add_column("most common mistake")
        for line in standings:
            table.add_row(
                escape(visible(line.title)),
                *(str(count or "") for count in (line.right, line.partly, line.wrong, line.blank)),
                f"{'-' if line.mean is None else points(line.mean)} / {points(line.max_score)}",
                "; ".join(f"{name.replace('_', ' ')} ({count})" for name, count in line.mistakes[:1]),
            )
        return table

    def forgeable_line(self) -> str:
        """Which marks a learner could forge, in a sentence; empty where none can be."""
        names = list(self._forgeable)
        if not names:
            return ""
        what = named(names, limit=5) if len(names) < 6 or self._judged else "all tests here"
        return (
            f"Points that can be forged: {what}. These tests run beside the learner's code; "
            "docs/authors.md shows how to write checks that don't."
        )


@dataclass
class _Count:
    """What a class did with one exercise."""

    max_score: float
    points: float = 0.0
    graded: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    diagnoses: Counter[str] = field(default_factory=Counter)

    def add(self, part: Part) -> None:
        if part.score is None:
            return
        self.graded += 1
        self.points += part.score
        self.statuses[part.status if part.status in (PASSED, PARTIAL, MISSING) else ""] += 1
        if isinstance(part, Verdict) and part.diagnosis:
            self.diagnoses[part.diagnosis] += 1

    def standing(self, title: str) -> ExerciseStanding:
        mean = round(self.points / self.graded, 2) if self.graded else None
        right, partly, wrong, blank = (self.statuses[status] for status in (PASSED, PARTIAL, "", MISSING))
        return ExerciseStanding(
            title, right, partly, wrong, blank, mean, self.max_score, tuple(self.diagnoses.most_common())
        )


@dataclass(frozen=True)
class ClassMistake:
    """A mistake that somebody in the class made, who made it, and what they were told."""

    title: str
    mistake: str
    who: tuple[str, ...]
    told: str


def mistakes(results: Mapping[str, Result], lesson: Lesson | None) -> list[ClassMistake]:
    """The class's mistakes, the most common of an exercise first.

    What matches no known mistake is listed by what is wrong with it, and by what one of them was told, and
    whether the others were told the same.
    """
    lines = []
    for exercise in lesson.exercises if lesson is not None else ():
        by_reason: dict[tuple[str, str], dict[str, str]] = {}
        advice = {mistake.name: mistake.advice for mistake in exercise.mistakes}
        for name, result in results.items():
            for verdict in result.verdicts:
                if verdict.symbol == exercise.symbol and verdict.status not in (PASSED, MISSING):
                    told = advice.get(verdict.diagnosis or "", "")
                    by_reason.setdefault((_reason(verdict), told), {})[name] = verdict.message
        for (mistake, told), messages_of in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
            messages = set(messages_of.values())
            told = told or " ".join(min(messages).split()) + (
                " (The others read other words or numbers.)" if len(messages) > 1 else ""
            )
            lines.append(ClassMistake(exercise.symbol, mistake, tuple(messages_of), told))
    failed: dict[tuple[str, str, str], list[str]] = {}
    for name, result in results.items():
        for test in result.own_tests:
            if test.status not in (PASSED, MISSING):
                failed.setdefault((test.title, _reason(test), test.message), []).append(name)
    tests = list(dict.fromkeys(test.title for result in results.values() for test in result.own_tests))
    for (title, reason, told), who in sorted(failed.items(), key=lambda i: (tests.index(i[0][0]), -len(i[1]), i[0])):
        lines.append(ClassMistake(title, reason, tuple(who), told))
    return lines


def mistakes_table(results: Mapping[str, Result], lesson: Lesson | None) -> Table:
    """A line for each mistake that the class made: who made it, and the advice."""
    table = Table(box=None, pad_edge=False, show_lines=False)
    table.add_column("exercise", overflow="fold")
    table.add_column("mistake")
    table.add_column("learners", justify="right")
    table.add_column("who")
    table.add_column("what they were told")
    for each in mistakes(results, lesson):
        what, mistake, told = (visible(text, limit=1000) for text in (each.title, each.mistake, each.told))
        cells = (what, mistake, str(len(each.who)), ", ".join(map(visible, each.who)), told)
        table.add_row(*map(escape, cells))
    return table


def in_a_few_words(result: Result) -> str:
    """What went wrong in a submission."""
    judged: tuple[Verdict | OwnResult, ...] = (*result.verdicts, *result.own_tests)
    wrong = [v for v in judged if v.status not in (PASSED, MISSING)]
    blank = [v for v in judged if v.status == MISSING]
    if not wrong and not blank:
        words = ["nothing"] if judged or not result.waiting else []
    elif not wrong and len(blank) == len(judged):
        words = ["not begun"]
    else:
        words = [f"{visible(title_of(v))}: {_reason(v)}" for v in wrong]
        if blank:
            words.append(f"{len(blank)} still blank")
    if result.penalty:
        words.append(f"{worth(result.penalty)} off for being late")
    if result.waiting:
        words.append(f"{result.waiting} to grade by hand")
    if result.repairs:
        words.append(f"{len(result.repairs)} repaired")
    return "; ".join(words)


def _reason(verdict: Verdict | OwnResult) -> str:
    if isinstance(verdict, OwnResult):
        return {PARTIAL: "partly right", FAILED: "fails", ERROR: "fails"}.get(verdict.status, verdict.status)
    if verdict.diagnosis:
        return verdict.diagnosis.replace("_", " ")
    wrong = standing(verdict).wrong
    failing = "" if wrong is None else wrong.name
    return f'fails "{failing}"' if failing and verdict.status in (PARTIAL, FAILED) else verdict.status

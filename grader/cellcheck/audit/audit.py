"""`cellcheck audit`: for each exercise, what its check catches, diagnoses and accepts.

The floors are the course's promise; the command fails below them.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from cellcheck.audit.mutants import mutants
from cellcheck.audit.slips import failing, slipped
from cellcheck.authoring.calls import Probe
from cellcheck.authoring.catalogue import DROPPED
from cellcheck.authoring.spec import Case, Exercise, Lesson, Observation, as_written
from cellcheck.checking.cards import out_of
from cellcheck.checking.compare import Comparing
from cellcheck.checking.judge import Judge, Verdict, without_praise
from cellcheck.errors import GraderError
from cellcheck.running.blanks import sources
from cellcheck.running.judging import Bench
from cellcheck.running.limits import Limits
from cellcheck.running.session import Question, Session, Stopped
from cellcheck.running.setting import setting_of
from cellcheck.soundness import insist_on_sound
from cellcheck.syllabus import load_probes
from cellcheck.syntax import syntax_tree

MOST_PAIRS = 12  # of an exercise's mistakes: a verdict on two may take a second
SEED = 20_001  # any seed will do, and must
MUTANT_LIMITS = Limits(cell_seconds=5.0, probe_seconds=5.0, cpu_seconds=3600.0)
FLOORS = {"caught": 1.0, "diagnosed": 0.95, "accepted": 1.0, "mutants": 0.98}
LESSON_FLOORS = {"second_slip": 0.85, "not_misnamed": 0.9}
"""Asked of a lesson as a whole: two mistakes of one exercise may differ in nothing but what a slip can do as well."""
MOST_LINES = 12
_ADVICE = {
    "diagnosed": ". Where two do the same in all cases, add a case that tells them apart, or make them one:",
    "mutants": ". Add a case that notices them; those that are as right as your answer go into its .md file, "
    "below # Equivalent mutants, each with the reason:",
    "second_slip": ". With a second slip, these mistakes are no longer recognised:",
    "not_misnamed": ". These answers get the name of a mistake that they don't make:",
}


@dataclass
class Count:
    """So many of so many, and the names of the others."""

    hits: int = 0
    total: int = 0
    missed: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    """What happens to those others, by name, where that is known."""

    def add(self, hit: bool, name: str, why: str = "") -> None:
        """Counts one more."""
        self.total += 1
        self.hits += hit
        if not hit:
            self.missed.append(name)
            self.why[name] = why

    def __add__(self, other: Count) -> Count:
        return Count(self.hits + other.hits, self.total + other.total, self.missed + other.missed, self.why | other.why)

    @property
    def share(self) -> float:
        """Hits over total; 1 when there was nothing to hit."""
        return self.hits / self.total if self.total else 1.0

    def __str__(self) -> str:
        return f"{self.hits} / {self.total}"


@dataclass
class Row:
    """The audit of one exercise, or the sum over several."""

    symbol: str
    caught: Count = field(default_factory=Count)
    diagnosed: Count = field(default_factory=Count)
    second_slip: Count = field(default_factory=Count)
    """Mistakes that are still recognised when another slip comes along."""
    not_misnamed: Count = field(default_factory=Count)
    """Wrong answers that the catalogue does not know, and that get no other mistake's name."""
    pairs: Count = field(default_factory=Count)
    """Answers with two mistakes that are told both; some of those that can be made of edits."""
    accepted: Count = field(default_factory=Count)
    mutants: Count = field(default_factory=Count)
    equivalent: int = 0

    def __add__(self, other: Row) -> Row:
        return Row(
            self.symbol,
            self.caught + other.caught,
            self.diagnosed + other.diagnosed,
            self.second_slip + other.second_slip,
            self.not_misnamed + other.not_misnamed,
            self.pairs + other.pairs,
            self.accepted + other.accepted,
            self.mutants + other.mutants,
            self.equivalent + other.equivalent,
        )

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        counts = {name: getattr(self, name) for name in (*FLOORS, *LESSON_FLOORS, "pairs")}
        return {
            "symbol": self.symbol,
            **{name: {"hits": c.hits, "total": c.total, "missed": c.missed} for name, c in counts.items()},
            "equivalent_mutants": self.equivalent,
        }

    def below(self, floors: Mapping[str, float] = FLOORS) -> list[str]:
        """A sentence for each floor that is not reached, and below it a line for each that is missed."""
        return [
            "\n    ".join([f"{name}: {count} is below {floor:.0%}{_ADVICE.get(name, ':')}", *_lines(name, count)])
            for name, floor in floors.items()
            if (count := getattr(self, name)).share < floor
        ]


def _lines(name: str, count: Count) -> list[str]:
    if name == "mutants":
        lines = [_as_an_edit(change) for change in count.missed]
    else:
        lines = [f"{one} {count.why.get(one, '')}".rstrip() for one in count.missed]
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"and {more} more"] if more > 0 else lines


def _as_an_edit(change: str) -> str:
    """A mutant's name as the line that lists it: "a -> b" is "- `a` → `b`"."""
    old, _, new = change.partition(" -> ")
    return f"- `{old}` → " + ("nothing" if new == DROPPED else f"`{new}`")


def audit_lesson(lesson: Lesson, advance: Callable[[str], None]) -> list[Row]:
    """A row for each exercise of a lesson; `advance` is called after each."""
    insist_on_sound(lesson)
    probes = load_probes(lesson.name)
    rows = []
    for exercise in lesson.exercises:
        rows.append(audit_exercise(lesson, exercise, probes[exercise.symbol]))
        advance(exercise.symbol)
    return rows


def audit_exercise(lesson: Lesson, exercise: Exercise, probe: Probe) -> Row:
    """The row of one exercise of a lesson, however unsound it is."""
    # Other slips come by the hundred, and none of them is a pair of mistakes.
    judge = Judge(exercise, probe, SEED, combinations=0)
    row = Row(exercise.symbol)
    _mistakes_and_variants(judge, row)
    _pairs(Judge(exercise, probe, SEED), row)
    _mutants(lesson, exercise, judge, row)
    return row


def _mistakes_and_variants(judge: Judge, row: Row) -> None:
    seen: dict[str, list[Observation]] = {}
    for mistake in judge.exercise.mistakes:
        seen[mistake.name] = judge.keep(judge.observe(mistake.implementation))
        verdict = judge.judged(seen[mistake.name])
        row.caught.add(not _full(verdict), mistake.name, "gets full marks")
        taken = f"is taken for {verdict.diagnosis}" if verdict.diagnosis else "is not recognised"
        row.diagnosed.add(verdict.diagnosis == mistake.name, mistake.name, taken)
    for name, variant in judge.exercise.variants.items():
        verdict = judge.verdict(judge.observe(variant))
        row.accepted.add(_full(verdict), name, f"gets {out_of(verdict.score, verdict.max_score)}: {verdict.message}")
    comparing = Comparing()
    _second_slips(judge, seen, row, comparing)
    _unknown_answers(judge, seen, row, comparing)


def _pairs(judge: Judge, row: Row) -> None:
    """Two mistakes in one answer, for pairs from all over the catalogue. One that hides the other can't be told."""
    every = chain.from_iterable(judge.exercise.combinations(as_written))
    both = [each for each in every if len(each.mistakes) == 2]
    for combination in both[:: max(1, len(both) // MOST_PAIRS)]:
        verdict = judge.verdict(judge.observe(combination.answer.implementation))
        if not _full(verdict):
            diagnosed = all(without_praise(mistake.advice) in verdict.advice for mistake in combination.mistakes)
            row.pairs.add(diagnosed, combination.answer.name)


def _second_slips(judge: Judge, seen: Mapping[str, list[Observation]], row: Row, comparing: Comparing) -> None:
    for mistake in judge.exercise.mistakes:
        for combined in slipped(judge, seen[mistake.name]):
            verdict = judge.judged(combined.seen, comparing)
            told = {mistake.advice, without_praise(mistake.advice)}
            row.second_slip.add(any(advice in verdict.advice for advice in told), f"{mistake.name}, {combined.slip}")


def _unknown_answers(judge: Judge, seen: Mapping[str, list[Observation]], row: Row, comparing: Comparing) -> None:
    """A slip alone, and each mistake as if nobody had thought of it: both may only get a name that fits.

    A slip alone may be called by the name of a mistake that is nothing but this slip.
    """
    expected = judge.references[0]
    for slip in slipped(judge, expected):
        verdict = judge.judged(slip.seen, comparing)
        if _full(verdict):
            continue
        named = seen[verdict.diagnosis] if verdict.diagnosis else expected
        fits = failing(judge, named, expected) <= failing(judge, slip.seen, expected)
        row.not_misnamed.add(fits, f"{slip.slip} -> {verdict.diagnosis}")
    for mistake in judge.exercise.mistakes:
        diagnosis = judge.without(mistake).judged(seen[mistake.name], comparing).diagnosis
        row.not_misnamed.add(diagnosis is None, f"{mistake.name} -> {diagnosis}")


def _mutants(lesson: Lesson, exercise: Exercise, judge: Judge, row: Row) -> None:
    reference = exercise.references[0]
    equivalent = dict(exercise.equivalents)
    questions = [(Question.of(exercise.symbol, part), part) for part in _more_and_more(judge.cases)]
    earlier = sources({e.symbol: e.references[0] for e in lesson.before(exercise.symbol)})
    with Session(setting_of(lesson.name), MUTANT_LIMITS) as session:
        session.run(_surroundings(reference, {e.symbol for e in lesson.exercises} - set(earlier)))
        for symbol, text in earlier.items():
            session.restore(symbol, **text)
        if not _survives(session, judge, questions, inspect.getsource(reference)):
            raise GraderError(
                f"{exercise.symbol}: the course's own answer does not pass its check when its text runs by itself. "
                "Does it use something that neither its module's imports nor its other functions give?"
            )
        for mutant in mutants(inspect.getsource(reference)):
            if mutant.change in equivalent:
                row.equivalent += 1
                del equivalent[mutant.change]
                continue
            row.mutants.add(not _survives(session, judge, questions, mutant.source), mutant.change)
    for change in equivalent:  # a list that is out of step would hide what it no longer names
        row.mutants.add(False, f"listed as equivalent, but no mutant: {change}")


def _more_and_more(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """All cases, in parts: the smallest one alone, which is enough for most mutants, then twice as many each time."""
    start, size = 0, 1
    while start < len(cases):
        yield cases[start : start + size]
        start, size = start + size, 2 * size


def _survives(
    session: Session, judge: Judge, questions: Sequence[tuple[Question, Sequence[Case]]], source: str
) -> bool:
    """Whether a mutant gets full marks. One that loops for ever or ends its process is caught."""
    seen: list[Observation] = []
    try:
        if session.run(source) is not None:
            return False
        for question, cases in questions:
            bench = Bench(cases)
            answers = session.probe(question, bench.reply)
            seen += bench.observations(answers.messages)
            if not judge.right_so_far(seen):
                return False
    except Stopped:
        session.restart()
        return False
    return len(seen) == len(judge.cases)


def _surroundings(reference: Any, symbols: set[str]) -> str:
    """What a symbol's source needs around it: its module's imports, and what the module gives beside these symbols.

    Earlier symbols are blank there. A signature may name them; when it is called, it finds the restored ones.
    """
    module = sys.modules[reference.__module__]
    body = syntax_tree(Path(str(module.__file__)).read_text("utf-8")).body
    lines = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    given = [n.name for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name not in symbols]
    lines += [f"from {reference.__module__} import {name}" for name in given]
    return "\n".join(lines)


def _full(verdict: Verdict) -> bool:
    return verdict.score == verdict.max_score


def total(rows: list[Row], name: str = "all") -> Row:
    """The sum of rows."""
    summed = Row(name)
    for row in rows:
        summed = summed + row
    return summed


def below_the_floors(rows: list[Row]) -> list[str]:
    """A sentence for each floor that one of a lesson's exercises, or all of them together, do not reach."""
    together = total(rows).below(LESSON_FLOORS)
    return [f"{row.symbol}: {line}" for row in rows for line in row.below()] + [f"all: {line}" for line in together]


def report(audits: Mapping[str, list[Row]]) -> dict[str, Any]:
    """What `--json` writes."""
    return {
        "version": 1,
        "seed": SEED,
        "floors": FLOORS | LESSON_FLOORS,
        "lessons": {name: [row.to_json() for row in rows] for name, rows in audits.items()},
    }

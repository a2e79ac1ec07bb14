"""The marks: what each mistake and each answer of a lesson earns, and which mistake it is called.

`tests/marks/NN.csv` is the table of lesson NN. It has a line for each reference, variant and mistake of an exercise,
and for the answers held back in its NAME.md or in `lesson_NN/answers.py`, right ones ("honest") and wrong ones. They
are graded on five seeds. Where the seeds agree, and nearly all do, the table says it once; otherwise it says all five,
`-` for no name.

A change of wording changes nothing here. A change of marks is a diff, and that diff is what a reviewer reads.

    make marks                     writes all tables anew (an hour, in two processes)
    make marks LESSON=03           writes one
    make marks LESSON=03/Linear    writes the lines of one exercise
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import isfunction
from pathlib import Path
from typing import Any

from cellcheck.authoring.spec import Exercise, Observation
from cellcheck.checking.diagnose import MOST_COMBINATIONS
from cellcheck.checking.judge import Judge, Verdict
from cellcheck.syllabus import find_lesson, lesson_names, load_lesson, load_probes
from cellcheck.testing import SEEDS

FOLDER = Path(__file__).resolve().parents[1] / "marks"
COLUMNS = ("symbol", "kind", "name", "points", "diagnosis")
RIGHT = frozenset({"reference", "variant", "honest"})
"""The kinds of answers that earn all points. Mistakes and wrong ones lose some."""
NO_NAME = "-"


@dataclass(frozen=True, order=True)
class Answer:
    """Which answer to which exercise: "causal_mask", "mistake", "shifted_by_one"."""

    symbol: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.symbol}, {self.kind} {self.name}"


@dataclass(frozen=True)
class Mark:
    """What an answer earns with one seed, and the mistake it is taken for, if any."""

    points: float
    diagnosis: str = ""

    @classmethod
    def of(cls, verdict: Verdict) -> Mark:
        """What counts of a verdict. What is said is left out: words may change."""
        return cls(verdict.score, verdict.diagnosis or "")

    def __str__(self) -> str:
        return f"{self.points:g}" + (f" ({self.diagnosis})" if self.diagnosis else "")


Marks = dict[Answer, dict[int, Mark]]
"""The marks of each answer, by seed."""


def answers(lesson: str, symbol: str) -> dict[Answer, Any]:
    """All the answers to an exercise of a lesson that there are, each with its function or class."""
    return answers_to(load_lesson(lesson)[symbol])


def answers_to(exercise: Exercise) -> dict[Answer, Any]:
    """The same for an exercise by itself."""
    listed: dict[str, Mapping[str, Any]] = {
        "reference": dict(_named(exercise.references)),
        "variant": exercise.variants,
        "mistake": {mistake.name: mistake.implementation for mistake in exercise.mistakes},
        "honest": exercise.honest,
        "wrong": exercise.wrong,
    }
    return {Answer(exercise.symbol, kind, name): one for kind, named in listed.items() for name, one in named.items()}


def _named(implementations: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Each with the name of its function or class; where several have the same, with a number."""
    names = [one.__name__.strip("<>") for one in implementations]
    times, counted = Counter(names), Counter[str]()
    for name, one in zip(names, implementations, strict=True):
        counted[name] += 1
        yield (f"{name} {counted[name]:02}" if times[name] > 1 else name), one


def judge_of(lesson: str, symbol: str, seed: int, combinations: int = MOST_COMBINATIONS) -> Judge:
    """The judge of an exercise who draws cases from a seed."""
    return Judge(load_lesson(lesson)[symbol], load_probes(lesson)[symbol], seed, combinations)


def seen_of(one: Any, judge: Judge) -> list[Observation]:
    """What an answer does in each case; a grader asks in a new process."""
    if isfunction(one):  # what it has kept on itself, for whoever asked before
        vars(one).clear()
    return judge.observe(one)


def marks_now(lesson: str, symbol: str, seed: int, only: Container[Answer] | None = None) -> dict[Answer, Mark]:
    """What each answer to an exercise earns with a seed, or `only` some of them."""
    judge = judge_of(lesson, symbol, seed)
    marks = {}
    for answer, one in answers(lesson, symbol).items():
        if only is not None and answer not in only:
            continue
        marks[answer] = Mark.of(judge.verdict(seen_of(one, judge)))
    return marks


def marks_on_all_seeds(lesson: str, symbol: str) -> Marks:
    """What each answer to an exercise earns."""
    by_seed = {seed: marks_now(lesson, symbol, seed) for seed in SEEDS}
    return {answer: {seed: marks[answer] for seed, marks in by_seed.items()} for answer in answers(lesson, symbol)}


def exercises(lesson: str) -> list[tuple[str, str]]:
    """The exercises of a lesson, each with the lesson's name."""
    return [(lesson, exercise.symbol) for exercise in load_lesson(lesson).exercises]


def differences(before: Marks, now: Marks) -> list[str]:
    """What was another mark before, a line each: what the table says, and what it is. Other seeds are left out."""
    lines = []
    for answer in sorted(before | now):
        old, new = before.get(answer), now.get(answer)
        if old is None or new is None:
            lines.append(f"{answer}: " + ("not in the table" if old is None else "in the table, and not in the lesson"))
            continue
        seeds = [seed for seed in new if old[seed] != new[seed]]
        for pair in dict.fromkeys((old[seed], new[seed]) for seed in seeds):
            such = ", ".join(str(seed) for seed in seeds if (old[seed], new[seed]) == pair)
            lines.append(f"{answer}: {pair[0]} in the table, {pair[1]} now (seed {such})")
    return lines


def path_of(lesson: str) -> Path:
    """Where a lesson's table stands."""
    return FOLDER / f"{lesson[:2]}.csv"


def recorded(lesson: str) -> Marks:
    """The table of a lesson as it was written; empty if it never was."""
    if not path_of(lesson).is_file():
        return {}
    with path_of(lesson).open(encoding="utf-8", newline="") as file:
        return {Answer(row["symbol"], row["kind"], row["name"]): dict(_read(row)) for row in csv.DictReader(file)}


def _read(row: Mapping[str, str]) -> Iterator[tuple[int, Mark]]:
    points, names = row["points"].split(), row["diagnosis"].split() or [NO_NAME]
    for i, seed in enumerate(SEEDS):
        name = names[i % len(names)]
        yield seed, Mark(float(points[i % len(points)]), "" if name == NO_NAME else name)


def write(lesson: str, table: Marks) -> None:
    """Writes a lesson's table, sorted, so that no order of definitions shows in it."""
    with path_of(lesson).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for answer, marks in sorted(table.items()):
            points = _in_short([f"{marks[seed].points:g}" for seed in SEEDS])
            names = _in_short([marks[seed].diagnosis or NO_NAME for seed in SEEDS])
            writer.writerow([answer.symbol, answer.kind, answer.name, points, "" if names == NO_NAME else names])


def _in_short(by_seed: Sequence[str]) -> str:
    return by_seed[0] if len(set(by_seed)) == 1 else " ".join(by_seed)


def main(names: Sequence[str]) -> None:
    """Writes the marks of these lessons ("03") and exercises ("03/Linear") anew, or all of them, in two processes."""
    from concurrent.futures import ProcessPoolExecutor  # not in a browser, where the marks are compared as well
    from multiprocessing import get_context

    chosen: dict[str, list[tuple[str, str]]] = {}
    for name in names or lesson_names():
        number, _, symbol = name.partition("/")
        _, lesson = find_lesson(number)
        pairs = [pair for pair in exercises(lesson) if pair[1] == symbol or not symbol]
        if not pairs:
            sys.exit(f"There is no exercise {symbol!r} in lesson {lesson}.")
        chosen.setdefault(lesson, []).extend(pairs)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        tables = {
            lesson: [pool.submit(marks_on_all_seeds, *pair) for pair in pairs] for lesson, pairs in chosen.items()
        }
        for lesson, parts in tables.items():
            before, new = recorded(lesson), {symbol for _, symbol in chosen[lesson]}
            table = {answer: marks for answer, marks in before.items() if answer.symbol not in new}
            table |= {answer: marks for part in parts for answer, marks in part.result().items()}
            changed = len(differences(before, table))
            write(lesson, table)
            print(f"{lesson}: {len(table)} answers, {changed} changes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

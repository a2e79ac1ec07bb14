"""Grading one submission: a pure function from (notebook bytes, lesson, seed) to a result.

It needs no gradebook and no course folder. Nothing of what it knows (seed, cases, references) is in the process
that runs the learner's code.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from grader.authoring.spec import Lesson
from grader.checking.judge import (
    CRASHED,
    ERROR,
    FAILED,
    MEMORY,
    MISSING,
    PARTIAL,
    PASSED,
    PUBLIC_SEED,
    TIMEOUT,
    Judge,
    Status,
    Verdict,
    blank_message,
)
from grader.checking.judge import without_score as zero
from grader.checking.words import say_error
from grader.running.blanks import sources
from grader.running.intake import Cell, read_submission
from grader.running.limits import Limits
from grader.running.result import OwnResult, OwnTest, Result
from grader.running.session import Question, Session, Stopped, error_in
from grader.running.setting import setting_of
from grader.syllabus import load_lesson, load_probes


def grade(
    data: bytes,
    seed: int,
    *,
    lesson: str | None = None,
    name: str = "",
    files: dict[str, str] | None = None,
    own_tests: Mapping[str, OwnTest] | None = None,
    limits: Limits | None = None,
) -> Result:
    """Grades a notebook.

    Args:
        data: the notebook's bytes.
        seed: what the hidden cases are drawn from.
        lesson: its lesson, for a notebook that does not tell.
        name: what to call it in the result.
        files: other files of the submission by name, which the notebook may import or read.
        own_tests: test cells that are no `check`, by name; they run at the end, in the learner's process.
        limits: what it may use.

    Raises:
        Unreadable: when there is nothing to grade.
    """
    start = time.monotonic()
    submission = read_submission(data, lesson)
    found = submission.lesson
    with Session(setting_of(found.name), limits or Limits()) as session:
        run = _Run(found, session, seed)
        run.begin(files or {})
        for step in submission.steps:
            if isinstance(step, Cell):
                run.cell(step)
            else:
                run.ask(step)
        own = tuple(run.test(test_name, test) for test_name, test in (own_tests or {}).items())
    verdicts = tuple(run.verdicts[exercise.symbol] for exercise in found.exercises)
    repairs = (*submission.repairs, *run.troubles)
    return Result(name, found.name, verdicts, repairs, time.monotonic() - start, own, tuple(run.took))


@lru_cache(maxsize=16)
def _judges(lesson: str, seed: int) -> dict[str, tuple[Judge, Question]]:
    """Drawn once for a batch; the next submission only compares."""
    probes = load_probes(lesson)
    judges = [Judge(e, probes[e.symbol], seed) for e in load_lesson(lesson).exercises]
    return {j.exercise.symbol: (j, Question.of(j.exercise.symbol, [case.inputs for case in j.cases])) for j in judges}


@lru_cache(maxsize=16)
def _sources(lesson: str) -> dict[str, dict[str, str]]:
    return sources({e.symbol: e.references[0] for e in load_lesson(lesson).exercises})


# References draw from torch's global generator; two threads at once would disturb each other.
_JUDGING = threading.Lock()


class _Run:
    """The walk through one submission."""

    def __init__(self, lesson: Lesson, session: Session, seed: int) -> None:
        self.lesson = lesson
        self.session = session
        self.judges = _judges(lesson.name, seed)
        self.public = _judges(lesson.name, PUBLIC_SEED)
        self.sources = _sources(lesson.name)
        self.verdicts: dict[str, Verdict] = {}
        self.troubles: list[str] = []
        self.handed_over: set[str] = set()
        self.took: list[tuple[int, float]] = []
        self.failures: dict[str, tuple[Status, str]] = {}  # per symbol: status and sentence of its failed cell

    def begin(self, files: dict[str, str]) -> None:
        """Lays the learner's other files out."""
        if files:
            try:
                self.session.hand_over(files)
            except Stopped:
                self.troubles.append("The other files that were handed in could not be laid out.")
                self._restart()

    def cell(self, cell: Cell) -> None:
        """Runs a cell; what fails is remembered for the symbols it was to define."""
        start = time.monotonic()
        try:
            try:
                error = self.session.run(cell.source)
            finally:
                self.took.append((cell.number, time.monotonic() - start))
        except Stopped as stop:
            sentence = _stopped(
                stop.status, f"Cell {cell.number}", self.session.limits.cell_seconds, self.session.limits
            )
            self._failed(cell, _status(stop), sentence)
            self._restart()
            return
        if error is not None:
            status: Status = MEMORY if _out_of_memory(error) else ERROR
            self._failed(cell, status, f"Cell {cell.number}: {_say_stop(error)}")

    def _failed(self, cell: Cell, status: Status, sentence: str) -> None:
        symbols = [e.symbol for e in self.lesson.exercises if e.symbol in cell.defines or e.symbol == cell.grade_id]
        for symbol in symbols:
            self.failures[symbol] = (status, sentence)
        if not symbols:
            self.troubles.append(f"{sentence} The cell was left out.")

    def ask(self, symbol: str) -> None:
        """Gives the verdict on a symbol, then hands over the course's text of all that have been answered for.

        In the lesson's order: from the text of a later symbol an earlier one could be had.
        """
        self.verdicts[symbol] = self._verdict(symbol)
        for exercise in self.lesson.exercises:
            if exercise.symbol not in self.verdicts:
                return
            if exercise.symbol in self.handed_over:
                continue
            self.handed_over.add(exercise.symbol)
            try:
                self.session.restore(exercise.symbol, **self.sources[exercise.symbol])
            except Stopped:
                self._restart()

    def test(self, name: str, test: OwnTest) -> OwnResult:
        """Runs an instructor's own test cell, and reads its mark as nbgrader does."""
        try:
            error, value = self.session.test(test.source)
        except Stopped as stop:
            self._restart()
            limits = self.session.limits
            return OwnResult(name, 0.0, test.points, _stopped(stop.status, name, limits.cell_seconds, limits))
        if error is not None:
            return OwnResult(name, 0.0, test.points, _say_stop(error))
        score = test.points if not isinstance(value, int | float) else min(max(float(value), 0.0), test.points)
        return OwnResult(name, 0.0 if math.isnan(score) else score, test.points, "It went through without an error.")

    def _verdict(self, symbol: str) -> Verdict:
        judge, question = self.judges[symbol]
        verdict = self._look(symbol, judge, question)
        if symbol in self.failures:
            if verdict.status == MISSING:
                return zero(judge.exercise, *self.failures[symbol])
            # Its cell failed after the definition, or another cell defines it: what is there counts.
            self.troubles.append(self.failures[symbol][1])
        if verdict.status not in (PARTIAL, FAILED, ERROR):
            return verdict
        # The mark is made on the hidden cases. What is told comes from the public ones, which the learner can see.
        return without_hidden_cases(verdict, self._look(symbol, *self.public[symbol]))

    def _look(self, symbol: str, judge: Judge, question: Question) -> Verdict:
        seen: list[dict[str, Any]] = []
        try:
            for answer in self.session.probe(question):
                if "absent" in answer:
                    return zero(judge.exercise, MISSING, f"{symbol} is not in the notebook, or its cell was emptied.")
                if "imported" in answer:
                    return zero(judge.exercise, MISSING, blank_message(symbol))
                seen.append(_observation(answer))
        except Stopped as stop:
            self._restart()
            limits = self.session.limits
            return zero(judge.exercise, _status(stop), _stopped(stop.status, symbol, limits.probe_seconds, limits))
        with _JUDGING:
            verdict = judge.verdict(seen)
        if verdict.score == 0 and any(_out_of_memory(s.get("error")) for s in seen):
            return zero(judge.exercise, MEMORY, f"{symbol} asks for more memory than a submission may use.")
        return verdict

    def _restart(self) -> None:
        try:
            self.session.restart()
        except Stopped as stop:
            limits = self.session.limits
            sentence = _stopped(stop.status, "The notebook", limits.cell_seconds, limits)
            if sentence not in self.troubles:
                self.troubles.append(sentence)


def without_hidden_cases(verdict: Verdict, public: Verdict) -> Verdict:
    """The hidden cases' verdict, in the words and with the evidence of the public ones."""
    if public.status != PASSED:
        diagnosis = verdict.diagnosis or public.diagnosis
        return replace(verdict, message=public.message, diagnosis=diagnosis, evidence=public.evidence)
    fails = " and ".join(aspect.name for aspect in verdict.aspects if not aspect.passed)
    message = (
        f"{verdict.symbol} passes the notebook's own check, but not the hidden cases: {fails}. "
        "Does it do the same for every shape and every number?"
    )
    return replace(verdict, message=message, evidence=None)


def _observation(answer: dict[str, Any]) -> dict[str, Any]:
    """What came over the border, if it has an observation's form; the learner's process may send anything."""
    seen = answer.get("seen")
    if not isinstance(seen, dict):
        return {}
    return {"error": error_in(seen) or error_in({"error": {}})} if "error" in seen else seen


def _out_of_memory(error: Any) -> bool:
    return isinstance(error, dict) and (
        error.get("type") == "MemoryError" or "allocate memory" in str(error.get("message"))
    )


def _status(stop: Stopped) -> Status:
    if stop.status == "memory":
        return MEMORY
    return CRASHED if stop.status == "crashed" else TIMEOUT


def _stopped(status: str, what: str, seconds: float, limits: Limits) -> str:
    if status == "spent":
        return (
            f"{what} was not run to its end: the notebook had used up the {limits.cpu_seconds:g} s of processor time "
            "that a submission may use. Are there loops that never end?"
        )
    if status == "memory":
        return (
            f"{what} filled more than {limits.memory_bytes / 2**30:g} GB of memory, all its processes together: is "
            "there something that grows without end?"
        )
    if status == "timeout":
        return f"{what} ran longer than {seconds:g} s: is there a loop that never ends?"
    return f"{what} ended the Python process: is there an exit, a kill, or a structure that is far too deep?"


def _say_stop(error: dict[str, Any]) -> str:
    match error.get("type"):
        case "OutputLimit":
            return f"{_cap(str(error.get('message')))}: is there a loop that never stops printing?"
        case "NobodyToAsk":
            return "input() has nobody to ask while a notebook is graded. Write the value into the cell instead."
    return say_error(error)


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]

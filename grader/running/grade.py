"""Grading one submission: a pure function from (notebook bytes, lesson, seed) to a result.

It needs no gradebook and no course folder. Nothing of what it knows (seed, cases, references) is in the process
that runs the learner's code.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Callable, Mapping
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
    ours_message,
)
from grader.checking.judge import without_score as zero
from grader.checking.words import say_error
from grader.running.blanks import sources
from grader.running.intake import Cell, Submission, read_submission
from grader.running.limits import Limits
from grader.running.result import OwnResult, OwnTest, Result
from grader.running.session import Question, Session, Stopped, error_in
from grader.running.setting import Setting, setting_of
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
    own: tuple[OwnResult, ...] = ()
    setting, judges = _prepared(found.name, seed)
    with Session(setting, limits or Limits()) as session:
        marks = _Walk(found, session, judges)
        marks.go(submission, files or {})
        words = marks
        if marks.left_to_say or own_tests:
            # That process has met hidden cases, so no word of it reaches a learner. A fresh one has not.
            words = _Walk(found, session, _judges(found.name, PUBLIC_SEED), said_of=marks)
            words.go(submission, files or {})
            own = tuple(words.test(test_name, test) for test_name, test in (own_tests or {}).items())
    verdicts = tuple(_verdict(exercise.symbol, marks, words) for exercise in found.exercises)
    repairs = (*submission.repairs, *words.troubles)
    return Result(name, found.name, verdicts, repairs, time.monotonic() - start, own, tuple(marks.took))


# Some versions of Python mix two threads up that parse at the same time: "AST constructor recursion depth mismatch"
# (python/cpython issue 106905). And whatever two threads prepare at once is prepared twice.
_PREPARING = threading.Lock()


def _prepared(lesson: str, seed: int) -> tuple[Setting, dict[str, tuple[Judge, Question]]]:
    """What every submission of a lesson needs, made by whoever comes first."""
    with _PREPARING:
        _sources(lesson)
        return setting_of(lesson), _judges(lesson, seed)


@lru_cache(maxsize=16)
def _judges(lesson: str, seed: int) -> dict[str, tuple[Judge, Question]]:
    """Drawn once for a batch; the next submission only compares."""
    probes = load_probes(lesson)
    judges = [Judge(e, probes[e.symbol], seed) for e in load_lesson(lesson).exercises]
    return {j.exercise.symbol: (j, Question.of(j.exercise.symbol, j.cases, seed)) for j in judges}


@lru_cache(maxsize=16)
def _sources(lesson: str) -> dict[str, dict[str, str]]:
    return sources({e.symbol: e.references[0] for e in load_lesson(lesson).exercises})


_TOLD = (PARTIAL, FAILED, ERROR)  # what is told of these comes from the public cases

# References draw from torch's global generator; two threads at once would disturb each other.
_JUDGING = threading.Lock()


class _Walk:
    """A walk through a submission's cells, in a process of its own.

    The first one gives the marks, on hidden cases. Where there is something to say, a second one finds the words: it
    asks on public cases, and only about what went wrong in the walk that it is `said_of`.
    """

    def __init__(
        self,
        lesson: Lesson,
        session: Session,
        judges: Mapping[str, tuple[Judge, Question]],
        said_of: _Walk | None = None,
    ) -> None:
        self.lesson = lesson
        self.session = session
        self.judges = judges
        self.said_of = said_of
        self.sources = _sources(lesson.name)
        self.verdicts: dict[str, Verdict] = {}
        self.troubles: list[str] = []
        self.answered: set[str] = set()
        self.handed_over: set[str] = set()
        self.took: list[tuple[int, float]] = []
        self.failures: dict[str, tuple[Status, str]] = {}  # per symbol: status and sentence of its failed cell
        self.halted: dict[int, tuple[Status, str]] = {}  # the same per cell that never came back
        self.errors = False  # whether a cell stopped with an error of its own

    @property
    def left_to_say(self) -> bool:
        """Whether the learner's process has something to say."""
        return self.errors or any(verdict.status in _TOLD for verdict in self.verdicts.values())

    def go(self, submission: Submission, files: dict[str, str]) -> None:
        """Runs the cells, and asks for the symbols."""
        if self.said_of is not None:
            self._fresh(self.session.anew)
        if files:
            try:
                self.session.hand_over(files)
            except Stopped:
                self.troubles.append("The other files that were handed in could not be copied into the working folder.")
                self._fresh(self.session.restart)
        for step in submission.steps:
            if isinstance(step, Cell):
                self.cell(step)
            else:
                self.ask(step)

    def cell(self, cell: Cell) -> None:
        """Runs a cell; what fails is remembered for the symbols it was to define."""
        if self.said_of is not None and cell.number in self.said_of.halted:
            self._failed(cell, *self.said_of.halted[cell.number])
            return
        start = time.monotonic()
        try:
            try:
                error = self.session.run(cell.source)
            finally:
                self.took.append((cell.number, time.monotonic() - start))
        except Stopped as stop:
            limits = self.session.limits
            if self.said_of is None:
                sentence = _stopped(stop.status, f"Cell {cell.number}", limits.cell_seconds, limits)
                self.halted[cell.number] = (_status(stop), sentence)
                self._failed(cell, *self.halted[cell.number])
            self._fresh(self.session.restart)
            return
        if error is not None:
            self.errors = True
            status: Status = MEMORY if _out_of_memory(error) else ERROR
            said = "It stops with an error." if self.said_of is None else _say_stop(error)
            self._failed(cell, status, f"Cell {cell.number}: {said}")

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
        if self.said_of is None or self.said_of.verdicts[symbol].status in _TOLD:
            self.verdicts[symbol] = self._look(symbol)
        if symbol in self.failures and (self.said_of or self).verdicts[symbol].status != MISSING:
            # Its cell failed after the definition, or another cell defines it: what is there counts.
            self.troubles.append(self.failures[symbol][1])
        self.answered.add(symbol)
        for exercise in self.lesson.exercises:
            if exercise.symbol not in self.answered:
                return
            if exercise.symbol in self.handed_over:
                continue
            self.handed_over.add(exercise.symbol)
            try:
                self.session.restore(exercise.symbol, **self.sources[exercise.symbol])
            except Stopped:
                self._fresh(self.session.restart)

    def test(self, name: str, test: OwnTest) -> OwnResult:
        """Runs an instructor's own test cell, and reads its mark as nbgrader does."""
        try:
            error, value = self.session.test(test.source)
        except Stopped as stop:
            self._fresh(self.session.restart)
            limits = self.session.limits
            return OwnResult(name, 0.0, test.points, _stopped(stop.status, name, limits.cell_seconds, limits))
        if error is not None:
            return OwnResult(name, 0.0, test.points, _say_stop(error))
        score = test.points if not isinstance(value, int | float) else min(max(float(value), 0.0), test.points)
        return OwnResult(name, 0.0 if math.isnan(score) else score, test.points, "It ran without an error.")

    def _look(self, symbol: str) -> Verdict:
        judge, question = self.judges[symbol]
        seen: list[dict[str, Any]] = []
        try:
            for answer in self.session.probe(question):
                if "absent" in answer:
                    return zero(judge.exercise, MISSING, f"{symbol} is not in the notebook, or its cell was emptied.")
                if "imported" in answer:
                    return zero(judge.exercise, MISSING, ours_message(symbol))
                seen.append(_observation(answer))
        except Stopped as stop:
            self._fresh(self.session.restart)
            limits = self.session.limits
            return zero(judge.exercise, _status(stop), _stopped(stop.status, symbol, limits.probe_seconds, limits))
        with _JUDGING, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # mistakes divide by zero, and NumPy would say so to the instructor
            verdict = judge.verdict(seen)
        if verdict.score == 0 and any(_out_of_memory(s.get("error")) for s in seen):
            return zero(judge.exercise, MEMORY, f"{symbol} asks for more memory than a submission may use.")
        return verdict

    def _fresh(self, begin: Callable[[], None]) -> None:
        try:
            begin()
        except Stopped as stop:
            limits = self.session.limits
            sentence = _stopped(stop.status, "The notebook", limits.cell_seconds, limits)
            if self.said_of is None and sentence not in self.troubles:
                self.troubles.append(sentence)


def _verdict(symbol: str, marks: _Walk, words: _Walk) -> Verdict:
    """The mark of the hidden cases, in words that no process has said that has seen one."""
    verdict = marks.verdicts[symbol]
    if verdict.status == MISSING and symbol in marks.failures:
        exercise = marks.lesson[symbol]
        return zero(exercise, *words.failures.get(symbol, marks.failures[symbol]))
    if verdict.status in _TOLD:
        verdict = without_hidden_cases(verdict, words.verdicts[symbol])
    return verdict


def without_hidden_cases(verdict: Verdict, public: Verdict) -> Verdict:
    """The hidden cases' verdict, in the words and with the evidence of the public ones, which the learner can see."""
    if public.status != PASSED:
        # Only the hidden cases may tell which mistake it is: what its author says to those who make it is no secret.
        message = public.message if public.advice else " ".join(filter(None, (verdict.advice, public.message)))
        diagnosis = verdict.diagnosis or public.diagnosis
        return replace(verdict, message=message, diagnosis=diagnosis, evidence=public.evidence)
    fails = " and ".join(aspect.name for aspect in verdict.aspects if not aspect.passed)
    message = f"{verdict.symbol} passes the notebook's own check, but not the hidden cases: {fails}."
    hint = verdict.advice or ("" if verdict.patients else "Does it work for every shape and every number?")
    return replace(verdict, message=" ".join(filter(None, (message, hint, verdict.patients))), evidence=None)


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

"""A walk through a submission's cells, in a process of its own: what was run, what was asked, and what came of it."""

from __future__ import annotations

import errno
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from cellcheck.authoring.spec import Exercise
from cellcheck.checking.cards import out_of
from cellcheck.checking.judge import (
    CRASHED,
    ERROR,
    FAILED,
    MEMORY,
    MISSING,
    PARTIAL,
    PASSED,
    TIMEOUT,
    Status,
    Verdict,
    ours_message,
)
from cellcheck.checking.judge import without_score as zero
from cellcheck.checking.words import say_error
from cellcheck.errors import GraderError
from cellcheck.plain import harmless
from cellcheck.running.assignment import ends_with_a_value
from cellcheck.running.cells import Cell
from cellcheck.running.hearing import STOPPED, Hearing, Undecided
from cellcheck.running.limits import SLEEP_FACTOR, Limits
from cellcheck.running.result import OwnResult, OwnTest
from cellcheck.running.session import Question, Session, Stopped
from cellcheck.running.wire import MAX_MESSAGE, out_of_memory

_COMMAND = re.compile(r"\s*(?:!|%(?:pip|conda|mamba|system|sx)\b)")
LOCKED = "It is a locked cell, so what follows may fail for that reason."
"""Said of an instructor's own cell that stopped."""
MAX_STOPS = 3
_MISSING = re.compile(r"name '(\w+)' is not defined")
_FULL = (f"[Errno {errno.ENOSPC}]", f"[Errno {errno.EFBIG}]")
_FILES = (
    f"All cells of a notebook together may write {Limits().file_bytes >> 20} MB of files: write less, or delete what "
    "isn't needed any more."
)
_STILL_BLANK = "What it tests is still blank."
_JUDGE_STOPPED = "It could not be graded: the process that judges was stopped from outside, twice. Grade it again."
TOLD = (PARTIAL, FAILED, ERROR)  # what is told of these comes from the public cases


class Walk:
    """A walk through a submission's cells, in a process of its own.

    Where there are exercises, the first one gives the marks, on hidden cases. Where there is something to say, a second
    one finds the words: it asks on public cases, and only about what went wrong in the walk that it is `said_of`.
    """

    def __init__(
        self,
        session: Session,
        exercises: tuple[Exercise, ...] = (),
        hearing: Hearing | None = None,
        questions: Mapping[str, Question] | None = None,
        sources: Mapping[str, Mapping[str, str]] | None = None,
        said_of: Walk | None = None,
    ) -> None:
        self.session = session
        self.exercises = exercises
        self.hearing = hearing
        self.questions = questions or {}
        self.said_of = said_of
        self.sources = sources or {}
        self.secretive = bool(exercises) and said_of is None
        """Whether the learner's process meets hidden cases: then no word of it reaches a learner."""
        self.verdicts: dict[str, Verdict] = {}
        self._judged: tuple[str, Future[Verdict]] | None = None  # the last symbol that was asked for
        self.own: list[OwnResult] = []
        self.troubles: list[str] = []
        self.answered: set[str] = set()
        self.handed_over: set[str] = set()
        self.took: list[tuple[int, float]] = []
        self.failures: dict[str, tuple[Status, str]] = {}  # per symbol: status and sentence of its failed cell
        self.halted: dict[int, tuple[Status, str]] = {}  # the same per cell that never came back
        self.errors = False  # whether a cell stopped with an error of its own
        self.stops: list[tuple[Cell, str]] = []  # those that did in a plain notebook, and what is told of each

    @property
    def left_to_say(self) -> bool:
        """Whether the learner's process has something to say."""
        return self.errors or any(verdict.status in TOLD for verdict in self.verdicts.values())

    def go(self, steps: Iterable[Cell | str | OwnTest], files: Mapping[str, bytes]) -> None:
        """Runs the cells and the tests, and asks for the symbols."""
        if self.said_of is not None:
            self._fresh(self.session.anew)
        if files:
            try:
                self.session.hand_over(files)
            except Stopped:
                self.troubles.append("The other files that were handed in could not be copied into the working folder.")
                self._fresh(self.session.restart)
        # While one answer is judged here, the learner's process works on the next one.
        with ThreadPoolExecutor(1) as judging:
            for step in steps:
                if isinstance(step, Cell):
                    self.cell(step)
                elif isinstance(step, OwnTest):
                    self.own.append(self.test(step))
                else:
                    self.ask(step, judging)
            self._conclude()

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
                if cell.number > 0:
                    self.took.append((cell.number, time.monotonic() - start))
        except Stopped as stop:
            limits = self.session.limits
            if self.said_of is None:
                sentence = _stopped(stop.status, cell.called, limits.cell_seconds, limits)
                self.halted[cell.number] = (_status(stop), sentence)
                self._failed(cell, *self.halted[cell.number])
            self._fresh(self.session.restart)
            return
        if self.session.refused:
            self.troubles.append(_say_refused(cell))
        if error is not None:
            self.errors = True
            status: Status = MEMORY if out_of_memory(error) else ERROR
            words = "It stops with an error." if self.secretive else _say_stop(error)
            if not (self.exercises or _is_blank(error)):
                self.stops.append((cell, f"{cell.called} had stopped before that. {words}"))
            self._failed(cell, status, f"{cell.called}: {words}")

    def _failed(self, cell: Cell, status: Status, sentence: str) -> None:
        symbols = [e.symbol for e in self.exercises if e.symbol in cell.defines or e.symbol == cell.grade_id]
        for symbol in symbols:
            self.failures[symbol] = (status, sentence)
        if cell.released:  # an instructor's own cell: whatever follows may need it
            self.troubles.append(f"{sentence} {LOCKED}")
        # In a plain notebook the tests say what an error means; there, nobody knows which cell it concerns.
        elif not symbols and (self.exercises or status not in (ERROR, MEMORY)):
            self.troubles.append(f"{sentence} The cell was left out.")

    def ask(self, symbol: str, judging: ThreadPoolExecutor) -> None:
        """Has a symbol judged, then hands over the course's text of all that have been answered for.

        In the lesson's order: from the text of a later symbol an earlier one could be had.
        """
        if self.said_of is None or self.said_of.verdicts[symbol].status in TOLD:
            if self.questions[symbol].with_patients:  # whoever judges answers for them, and remembers what was asked
                self._conclude()
            answers = self._look(symbol)
            self._conclude()  # no more than two answers are kept: they may be large
            if isinstance(answers, Verdict):
                self.verdicts[symbol] = answers
            else:
                self._judged = symbol, judging.submit(self._judge, symbol, answers)
        if symbol in self.failures:
            self._conclude()
            if (self.said_of or self).verdicts[symbol].status != MISSING:
                # Its cell failed after the definition, or another cell defines it: what is there counts.
                self.troubles.append(self.failures[symbol][1])
        self.answered.add(symbol)
        for exercise in self.exercises:
            if exercise.symbol not in self.answered:
                return
            if exercise.symbol in self.handed_over:
                continue
            self.handed_over.add(exercise.symbol)
            try:
                self.session.restore(exercise.symbol, **self.sources[exercise.symbol])
            except Stopped:
                self._fresh(self.session.restart)

    def test(self, test: OwnTest) -> OwnResult:
        """Runs an instructor's own test cell where it stands. Where it finds nothing right in a blank, that is said."""
        result = self._tested(test)
        if test.of_blank and not result.score and result.status in (ERROR, FAILED):
            return test.result(0.0, MISSING, _STILL_BLANK)
        return result

    def _tested(self, test: OwnTest) -> OwnResult:
        """Reads the mark of a test as nbgrader does, with more care."""
        try:
            error, value, shown = self.session.test(test.source)
        except Stopped as stop:
            self._fresh(self.session.restart)
            limits = self.session.limits
            message = _stopped(stop.status, test.name, limits.cell_seconds, limits)
            return test.result(0.0, _status(stop), message)
        if error is not None:
            if _is_blank(error):
                return test.result(0.0, MISSING, _STILL_BLANK)
            status: Status = MEMORY if out_of_memory(error) else ERROR
            message = " ".join((_say_failed(test, error), *self._stopped_before(error)))
            return test.result(0.0, status, message)
        if value is None and (shown or not ends_with_a_value(test.source)):
            return test.result(test.points, PASSED, "It ran without an error.")
        if value is None or not math.isfinite(value):
            what = "nothing" if value is None else "infinity" if value in (math.inf, -math.inf) else "no number (NaN)"
            return test.result(0.0, FAILED, f"It gave {what}, where points should be.")
        score = min(max(value, 0.0), test.points)
        status = PASSED if score == test.points else PARTIAL if score else FAILED
        return test.result(score, status, f"It gave {out_of(score, test.points)}.")

    def _stopped_before(self, error: Mapping[str, Any]) -> list[str]:
        """What is told of cells that had stopped: why the missing name is missing, or else the last ones."""
        left, reasons = list(reversed(self.stops)), list[str]()
        words = str(error.get("message"))
        while missing := _MISSING.search(words):
            stop = next((stop for stop in left if _brings(stop[0], missing[1])), None)
            if stop is None:
                break
            left.remove(stop)
            words = stop[1]
            reasons.append(words)
        return (reasons or [reason for _, reason in left])[:MAX_STOPS]

    def _look(self, symbol: str, again: bool = True) -> Sequence[bytes] | Verdict:
        """What a symbol does, or the verdict where that can't be seen. Where a judge is stopped, another is asked."""
        exercise, limits = self._exercise(symbol), self.session.limits
        try:
            answers = self.session.probe(self.questions[symbol], partial(self._reply, symbol))
        except Stopped as stop:
            self._fresh(self.session.restart)
            return zero(exercise, _status(stop), _stopped(stop.status, symbol, limits.probe_seconds, limits))
        except Undecided as undecided:  # its process still waits for an answer
            self._fresh(self.session.restart)
            if undecided.status == STOPPED:
                if again:
                    return self._look(symbol, again=False)
                raise GraderError(_JUDGE_STOPPED) from undecided
            return zero(exercise, undecided.status, _too_expensive(symbol, undecided.status))
        if answers.absent:
            return zero(exercise, MISSING, f"{symbol} is not in the notebook, or its cell was emptied.")
        return zero(exercise, MISSING, ours_message(symbol)) if answers.imported else answers.messages

    def _reply(self, symbol: str, place: int, message: bytes) -> tuple[bytes, float]:
        assert self.hearing is not None
        return self.hearing.reply(symbol, self.said_of is not None, place, message)

    def _exercise(self, symbol: str) -> Exercise:
        return next(exercise for exercise in self.exercises if exercise.symbol == symbol)

    def _conclude(self) -> None:
        """Waits for the verdict that is being thought about."""
        if self._judged is not None:
            symbol, verdict = self._judged
            self._judged = None
            self.verdicts[symbol] = verdict.result()

    def _judge(self, symbol: str, answers: Sequence[bytes]) -> Verdict:
        """The verdict.

        Raises:
            GraderError: when the process that judges was stopped by somebody else, and so nothing is known.
        """
        assert self.hearing is not None
        exercise, public = self._exercise(symbol), self.said_of is not None
        try:
            try:
                return self.hearing.verdict(exercise, public, answers)
            except Undecided as undecided:
                # The system may have ended the process, for lack of memory: that is nobody's fault. What patients have
                # noted would be lost with it.
                if undecided.status not in (CRASHED, STOPPED) or self.questions[symbol].with_patients:
                    raise
                return self.hearing.verdict(exercise, public, answers)
        except Undecided as undecided:
            if undecided.status == STOPPED:
                raise GraderError(_JUDGE_STOPPED) from undecided
            return zero(exercise, undecided.status, _too_hard(symbol, undecided.status))

    def _fresh(self, begin: Callable[[], None]) -> None:
        try:
            begin()
        except Stopped as stop:
            limits = self.session.limits
            sentence = _stopped(stop.status, "The notebook", limits.cell_seconds, limits)
            if self.said_of is None and sentence not in self.troubles:
                self.troubles.append(sentence)


def _brings(cell: Cell, name: str) -> bool:
    imported = re.search(rf"^\s*(?:import|from)\b.*\b{re.escape(name)}\b", cell.source, re.MULTILINE)
    return name in cell.defines or imported is not None


def _status(stop: Stopped) -> Status:
    if stop.status in ("memory", "large"):
        return MEMORY
    if stop.status == "files":
        return ERROR
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
    if status == "files":
        return f"{what} was stopped. {_FILES}"
    if status == "large":
        return (
            f"What {what} gives back in all cases together is larger than {MAX_MESSAGE >> 20} MB, far larger than any "
            "right answer. What shape does the docstring promise?"
        )
    if status == "asleep":
        return (
            f"{what} waited for longer than {SLEEP_FACTOR * seconds:g} s without computing anything: is there a sleep, "
            "or does it wait for something that never comes?"
        )
    if status == "slept":
        return (
            f"{what} was not run to its end: the notebook had waited for {limits.sleep_seconds:g} s in all without "
            "computing anything, and a submission may wait no longer. Are there sleeps in it?"
        )
    if status == "timeout":
        return f"{what} ran longer than {seconds:g} s: is there a loop that never ends?"
    return f"{what} ended the Python process: is there an exit, a kill, or a structure that is far too deep?"


def _too_expensive(symbol: str, status: Status) -> str:
    """Said of a question that could not be answered within what one may cost."""
    if status == CRASHED:
        return f"{symbol} asks something that could not be answered: the process that answers ended."
    what = "memory" if status == MEMORY else "time"
    return (
        f"{symbol} asks something that takes far more {what} to answer than any test needs. Does it ask about a very "
        "large batch, or a very long sequence? A few rows will do."
    )


def _too_hard(symbol: str, status: Status) -> str:
    """Said of an answer that could not be judged within what that may cost."""
    if status == CRASHED:
        return f"What {symbol} gives back can't be checked: it is nothing like a right answer."
    what = "memory" if status == MEMORY else "time"
    return f"What {symbol} gives back takes far more {what} to check than any right answer: is it much too large?"


def _say_stop(error: dict[str, Any]) -> str:
    match error.get("type"):
        case "OutputLimit":
            return f"{_cap(str(error.get('message')))}: is there a loop that never stops printing?"
        case "NobodyToAsk":
            return "input() has nobody to ask while a notebook is graded. Write the value into the cell instead."
        case "OSError" if str(error.get("message")).startswith(_FULL):
            return f"{say_error(error)} {_FILES}"
    return say_error(error)


def _say_refused(cell: Cell) -> str:
    """Said of a cell with a command that failed. Its words are the learner's text: the process has none to say here."""
    command = next((line.strip() for line in cell.source.splitlines() if _COMMAND.match(line)), "")
    which = f"the command {harmless(command[:80])}" if command else "a command in it"
    return (
        f"{cell.called}: {which} ended with an error, and the rest of the cell was run. There is no network while a "
        "notebook is graded, so nothing can be installed or downloaded."
    )


def _is_blank(error: dict[str, Any]) -> bool:
    """Whether a stub stopped that nobody has filled in."""
    return bool(error["type"] == "NotImplementedError") and str(error["line"]).startswith("raise NotImplementedError")


def _say_failed(test: OwnTest, error: dict[str, Any]) -> str:
    """What stopped a test. A line of its hidden part stays hidden."""
    if error.get("line") not in test.hidden:
        return _say_stop(error)
    return f"A hidden test fails. {_say_stop(error | {'line': ''})}"


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]

"""The parent's side of the border: has a learner's process forked, asks it, and stops it when it must.

Elapsed time decides nothing. What a learner's processes work is counted, and what they sleep. A machine that is busy
with others keeps them waiting, and so do we while a patient thinks about their question: neither is theirs.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from cellcheck.authoring.spec import Case
from cellcheck.errors import GraderError
from cellcheck.running.channel import Channel, Closed
from cellcheck.running.limits import GIVE_UP_SECONDS, SLEEP_FACTOR, TOO_BUSY, Limits
from cellcheck.running.setting import Setting
from cellcheck.running.usage import KeptWaiting
from cellcheck.running.wire import MAX_MESSAGE, BadMessage, decode_words, encode, error_in, names_in
from cellcheck.running.zygotes import Zygote, borrowed

_PIECE = 2**24  # bytes of a file in one message
_LOOK_SECONDS = 0.25  # how often the child's processor time is looked at while it works


class Stopped(Exception):
    """The learner's process is of no use any more.

    `status` is "timeout", "asleep", "crashed", "memory", "files" (it wrote too many), "spent" (all its time is used
    up), "slept" (all its time for that), or "large" (its answers are).
    """

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class Question:
    """A symbol and the cases to call it on, as a message: made once for many submissions.

    The message holds the cases' inputs, in `order`. Patients stay with whoever judges.
    """

    message: bytes
    order: tuple[int, ...]
    with_patients: bool

    @classmethod
    def of(cls, symbol: str, cases: Sequence[Case], seed: int = 0) -> Question:
        """The question what `symbol` does on `cases`.

        Where a case has a patient, the answer may be one bit, and a case's place would tell it: `seed` shuffles them.
        """
        order = list(range(len(cases)))
        with_patients = any(case.patient for case in cases)
        if with_patients:
            random.Random(f"{seed} {symbol}").shuffle(order)
        inputs = [dict(cases[place].inputs) for place in order]
        message = encode({"do": "probe", "symbol": symbol, "cases": inputs, "patients": with_patients})
        return cls(message, tuple(order), with_patients)


Reply = Callable[[int, bytes], tuple[bytes, float]]
"""What the patient of the case at a place answers to a message, and the processor time that this took."""


@dataclass(frozen=True)
class Answers:
    """What a learner's process said of a symbol: a message for each case, in the cases' order; none if it isn't there.

    Nothing of it has been looked at but the names at its top.
    """

    messages: tuple[bytes, ...] = ()
    absent: bool = False
    """Whether there is no such symbol."""
    imported: bool = False
    """Whether it is the course's own."""


class Session:
    """One learner's process. After `Stopped`, `restart` makes a fresh one that knows what the old one had learnt."""

    def __init__(self, setting: Setting, limits: Limits) -> None:
        self.limits = limits
        self._lending = borrowed(setting)
        self._history: list[bytes] = []
        self._spent = 0.0  # processor seconds of the processes that are gone
        self._spent_here = 0.0  # and of this one, on its behalf
        self.refused = False
        """Whether a command in the cell that was run last ended with an error."""
        self.used = 0.0
        """Those of the one that is there, and of all that it started; looked up every now and then."""
        self.slept = 0.0
        """Seconds for which neither it did anything, nor anybody kept it waiting; looked up along with that."""
        self._looked = 0.0
        self._waited = 0.0  # by us for it since then
        self._waiting_since: float | None = None
        self._delays = KeptWaiting()
        self._pid = 0

    def __enter__(self) -> Self:
        self._zygote: Zygote = self._lending.__enter__()
        self._given_up = time.monotonic() + GIVE_UP_SECONDS
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._lending.__exit__(kind, error, trace)

    @property
    def counts_time(self) -> bool:
        """Whether work and sleep can be told apart on this machine."""
        return self._zygote.account.counts_time

    @property
    def missing(self) -> dict[str, str]:
        """The protections that this machine lacks, with the reasons."""
        return self._zygote.missing

    def hand_over(self, files: Mapping[str, bytes]) -> None:
        """Puts files into the working folder.

        Raises:
            Stopped: when they don't fit.
        """
        for name, data in files.items():
            for start in range(0, len(data) or 1, _PIECE):
                piece = np.frombuffer(bytearray(data[start : start + _PIECE]), np.uint8)
                self._remembered({"do": "file", "name": name, "data": piece, "more": start > 0})

    def run(self, source: str) -> dict[str, Any] | None:
        """Runs a cell; returns the error's description, or None when it went well.

        Raises:
            Stopped: when it did not come back.
        """
        answer = self._remembered({"do": "run", "source": source})  # what it did before its error stays
        self.refused = answer.get("refused") is True
        return error_in(answer)

    def test(self, source: str) -> tuple[dict[str, Any] | None, float | None, bool]:
        """Runs a test cell: the error's description, or None; the number that its last line gave, if any; and whether
        that line showed something else.

        The number comes from a process in which the learner's code runs: it can be forged.

        Raises:
            Stopped: when it did not come back.
        """
        answer = self._remembered({"do": "run", "source": source})  # what it defines, later ones may need
        value = answer.get("value")
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        return error_in(answer), number, answer.get("shown") is True

    def probe(self, question: Question, reply: Reply | None = None) -> Answers:
        """What the learner's symbol does on each case. Where they have patients, `reply` answers for them.

        Raises:
            Stopped: when an answer did not come in time, or all together are too large.
        """
        clock = _Clock(self, self.limits.probe_seconds)
        self._put(question.message, clock)
        messages: dict[int, bytes] = {}
        for place in question.order:
            message, names = self._next(clock)
            while reply is not None and question.with_patients and "ask" in names:
                answer, seconds = reply(place, message)
                self._spent_here += seconds  # at the expense of whoever asks
                self._put(answer, clock)
                message, names = self._next(clock)
            stopped = "error" in names  # the learner's code got around the probe's own net: no more answers come
            if not stopped and not messages and names & {"absent", "imported"}:
                return Answers(absent="absent" in names, imported="imported" in names)
            if not stopped and "seen" not in names:
                self._stop()
                raise Stopped("crashed")  # no answer to the question: somebody else speaks here
            messages |= (
                {left: message for left in question.order if left not in messages} if stopped else {place: message}
            )
            if sum(map(len, messages.values())) > MAX_MESSAGE:
                self._stop()
                raise Stopped("large")
            if stopped:
                break
        return Answers(tuple(messages[place] for place in range(len(messages))))

    def restore(self, symbol: str, module: str, source: str) -> None:
        """Hands over the course's text of a symbol that has been answered for.

        Raises:
            Stopped: when the process is gone.
        """
        self._remembered({"do": "restore", "symbol": symbol, "module": module, "source": source})

    def restart(self) -> None:
        """A fresh process, in which everything that came back is done again.

        Raises:
            Stopped: when what came back before does not come back again, or there is no time left.
        """
        self._stop()
        self._insist_on_time()
        self._start()
        for message in self._history:
            self._ask(message)

    def anew(self) -> None:
        """A fresh process in which nothing has been done, and that has met no case. It may sleep as the last one might.

        Raises:
            Stopped: when there is no time left.
        """
        self._history.clear()
        self._stop()
        self.slept = 0.0
        self.restart()

    def _start(self) -> None:
        self._pid, descriptor = self._zygote.fork(self.limits)
        self._looked, self._waited = time.monotonic(), 0.0
        self._delays = self._zygote.account.kept_waiting()
        self._channel = Channel(descriptor)

    def _stop(self) -> int:
        if self._pid == 0:
            return 0
        self.look_up()
        self._spent += self.used
        self.used = self._spent_here = 0.0
        self._pid = 0
        self._channel.close()
        return self._zygote.end()

    def is_spent(self) -> bool:
        """Whether the whole submission has had its processor time."""
        return self._spent + self.used > self.limits.cpu_seconds

    def look_up(self) -> float:
        """Processor seconds of the processes that are there, of all that they started, and of this one for them."""
        self._count_waiting()
        before, waited, self._waited = self.used, self._waited, 0.0
        used = self._zygote.account.processor_seconds() + self._spent_here
        self.used = max(self.used, used)  # who ends now may be in no list
        self._looked = time.monotonic()
        delays = self._zygote.account.kept_waiting()
        # Who works now, between two cells, had a processor when it answered: up to then the kernel has counted it all.
        has_answered = self._waiting_since is None
        if not delays.busy or (has_answered and delays.counted):
            self.slept += max(0.0, waited - (self.used - before) - delays.since(self._delays))
        self._delays = delays
        return self.used

    def look(self) -> None:
        """Looks at what has been used: each process has limits of its own, and these are for all of them together.

        Raises:
            Stopped: when it was too much.
            GraderError: when nothing has come of it for too long.
        """
        self.look_up()
        self._insist_on_time()
        if exceeded := self._zygote.account.exceeds(self.limits.memory_bytes, self.limits.file_bytes):
            raise Stopped(exceeded)
        if self._looked > self._given_up:
            raise GraderError(TOO_BUSY)

    def _insist_on_time(self) -> None:
        if self.is_spent():
            raise Stopped("spent")
        if self.slept > self.limits.sleep_seconds:
            raise Stopped("slept" if self.counts_time else "spent")

    def _remembered(self, message: dict[str, Any]) -> dict[str, Any]:
        encoded = encode(message)
        answer = self._ask(encoded)
        self._history.append(encoded)
        return answer

    def _ask(self, message: bytes) -> dict[str, Any]:
        clock = _Clock(self, self.limits.cell_seconds)
        self._put(message, clock)
        return self._take(clock)

    def _put(self, message: bytes, clock: _Clock) -> None:
        if self._pid == 0:
            self._insist_on_time()
            raise Stopped("crashed")
        if time.monotonic() - self._looked > _LOOK_SECONDS:  # many short cells are as good as a long one
            self.look()
        try:
            self._channel.forget(MAX_MESSAGE)
            with self._waiting():
                self._channel.put(message, clock)
        except Closed as error:
            raise Stopped(self._how_it_ended()) from error

    def _take(self, clock: _Clock) -> dict[str, Any]:
        try:
            answer = decode_words(self._taken(clock))
        except BadMessage as error:
            raise Stopped("crashed") from error
        if not isinstance(answer, dict):
            raise Stopped("crashed")
        return answer

    def _next(self, clock: _Clock) -> tuple[bytes, frozenset[str]]:
        """The next message, and the names at its top."""
        message = self._taken(clock)
        try:
            return message, names_in(message)
        except BadMessage as error:
            raise Stopped("crashed") from error

    def _taken(self, clock: _Clock) -> bytes:
        if clock.is_due():  # somebody may ask and ask, and is never waited for
            clock()
        try:
            with self._waiting():
                return self._channel.take(clock, MAX_MESSAGE)
        except Closed as error:
            raise Stopped(self._how_it_ended()) from error

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Counts how long the learner's process is waited for."""
        self._waiting_since = time.monotonic()
        try:
            yield
        finally:
            self._count_waiting()
            self._waiting_since = None

    def _count_waiting(self) -> None:
        if self._waiting_since is not None:
            now = time.monotonic()
            self._waited += now - self._waiting_since
            self._waiting_since = now

    def _how_it_ended(self) -> str:
        overflowed = self._zygote.account.has_overflowed()
        status = self._stop()
        if overflowed:
            return "memory"
        return "spent" if -status in (signal.SIGXCPU, 0) and self._spent > self.limits.cpu_seconds else "crashed"


class _Clock:
    """The time for one thing to do: so many seconds of work, and some more of sleep. It is the channel's patience."""

    def __init__(self, session: Session, seconds: float) -> None:
        self.session = session
        self.seconds = seconds
        self._slept = session.slept
        self._at_start: float | None = None
        self._due = self._next_look()

    def __call__(self) -> float:
        """When to look again, once it is time to.

        Raises:
            Stopped: when the time is up.
        """
        if self.is_due():
            self.session.look()
            self._insist()
            self._due = self._next_look()
        return self._due

    def is_due(self) -> bool:
        """Whether it is time to look at what has been used."""
        return time.monotonic() >= self._due

    def _next_look(self) -> float:
        return time.monotonic() + min(_LOOK_SECONDS, self.seconds / 4)

    def _insist(self) -> None:
        used, slept = self.session.used, self.session.slept
        if self._at_start is None:  # looked at the first time only when something takes long
            self._at_start = max(used - _LOOK_SECONDS, 0.0)
        if used - self._at_start > self.seconds:
            raise Stopped("timeout")
        if slept - self._slept > SLEEP_FACTOR * self.seconds:
            raise Stopped("asleep" if self.session.counts_time else "timeout")

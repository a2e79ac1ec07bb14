"""The parent's side of judging: asks the judging process, and ends it when it must. See `cellcheck.running.judging`."""

import json
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import accumulate
from types import TracebackType
from typing import Any, Final, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np

from cellcheck.authoring.spec import Exercise
from cellcheck.checking.judge import CRASHED, MEMORY, TIMEOUT, Status, Verdict
from cellcheck.errors import GraderError
from cellcheck.running import limits
from cellcheck.running.channel import Channel, Closed
from cellcheck.running.judging import of_tree
from cellcheck.running.limits import GIVE_UP_SECONDS, JUDGING_BYTES, SLEEP_FACTOR, TOO_BUSY, Limits
from cellcheck.running.setting import judging_of
from cellcheck.running.usage import Account, KeptWaiting
from cellcheck.running.wire import MAX_MESSAGE, BadMessage, decode, encode
from cellcheck.running.zygotes import Zygote, borrowed

_LIMITS = Limits(cpu_seconds=3600.0, memory_bytes=JUDGING_BYTES, file_bytes=2**20, processes=16)
_MOST_NOTES = 2**15  # bytes in one order: beside a file, a socket passes no more than 36,000 on in one piece

_LOOK_SECONDS = 0.5  # how often somebody looks whether a judge that keeps silent is at work

_NOTES: WeakKeyDictionary[Zygote, list[Any]] = WeakKeyDictionary()
"""Per warm process, the mistakes that a child had to look up: its next child shall know them."""


STOPPED: Final = "stopped"
"""The judge did nothing for long, and wasn't kept waiting: somebody else has stopped it."""


class Undecided(Exception):
    """An answer could not be judged, or a question not be answered: it took too much.

    `status` is "timeout", "memory" or "crashed"; or "stopped", and then it is nobody's fault.
    """

    def __init__(self, status: Status | Literal["stopped"]) -> None:
        super().__init__(status)
        self.status = status


class Hearing:
    """The judging process of one submission. After `Undecided`, the next exercise is judged by a fresh one."""

    def __init__(self, lesson: str, seed: int, hidden: Iterable[str] = ()) -> None:
        self._seed = seed
        self._lending = borrowed(judging_of(lesson, hidden))
        self._channel: Channel | None = None
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> Self:
        self._zygote = self._lending.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self._lending.__exit__(kind, error, trace)

    def begin(self) -> None:
        """Starts the process, which sees what is right before it is asked; else the first question does."""
        with self._one_at_a_time:
            self._open()

    def reply(self, symbol: str, public: bool, place: int, message: bytes) -> tuple[bytes, float]:
        """What the patient of a case answers to a learner's message, and the processor time that this took.

        Raises:
            Undecided: when the question is too expensive.
        """
        order = {"do": "reply", "symbol": symbol, "public": public, "place": place, "message": _raw(message)}
        answer = self._ask(order, limits.REPLY_SECONDS)
        return answer["reply"].tobytes(), float(answer["seconds"])

    def verdict(self, exercise: Exercise, public: bool, messages: Sequence[bytes]) -> Verdict:
        """The verdict on what a learner's process has answered, case by case.

        Raises:
            Undecided: when it takes too much to find one.
        """
        order = {"do": "verdict", "symbol": exercise.symbol, "public": public, "messages": list(map(_raw, messages))}
        answer = self._ask(order, limits.VERDICT_SECONDS)
        if "refused" in answer:
            with self._one_at_a_time:
                self._end()
            raise Undecided(answer["refused"])
        try:
            _NOTES.setdefault(self._zygote, []).extend(answer["known"])
            return of_tree(answer["verdict"], exercise)
        except (TypeError, ValueError, KeyError) as error:
            raise Undecided(CRASHED) from error

    def _ask(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        with self._one_at_a_time:
            channel = self._open()
            patience = _Patience(self._zygote.account, seconds)
            try:
                channel.put(encode(order | {"seconds": seconds}), patience)
                answer: dict[str, Any] = decode(channel.take(patience, MAX_MESSAGE), MAX_MESSAGE)
            except _Over as over:
                self._end()
                raise Undecided(over.status) from over
            except (Closed, BadMessage) as error:
                overflowed = self._zygote.account.has_overflowed()
                status = self._end()
                took_too_long = status == -signal.SIGPROF
                raise Undecided(MEMORY if overflowed else TIMEOUT if took_too_long else CRASHED) from error
        return answer

    def _open(self) -> Channel:
        if self._channel is None:
            notes = _NOTES.pop(self._zygote, [])
            sizes = accumulate(len(json.dumps(note)) + 2 for note in notes)
            fitting = sum(size <= _MOST_NOTES for size in sizes)
            _NOTES[self._zygote] = notes[fitting:]
            ahead = {"seed": self._seed, "known": notes[:fitting]}
            _, descriptor = self._zygote.fork(_LIMITS, ahead)
            self._channel = Channel(descriptor)
        return self._channel

    def _end(self) -> int:
        if self._channel is None:
            return 0
        self._channel.close()
        self._channel = None
        return self._zygote.end()


class _Over(Exception):
    """The patience with a judge is over; `status` says why."""

    def __init__(self, status: Status | Literal["stopped"]) -> None:
        super().__init__(status)
        self.status = status


class _Patience:
    """As long as a judge works, or would if it could, it is waited for; until it has worked for so many seconds.

    Where it has no namespace of its own, the kernel ends it at that moment. In its own it is the first process, which a
    timer doesn't end.
    """

    def __init__(self, account: Account, seconds: float) -> None:
        self._account = account
        self._seconds = seconds
        self._sleep_left = SLEEP_FACTOR * seconds
        self._began = self._looked = time.monotonic()
        self._asked = 0
        self._used: float | None = None
        self._most = 0.0
        self._delays = KeptWaiting()

    def __call__(self) -> float:
        """When to look again.

        Raises:
            _Over: when it has worked for too long, or has done nothing for too long.
            GraderError: when nothing has come of it for an hour.
        """
        now = time.monotonic()
        self._asked += 1
        if self._asked == 1:  # most answers are there before anybody looks
            return now + self._next_look
        if now > self._began + GIVE_UP_SECONDS:
            raise GraderError(TOO_BUSY)
        used, delays = self._account.processor_seconds(), self._account.kept_waiting()
        if self._used is None:  # what it has used before is not known, and given away
            self._most = used + self._seconds
        elif not delays.busy:
            self._sleep_left -= max(0.0, now - self._looked - (used - self._used) - delays.since(self._delays))
        self._looked, self._used, self._delays = now, used, delays
        if used > self._most:
            raise _Over(TIMEOUT)
        if self._sleep_left < 0:
            raise _Over(STOPPED)
        return now + self._next_look

    @property
    def _next_look(self) -> float:
        return min(_LOOK_SECONDS, self._seconds / 4)


def _raw(message: bytes) -> np.ndarray:
    return np.frombuffer(message, np.uint8)

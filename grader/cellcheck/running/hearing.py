"""The parent's side of judging: asks the judging process, and ends it when it must. See `cellcheck.running.judging`."""

import json
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import accumulate
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from cellcheck.authoring.spec import Exercise
from cellcheck.checking.judge import CRASHED, MEMORY, TIMEOUT, Status, Verdict
from cellcheck.running import limits
from cellcheck.running.channel import Channel, Closed
from cellcheck.running.judging import of_tree
from cellcheck.running.limits import JUDGING_BYTES, WALL_FACTOR, Limits
from cellcheck.running.setting import judging_of
from cellcheck.running.wire import MAX_MESSAGE, BadMessage, decode, encode
from cellcheck.running.zygotes import Zygote, borrowed

_LIMITS = Limits(cpu_seconds=3600.0, memory_bytes=JUDGING_BYTES, file_bytes=2**20, processes=16)
_MOST_NOTES = 2**15  # bytes in one order: beside a file, a socket passes no more than 36,000 on in one piece

_NOTES: WeakKeyDictionary[Zygote, list[Any]] = WeakKeyDictionary()
"""Per warm process, the mistakes that a child had to look up: its next child shall know them."""


class Undecided(Exception):
    """An answer could not be judged, or a question not be answered: it took too much.

    `status` is "timeout", "memory" or "crashed".
    """

    def __init__(self, status: Status) -> None:
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
            deadline = time.monotonic() + WALL_FACTOR * seconds  # to get the process ready is not the question's cost
            try:
                channel.put(encode(order | {"seconds": seconds}), deadline)
                answer: dict[str, Any] = decode(channel.take(deadline, MAX_MESSAGE), MAX_MESSAGE)
            except TimeoutError as error:
                self._end()
                raise Undecided(TIMEOUT) from error
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


def _raw(message: bytes) -> np.ndarray:
    return np.frombuffer(message, np.uint8)

"""Whatever a learner's code asks or gives back, it is answered and judged within two seconds and a gigabyte.

The process that judges would be ended where it isn't (`tests/running/test_judging.py`), and the exercise would be lost.
Here every patient and every canonical form is to stay within that by itself.
"""

import gc
import os
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cellcheck.authoring.observe import MAX_TEXT, Opaque
from cellcheck.authoring.patients import asked_here
from cellcheck.authoring.spec import Observation
from cellcheck.checking.judge import Judge
from cellcheck.running.judging import Bench
from cellcheck.running.limits import JUDGING_BYTES, REPLY_SECONDS
from cellcheck.running.wire import MAX_TEXT as MAX_JSON
from cellcheck.running.wire import BadMessage, encode
from cellcheck.syllabus import lesson_names, load_lesson, load_probes
from tests.nightly import later

SEED = 3
# What once kept a grader busy for ever, and is tried soon; the others are tried at night.
ONCE_EXPENSIVE = {"prepare_example"}
EXERCISES = [
    pytest.param(lesson, exercise.symbol, marks=() if exercise.symbol in ONCE_EXPENSIVE else later)
    for lesson in lesson_names()
    for exercise in load_lesson(lesson).exercises
]

# Of every kind and size that a learner's process may send: 64 MB at most, all cases together.
ODD: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "yes": lambda: True,
    "a number": lambda: -7,
    "a large number": lambda: 2**62,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("-inf"),
    "a word": lambda: "x",
    "a long text": lambda: "ab " * (MAX_TEXT // 3),
    "the same letter": lambda: "a" * MAX_TEXT,
    "an empty text": lambda: "",
    "no list": list,
    "a long list": lambda: [0] * 20_000,
    "rows of one": lambda: [[0]] * 9_000,
    "rows of none": lambda: [[]] * 19_000,
    "words": lambda: ["ab"] * 19_000,
    "one in another": lambda: [[[[[[[[1.0]]]]]]]],
    "a tuple": lambda: (1, 2),
    "a dict": lambda: {"a": 1},
    "a large dict": lambda: {str(number): number for number in range(19_000)},
    "something else": lambda: Opaque("an object of type X"),
    "no tensor": lambda: torch.zeros(0),
    "rows without numbers": lambda: torch.zeros(2**28, 0),
    "columns without numbers": lambda: torch.zeros(0, 2**28),
    "small and many": lambda: torch.zeros(4_000_000, dtype=torch.int8),
    "as many as fit": lambda: torch.ones(3_000_000, dtype=torch.int8),
    "a tall one": lambda: torch.zeros(100_000, 1, dtype=torch.long),
    "the same token": lambda: torch.zeros(64, dtype=torch.long),
    "the same token, often": lambda: torch.full((2**17,), 3),
    "a batch of one token": lambda: torch.full((2**12, 2**5), 1),
    "long rows": lambda: torch.full((2**10, 2**7), 1),
    "negative tokens": lambda: torch.full((4, 8), -3),
    "wrong numbers": lambda: torch.full((4, 8), torch.nan),
    "in five dimensions": lambda: torch.ones(2, 3, 2, 3, 2),
    "one number": lambda: torch.tensor(2.0),
    "coarse": lambda: torch.ones(4, 8, dtype=torch.bfloat16),
    "unsigned": lambda: torch.ones(4, 8, dtype=torch.uint64),
    "an array": lambda: np.ones((64, 64)),
    "an array without numbers": lambda: np.ones((2**28, 0)),
    "bits": lambda: np.ones((4, 8), bool),
}
CHANGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "of another dtype": lambda x: x.to(torch.float64 if x.dtype != torch.float64 else torch.int64),
    "negative": lambda x: -x.float() - 1,
    "NaN": lambda x: torch.full(x.shape, torch.nan),
    "constant": lambda x: torch.zeros_like(x),
    "with one more axis": lambda x: x[None],
    "a thousand times": lambda x: x[None].expand(1000, *x.shape).contiguous(),
    "repeated along its batch": lambda x: x.repeat(200, *[1] * (x.dim() - 1)) if x.dim() else x,
    "empty": lambda x: x[:0] if x.dim() else x,
    "as lists": lambda x: x.tolist(),
}


@cache
def judge(lesson: str, symbol: str) -> Judge:
    """One that knows all mistakes, as a warm process soon does."""
    prepared = Judge(load_lesson(lesson)[symbol], load_probes(lesson)[symbol], SEED)
    for mistake in prepared.exercise.mistakes:
        for place in range(len(prepared.cases)):
            prepared.look_up(mistake.name, place)
    assert prepared.right_sizes
    return prepared


def changed(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What may stand in place of a right value."""
    yield from ODD.items()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        value = torch.from_numpy(np.asarray(value, dtype=value.dtype.newbyteorder("=")))
    if isinstance(value, torch.Tensor):
        for name, change in CHANGES.items():
            yield name, lambda change=change: change(value)
    if isinstance(value, list | tuple) and value:
        yield "a list, repeated", lambda: list(value) * 300
        for name, make in ODD.items():
            yield f"a list of {name}", lambda make=make: [make()] * min(len(value), 3)


def answers(prepared: Judge, seen: Observation) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A verdict on each answer that differs from a right one under one name."""
    for key, value in seen.items():
        for name, make in changed(value):

            def verdict(key: str = key, make: Callable[[], Any] = make) -> None:
                message = encode({"seen": {**seen, key: make()}}, MAX_JSON)
                prepared.verdict(Bench(prepared.cases).observations([message] * len(prepared.cases)))

            yield f"{key}: {name}", verdict
    yield "nothing at all", lambda: prepared.verdict([{}] * len(prepared.cases))


def questions(prepared: Judge) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each question that a right answer asks first of a patient, with one argument changed."""
    for place, case in enumerate(prepared.cases):
        if case.patient is None:
            continue
        asked: dict[str, list[Any]] = {}
        ask = asked_here(case.patient())

        def noting(way: str, *arguments: Any, asked: dict[str, list[Any]] = asked, ask: Any = ask) -> Any:
            asked.setdefault(way, list(arguments))
            return ask(way, *arguments)

        prepared.probe(prepared.exercise.references[0], {**case.inputs, "patient": noting})
        for way, arguments in asked.items():
            for at, value in enumerate(arguments):
                for name, make in changed(value):

                    def reply(
                        way: str = way,
                        arguments: list[Any] = arguments,
                        at: int = at,
                        make: Callable[[], Any] = make,
                        place: int = place,
                    ) -> None:
                        given = [*arguments[:at], make(), *arguments[at + 1 :]]
                        Bench(prepared.cases).reply(place, encode({"ask": way, "arguments": given}, MAX_JSON))

                    yield f"{case.label}: {way}, argument {at}: {name}", reply


def too_expensive(tries: list[tuple[str, Callable[[], Any]]]) -> list[str]:
    """Which of them a process with these limits does not get through; each is tried, whatever came before."""
    failed: list[str] = []
    start, tired = 0, False
    gc.freeze()  # as the process that judges does: else each of its children looks through all that this one has
    while start < len(tries):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(reading)
                _try(tries[start:], writing)
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading, "rb") as file:
            done = file.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for offset, outcome in enumerate(done):
            if outcome != ord("."):
                failed.append(f"{tries[start + offset][0]}: {'memory' if outcome == ord('m') else 'an error'}")
        if done:
            tired = False
        start += len(done)
        if start < len(tries):
            if tired:  # by itself, too: a busy machine may slow down one that comes after others
                failed.append(f"{tries[start][0]}: ended by signal {-status}")
                start += 1
            tired = not tired
    gc.unfreeze()
    return failed


def _try(tries: list[tuple[str, Callable[[], Any]]], writing: int) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + JUDGING_BYTES,) * 2)
    for _, attempt in tries:
        outcome = b"."
        signal.setitimer(signal.ITIMER_PROF, REPLY_SECONDS)
        signal.alarm(60)  # nobody waits for one that does nothing
        try:
            attempt()
        except MemoryError:
            outcome = b"m"
        except BadMessage:  # refused at once
            outcome = b"."
        except ValueError as error:  # what can't be sent does not arrive
            outcome = b"." if "larger than any right answer" in str(error) else b"e"
        except Exception:
            outcome = b"e"
        os.write(writing, outcome)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no limits to try it with")
@pytest.mark.parametrize(("lesson", "symbol"), EXERCISES)
def test_nothing_that_is_asked_or_given_back_is_expensive(lesson: str, symbol: str) -> None:
    prepared = judge(lesson, symbol)
    tries = [*answers(prepared, prepared.observe(prepared.exercise.references[0])[-1]), *questions(prepared)]
    assert len(tries) > 1
    assert too_expensive(tries) == []

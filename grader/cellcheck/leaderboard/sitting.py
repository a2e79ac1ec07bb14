"""One process of an entry, from outside: every answer is checked, and every wait has an end."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from cellcheck.authoring.contest import Contest, Notation
from cellcheck.authoring.patients import Patient
from cellcheck.authoring.spec import Case
from cellcheck.leaderboard.entries import ContestEntry, checked
from cellcheck.leaderboard.entry_files import EntryRefused
from cellcheck.leaderboard.within import MODULE
from cellcheck.running.judging import Bench
from cellcheck.running.limits import Limits
from cellcheck.running.session import Question, Session, Stopped
from cellcheck.running.setting import Setting
from cellcheck.running.wire import BadMessage, error_in

_START_SECONDS = 5.0
"""To read the entry's code and make its model, beside what the contest allows."""
_PROCESSES = 16
_PLAIN = (bool, int, float, str, type(None))


class Sitting:
    """An entry's process, with its code imported. What it spends, the whole entry spends."""

    def __init__(self, session: Session, contest: Contest, seconds: float) -> None:
        self._session = session
        self._contest = contest
        self._seconds = seconds

    @property
    def missing(self) -> dict[str, str]:
        """The protections that this machine lacks, with the reasons."""
        return self._session.missing

    def used(self) -> float:
        """Processor seconds so far, all that it started included."""
        return self._session.look_up()

    def asks(self) -> Mapping[str, Any]:
        """What the entry wants its problems to look like: words, numbers and yes or no, by name."""
        asks = self._ask("describe", asks=self._contest.asks).get("asks")
        if not isinstance(asks, dict) or not all(isinstance(value, _PLAIN) for value in asks.values()):
            raise EntryRefused(f"{self._contest.asks} in {self._contest.code} should be a dict of plain values.")
        return asks

    def make(self, seed: int) -> None:
        """A fresh model. It says how large it is, so that nobody waits for the training of one that is too large."""
        self._fits(self._ask("make", make=self._contest.make, seed=seed))

    def learn(self, draw: Callable[[int], dict[str, np.ndarray]], seed: int) -> None:
        """Trains the model, with problems that `draw` gives."""
        answer = self._ask("learn", Patient({"draw": draw}), learn=self._contest.learn, seed=seed)
        self._fits(answer)

    def weights(self) -> dict[str, np.ndarray]:
        """What the model has learnt: these arrays are counted, and nothing else is kept of it."""
        arrays = self._ask("weights").get("weights")
        return checked(arrays if isinstance(arrays, dict) else {"": arrays}, self._contest, "The model's state dict")

    def load(self, weights: Mapping[str, np.ndarray]) -> None:
        """Gives weights to the fresh model."""
        self._ask("load", weights=dict(weights))

    def logits(self, source: np.ndarray, written: np.ndarray, notation: Notation) -> np.ndarray:
        """(batch, vocab_size): what comes after `written`, to each row of `source`."""
        logits = self._ask("answer", source=source, written=written).get("logits")
        wanted = (len(source), notation.vocab_size)
        if not isinstance(logits, np.ndarray) or logits.shape != wanted or logits.dtype.kind != "f":
            shape = logits.shape if isinstance(logits, np.ndarray) else "no array"
            raise EntryRefused(f"The model's last logits should be {wanted}, one for each id, but are {shape}.")
        if np.isnan(logits).any() or not np.isfinite(logits.max(axis=1)).all():
            raise EntryRefused("The model's logits are not all numbers: there is NaN or infinity among them.")
        return logits

    def _fits(self, answer: Mapping[str, Any]) -> None:
        shapes = answer.get("shapes")
        sizes = [shape for shape in shapes.values() if isinstance(shape, list)] if isinstance(shapes, dict) else []
        most = self._contest.allowance.parameters
        # It may lie: what arrives is counted later. This is to tell honest people early.
        numbers = sum(_product(shape) for shape in sizes)
        if numbers > 2 * most:  # tensors that are shared are told apart later
            raise EntryRefused(f"The model has {numbers:,} parameters, and {most:,} are allowed: make it smaller.")

    def _ask(self, what: str, patient: Patient | None = None, **inputs: Any) -> dict[str, Any]:
        case = Case(what, {"do": what, **inputs}, patient=None if patient is None else lambda: patient)
        bench = Bench([case])
        with self._told(what):
            answers = self._session.probe(Question.of(MODULE, [case]), bench.reply)
            if not answers.messages:
                raise EntryRefused(f"{self._contest.code} hides its own name: it can't be asked.")
            seen: dict[str, Any] = bench.observations(answers.messages)[0]
        _raise_its_own(seen, _WHEN[what])
        return seen

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Says in a sentence why the process had to be stopped."""
        try:
            yield
        except Stopped as stopped:
            raise EntryRefused(_why(stopped.status, _WHEN[what], self._seconds, self._contest)) from None
        except BadMessage:
            raise EntryRefused(_why("crashed", _WHEN[what], self._seconds, self._contest)) from None


@contextlib.contextmanager
def sitting(contest: Contest, setting: Setting, entry: ContestEntry, seconds: float) -> Iterator[Sitting]:
    """A fresh process in which the entry's code has been imported, with this much processor time.

    Raises:
        Refused: when that fails.
        GraderError: when no process starts.
    """
    limits = Limits(
        cell_seconds=_START_SECONDS,
        probe_seconds=seconds,
        cpu_seconds=seconds + _START_SECONDS,
        memory_bytes=contest.allowance.memory_bytes,
        processes=_PROCESSES,
    )
    refused = None
    with Session(setting, limits) as session:
        try:
            _import(session, contest, entry)
            yield Sitting(session, contest, seconds)
        except EntryRefused as error:
            refused = error  # raised in here, it would cost the warm process that the next one needs
    if refused is not None:
        raise refused


def _import(session: Session, contest: Contest, entry: ContestEntry) -> None:
    try:
        session.hand_over({contest.code: entry.code})
        error = session.run(f"import {contest.code.removesuffix('.py')} as {MODULE}")
    except Stopped as stopped:
        raise EntryRefused(_why(stopped.status, "being imported", _START_SECONDS, contest)) from None
    if error is not None:
        _raise_its_own({"error": error}, "being imported")


_WHEN = {
    "describe": "being read",
    "make": "making its model",
    "learn": "training",
    "weights": "handing over its weights",
    "load": "taking its weights back",
    "answer": "answering",
}


def _raise_its_own(seen: Mapping[str, Any], when: str) -> None:
    error = error_in(seen)
    if error is not None:
        reason = f": {error['message']}" if error["message"] else ""
        raise EntryRefused(f"It stopped with {error['type'] or 'an error'} while {when}{reason}")


def _why(status: str, when: str, seconds: float, contest: Contest) -> str:
    if status in ("timeout", "spent"):
        return f"It used up its {seconds:g} seconds of processor time while {when}."
    if status in ("asleep", "slept"):
        return f"It waited for too long, without computing anything, while {when}."
    if status == "memory":
        return f"It needed more than {contest.allowance.memory_bytes // 2**20:,} MB of memory while {when}."
    return f"Its process ended while {when}: it crashed, or sent something that is no answer."


def _product(shape: list[Any]) -> int:
    size = 1
    for length in shape:
        size *= length if isinstance(length, int) and length > 0 else 1
    return size

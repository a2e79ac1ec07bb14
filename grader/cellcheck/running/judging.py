"""The process that judges: what it works on comes from learners, so it is walled in, limited and disposable.

Patients answer here, and answers are put into canonical form, compared and named here. A warm process draws the cases
and sees what is right; for each submission it forks a child, which serves one channel:

- `{"do": "reply", "seconds", "symbol", "public", "place", "message"}`: what the patient of a case answers ->
  `{"reply"}`, the message to pass on, and `"seconds"`, the processor time it took
- `{"do": "verdict", "seconds", "symbol", "public", "messages"}`: judges what a learner's process has answered ->
  `{"verdict"}`, and in `"known"` the mistakes that had to be looked up; `{"refused"}`, a status, where it can't be done

A child that works longer than `seconds` is ended by the kernel, in the middle of whatever it does. What it holds is the
end of one submission's exercise, and nothing that it does reaches the warm process.
"""

import contextlib
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from cellcheck.authoring.patients import Patient
from cellcheck.authoring.spec import Case, Exercise, Observation
from cellcheck.checking.judge import (
    CRASHED,
    MEMORY,
    PUBLIC_SEED,
    AspectResult,
    Evidence,
    Judge,
    Memory,
    Verdict,
    without_score,
)
from cellcheck.running.wire import MAX_MESSAGE, BadMessage, decode, encode, error_in, out_of_memory
from cellcheck.syllabus import load_lesson, load_probes

_KEPT_SEEDS = 4
_MOST_EVIDENCE = 8 * 2**20  # bytes of a verdict; a card shows a few rows


Apart = Callable[[Sequence[Callable[[], Iterable[bytes]]]], list[bytes]]
"""Runs each in a process of its own, side by side where that can be, and returns the messages that they gave."""


class Bench:
    """One exercise of one submission: its patients while they are asked, and then the verdict."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        self._patients: dict[int, Patient] = {}

    def reply(self, place: int, message: bytes) -> tuple[bytes, float]:
        """What the patient of the case at `place` answers to a learner's message, and the processor time it took."""
        begun = time.thread_time()
        try:
            question = decode(message)
            asked = (question.get("ask"), question.get("arguments"))
        except (BadMessage, AttributeError):
            asked = (None, None)
        return encode(self._patient(place).reply(*asked)), time.thread_time() - begun

    def observations(self, messages: Sequence[bytes]) -> list[Observation]:
        """What was seen in each case, as far as it has an observation's form: learners may send anything.

        Raises:
            BadMessage: when one is no message.
        """
        return [self._observation(place, decode(message)) for place, message in enumerate(messages)]

    def _observation(self, place: int, answer: Any) -> Observation:
        if not isinstance(answer, dict):
            return {}
        seen = answer if "error" in answer else answer.get("seen")
        if not isinstance(seen, dict):
            return {}
        if "error" in seen:
            return {"error": error_in(seen) or error_in({"error": {}})}
        return seen if self._cases[place].patient is None else {**seen, **self._patient(place).noted()}

    def _patient(self, place: int) -> Patient:
        """The one of this case: it remembers what it was asked."""
        if place not in self._patients:
            make = self._cases[place].patient
            self._patients[place] = Patient({}) if make is None else make()
        return self._patients[place]


class Judging:
    """The state of the process: made once in the warm one, which prepares seeds; each child goes on from there."""

    def __init__(self, lesson: str) -> None:
        self._exercises = load_lesson(lesson).exercises
        for exercise in self._exercises:  # later no file of the lesson is in sight
            list(exercise.references)
            [mistake.implementation for mistake in exercise.mistakes]
        self._probes = load_probes(lesson)
        self._judges: dict[int, dict[str, Judge]] = {PUBLIC_SEED: {}}
        self._benches: dict[tuple[str, bool], Bench] = {}

    def prepare(self, seed: int, known: Sequence[Sequence[Any]], apart: Apart) -> None:
        """Draws a seed's cases and sees what is right there, before a child is forked for it.

        `known` names mistakes that earlier children had to look up, as a seed, a symbol, the mistake's name and the
        place of a case: later ones find them here. `apart` runs references and mistakes in a process like a child's:
        threads that a gradient may start would not survive the next fork, and a file needs a folder.
        """
        judges = self._judges.pop(seed, {})
        self._judges[seed] = judges  # the one used last is the last
        self._seed = seed
        for old in [other for other in self._judges if other != PUBLIC_SEED][:-_KEPT_SEEDS]:
            del self._judges[old]
        tasks = []
        for each, there in self._judges.items():
            looked_up = [(symbol, mistake, place) for of, symbol, mistake, place in known if of == each]
            if not there or looked_up:
                if not there:
                    there |= {e.symbol: self._drawn(e, each) for e in self._exercises}
                tasks.append(partial(_memories, each, there, looked_up))
        for message in apart(tasks):
            memory = decode(message, MAX_MESSAGE)
            mistakes = {(mistake, place): seen for mistake, place, seen in memory["mistakes"]}
            judge = self._judges[memory["seed"]][memory["symbol"]]
            judge.recall(Memory(memory["references"], memory["right_sizes"], mistakes))

    def _drawn(self, exercise: Exercise, seed: int) -> Judge:
        # Words come from the public cases: what two mistakes do together is looked for there, and only there.
        probe = self._probes[exercise.symbol]
        return Judge(exercise, probe, seed) if seed == PUBLIC_SEED else Judge(exercise, probe, seed, combinations=0)

    def serve(self, descriptor: int) -> None:
        """Answers messages until they end. In a child."""
        channel = Connection(descriptor)
        warnings.simplefilter("ignore")
        while True:
            try:
                message = decode(channel.recv_bytes(), MAX_MESSAGE)
            except EOFError:
                return
            answer = self._reply if message.pop("do") == "reply" else self._verdict
            signal.setitimer(signal.ITIMER_PROF, message.pop("seconds"))
            reply = _packed(answer(**message))
            signal.setitimer(signal.ITIMER_PROF, 0)  # to read the next message is at nobody's expense
            channel.send_bytes(reply)

    def _reply(self, symbol: str, public: bool, place: int, message: np.ndarray) -> dict[str, Any]:
        reply, seconds = self._bench(symbol, public).reply(place, message.tobytes())
        return {"reply": np.frombuffer(reply, np.uint8), "seconds": seconds}

    def _verdict(self, symbol: str, public: bool, messages: list[np.ndarray]) -> dict[str, Any]:
        judge = self._judge(symbol, public)
        before = judge.looked_up
        bench = self._bench(symbol, public)
        del self._benches[symbol, public]
        try:
            observations = bench.observations([message.tobytes() for message in messages])
            verdict = judge.verdict(observations)
        except BadMessage:
            return {"refused": CRASHED}
        except MemoryError:
            return {"refused": MEMORY}
        except Exception as error:
            return {"refused": MEMORY if "allocate memory" in str(error) else CRASHED}
        if verdict.score == 0 and any(out_of_memory(seen.get("error")) for seen in observations):
            message = f"{symbol} asks for more memory than a submission may use."
            verdict = without_score(judge.exercise, MEMORY, message)
        seed = PUBLIC_SEED if public else self._seed
        lookups = [[seed, symbol, *name] for name in judge.looked_up - before]
        return {"verdict": to_tree(verdict), "known": lookups}

    def _judge(self, symbol: str, public: bool) -> Judge:
        return self._judges[PUBLIC_SEED if public else self._seed][symbol]

    def _bench(self, symbol: str, public: bool) -> Bench:
        key = (symbol, public)
        if key not in self._benches:
            self._benches[key] = Bench(self._judge(symbol, public).cases)
        return self._benches[key]


def _memories(seed: int, judges: Mapping[str, Judge], looked_up: Sequence[tuple[str, str, int]]) -> Iterator[bytes]:
    """Sees what references do, or looks mistakes up: a message for each exercise that it concerns."""
    warnings.simplefilter("ignore")  # mistakes divide by zero, and NumPy would say so
    for symbol, mistake, place in looked_up:
        if symbol in judges:
            judges[symbol].look_up(mistake, place)
    for symbol in {symbol for symbol, _, _ in looked_up} & judges.keys() or judges:
        memory = judges[symbol].memory()
        mistakes = [[mistake, place, seen] for (mistake, place), seen in memory.mistakes.items()]
        yield encode({**vars(memory), "seed": seed, "symbol": symbol, "mistakes": mistakes})


def _packed(answer: dict[str, Any]) -> bytes:
    """The answer as it crosses the border. Evidence that is too large to be drawn stays here."""
    with contextlib.suppress(TypeError, ValueError):
        packed = encode(answer)
        if len(packed) <= _MOST_EVIDENCE or "verdict" not in answer:
            return packed
    return encode({**answer, "verdict": {**answer["verdict"], "evidence": None}})


def to_tree(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data."""
    evidence = verdict.evidence
    return {
        **{name: value for name, value in vars(verdict).items() if name not in ("aspects", "evidence")},
        "aspects": [list(vars(aspect).values()) for aspect in verdict.aspects],
        "evidence": None if evidence is None else {**vars(evidence), "beside": dict(evidence.beside)},
    }


def of_tree(tree: Mapping[str, Any], exercise: Exercise) -> Verdict:
    """The verdict that `to_tree` wrote, about this exercise.

    Raises:
        ValueError: when it says what no verdict on this exercise can say.
    """
    aspects = tuple(AspectResult(*aspect) for aspect in tree["aspects"])
    evidence = None if tree["evidence"] is None else Evidence(**tree["evidence"])
    verdict = Verdict(**{**tree, "aspects": aspects, "evidence": evidence})
    names = {aspect.name for aspect in exercise.aspects if aspect.counts}
    if (
        verdict.symbol != exercise.symbol
        or verdict.max_score != exercise.points
        or not 0 <= verdict.score <= exercise.points
        or not names <= {aspect.name for aspect in aspects}
    ):
        raise ValueError(f"no verdict on {exercise.symbol}")
    return verdict

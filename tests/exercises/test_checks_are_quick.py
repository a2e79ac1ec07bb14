"""A check answers at once: at most 0.2 s, or 5 s where something is trained (see the curriculum)."""

from __future__ import annotations

import time

import pytest

from grader.checking.judge import Judge
from grader.exercises import lesson_names, load_lesson
from grader.probes import load_probes

TRAINS = {"train": 2.0}
# The machine that runs this may be shared: the fastest of three counts.
ROUNDS = 3


@pytest.mark.parametrize("lesson", lesson_names())
def test_a_whole_judgement_is_quick(lesson: str) -> None:
    exercises, probes = load_lesson(lesson).exercises, load_probes(lesson)
    slow = {}
    for exercise in exercises:
        seconds = []
        for seed in range(ROUNDS):
            start = time.process_time()
            judge = Judge(exercise, probes[exercise.symbol], seed)
            judge.verdict(judge.observe(exercise.mistakes[0].implementation))
            seconds.append(time.process_time() - start)
        if min(seconds) > TRAINS.get(exercise.symbol, 0.2):
            slow[exercise.symbol] = min(seconds)
    assert slow == {}

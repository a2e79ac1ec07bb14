"""Cases are drawn soon, whatever the seed: a search for inputs that tell answers apart must have something to find."""

import signal
from types import FrameType

import numpy as np
import pytest

from cellcheck.authoring.spec import Exercise
from cellcheck.syllabus import lesson_names, load_lesson
from tests.nightly import later

SECONDS = 20  # of processor time, since a machine may be busy; a search without an end takes longer
EXERCISES = [
    pytest.param(lesson, exercise.symbol, id=f"{lesson[:2]}-{exercise.symbol}")
    for lesson in lesson_names()
    for exercise in load_lesson(lesson).exercises
]


def draws(exercise: Exercise, seed: int) -> bool:
    """Whether the cases of an exercise are there in time."""

    def late(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return bool(exercise.cases(np.random.default_rng(seed)))
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize(("lesson", "symbol"), EXERCISES)
def test_two_more_seeds(lesson: str, symbol: str) -> None:
    exercise = load_lesson(lesson)[symbol]
    assert [seed for seed in (20, 21) if not draws(exercise, seed)] == []


@later
@pytest.mark.parametrize(("lesson", "symbol"), EXERCISES)
def test_forty_seeds(lesson: str, symbol: str) -> None:
    exercise = load_lesson(lesson)[symbol]
    assert [seed for seed in range(100, 140) if not draws(exercise, seed)] == []

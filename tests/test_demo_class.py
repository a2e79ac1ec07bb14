"""The demo's class: whoever makes a mistake in it is told which one."""

import sys

import pytest

from cellcheck.demo.learners import Learner, demo_class
from cellcheck.syllabus import find_lesson, load_lesson
from tests.lessons.marks import judge_of

SLIPS = [(learner, symbol) for learner in demo_class(find_lesson("01")[0]) for symbol in learner.edits]


@pytest.mark.parametrize(("learner", "symbol"), SLIPS, ids=[f"{learner.name}-{symbol}" for learner, symbol in SLIPS])
def test_every_mistake_has_a_name(learner: Learner, symbol: str) -> None:
    reference = load_lesson(learner.lesson)[symbol].references[0]
    place = dict(vars(sys.modules[reference.__module__]))
    exec(learner._answers()[symbol], place)
    judge = judge_of(learner.lesson, symbol, 0)
    verdict = judge.verdict(judge.observe(place[symbol]))
    assert verdict.score < verdict.max_score
    assert verdict.diagnosis

"""What `make test` leaves to `make claims`, which a nightly run starts.

`make test` runs the claims on their first seed, unless they take long. Of a proof that holds for hundreds of answers it
runs a sample, and always the same one: what CI runs is what was run before, and a red run is the change's own fault.
`make claims` runs everything, and `make lesson LESSON=08` everything about one lesson, for whoever changes it.
"""

import random
import re
from collections import defaultdict
from collections.abc import Collection, Sequence

import pytest

from cellcheck.syllabus import find_lesson, lesson_names

later = pytest.mark.later
both_seeds = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=later)])
both_seeds_later = pytest.mark.parametrize("seed", [pytest.param(seed, marks=later) for seed in (0, 1)])
"""For a claim whose model takes more than five processor seconds to train."""

FOUND: Collection[str] = ()
"""Cases of drawn tests in which a night has found something: these run by day, beside the sample. In brackets, as
pytest names them: "08-EncoderLayer-3"."""


def drawn(cases: int) -> pytest.MarkDecorator:
    """Of this test, `make test` runs so many cases."""
    return pytest.mark.drawn(cases)


def by_day(*numbers: str) -> pytest.MarkDecorator:
    """A test of every lesson, which `make test` runs for these: where it shows as much and costs least."""
    lessons = [name if name[:2] in numbers else pytest.param(name, marks=later) for name in lesson_names()]
    return pytest.mark.parametrize("lesson", lessons)


def left_out(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """The tests that `make test` leaves to the night."""
    left = {item for item in items if item.get_closest_marker("later")}
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("drawn") and item not in left:
            tests[item.nodeid.partition("[")[0]].append(item)
    return left.union(*map(_not_drawn, tests.values()))


def _not_drawn(cases: Sequence[pytest.Item]) -> set[pytest.Item]:
    count = cases[0].get_closest_marker("drawn").args[0]
    # By name, so that a new exercise leaves the sample of the others nearly as it was; and by the case alone, so that
    # tests with the same cases draw the same ones, and share what is computed for them.
    order = sorted(cases, key=lambda case: random.Random(_case(case)).random())
    return {case for case in order[count:] if _case(case) not in FOUND}


def _case(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[2].removesuffix("]")


def not_about(items: Sequence[pytest.Item], lesson: str) -> set[pytest.Item]:
    """The tests that are about something else than a lesson, named as people name it: "08"."""
    _, name = find_lesson(lesson)
    folder = re.compile(rf"tests/lessons/lesson_{name[:2]}/")
    return {item for item in items if not folder.match(item.nodeid) and _lesson_of(item) != name}


def _lesson_of(item: pytest.Item) -> object:
    return getattr(item, "callspec", None) and item.callspec.params.get("lesson")  # type: ignore[attr-defined]

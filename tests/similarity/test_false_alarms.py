"""How often honest learners are listed, and copies are not. The guide gives these numbers."""

import re
from itertools import combinations
from pathlib import Path

import pytest

from cellcheck.similarity.alike import Pair, alike
from cellcheck.syllabus import lesson_names
from tests.nightly import later
from tests.similarity.honest import honest_class, known, renamed

GUIDE = (Path(__file__).parents[2] / "docs" / "instructors.md").read_text("utf-8")
CLASSES = 10


def pairs_of(lesson: str, seed: int) -> tuple[int, list[Pair]]:
    """How many pairs an honest class has, and those that are alike in anything."""
    written = honest_class(lesson, seed)
    return len(list(combinations(written, 2))), alike(written, known(lesson))


def copy_of(lesson: str, seed: int) -> Pair | None:
    """A learner's notebook and the same with other names."""
    first = honest_class(lesson, seed)["learner 0"]
    return next(iter(alike({"ada": first, "bob": renamed(first, lesson)}, known(lesson))), None)


@pytest.mark.parametrize("lesson", ["05_causal_masks"])
def test_honest_learners_are_not_listed_and_copies_are(lesson: str) -> None:
    count, pairs = pairs_of(lesson, 0)
    assert count == 6
    assert not [pair.students for pair in pairs if pair.listed]
    copied = copy_of(lesson, 0)
    assert copied.listed


@later
def test_the_numbers_in_the_guide() -> None:
    counts, shares, listed, copies = 0, [], 0, []
    for lesson in lesson_names():
        for seed in range(CLASSES):
            count, pairs = pairs_of(lesson, seed)
            counts += count
            shares += [pair.share for pair in pairs]
            listed += sum(pair.listed for pair in pairs)
        copies += [copy_of(lesson, seed) for seed in range(2)]
    told = re.search(
        r"Of ([\d,]+) pairs of honest notebooks, (\d+) (?:is|are|were) listed; the most alike of them share (\d+) %\. "
        r"Of (\d+) copies with new names, (\d+) (?:is|are|were) listed; the least alike share (\d+) %\.",
        " ".join(GUIDE.split()),
    )
    assert [float(number.replace(",", "")) for number in told.groups()] == [
        counts,
        listed,
        round(100 * max(shares)),
        len(copies),
        sum(pair is not None and pair.listed for pair in copies),
        round(100 * min(pair.share if pair else 0.0 for pair in copies)),
    ]

"""What `make test` leaves to the night, and what belongs to a lesson."""

import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cellcheck.syllabus import lesson_names
from tests import nightly
from tests.nightly import drawn, later, left_out, not_about

FILE = "tests/test_any.py"
ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


@dataclass(eq=False)
class Case:
    """What is asked of a pytest item."""

    test: str
    lesson: str
    marker: pytest.MarkDecorator | None = None
    file: str = FILE

    @property
    def nodeid(self) -> str:
        return f"{self.file}::{self.test}[{self.lesson}]"

    @property
    def callspec(self) -> SimpleNamespace:
        return SimpleNamespace(params={"lesson": self.lesson})

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marker.mark if self.marker and self.marker.name == name else None


def cases(test: str, count: int, marker: pytest.MarkDecorator | None = None) -> list[Any]:
    return [Case(test, str(number), marker) for number in range(count)]


def by_day(test: str, items: list[Any]) -> set[str]:
    """The lessons whose cases of a test `make test` runs."""
    left = left_out(items)
    return {item.lesson for item in items if item.test == test and item not in left}


def test_the_sample_is_always_the_same() -> None:
    items = [*cases("test_one", 20, drawn(3)), *cases("test_other", 20, drawn(3))]
    sample = by_day("test_one", items)
    assert len(sample) == 3
    assert by_day("test_one", items[::-1]) == sample
    assert by_day("test_other", items) == sample  # so what is computed for one serves the other


def test_a_new_case_changes_at_most_one_of_the_sample() -> None:
    before, after = (by_day("test_one", cases("test_one", count, drawn(5))) for count in (40, 41))
    assert len(before - after) <= 1


def test_what_a_night_has_found_is_run_by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    items = cases("test_one", 20, drawn(3))
    lesson = sorted({item.lesson for item in items} - by_day("test_one", items))[0]
    monkeypatch.setattr(nightly, "FOUND", (lesson,))
    assert lesson in by_day("test_one", items)
    assert len(by_day("test_one", items)) == 4


def test_few_cases_all_run_and_what_is_for_later_does_not() -> None:
    items = [*cases("test_few", 4, drawn(30)), *cases("test_later", 4, later), *cases("test_always", 4)]
    assert len(by_day("test_few", items)) == 4
    assert by_day("test_later", items) == set()
    assert len(by_day("test_always", items)) == 4


def test_a_lessons_own_tests_and_its_cases_of_others_are_about_it() -> None:
    first, second, *_ = lesson_names()
    own, others = (f"tests/lessons/lesson_{name[:2]}/test_claims.py" for name in (first, second))
    about = [Case("test_a", "0", file=own), Case("test_b", first)]
    items: list[Any] = [*about, Case("test_a", "0", file=others), Case("test_b", second), Case("test_c", "x")]
    assert {*items} - not_about(items, first[:2]) == {*about}


def test_the_night_runs_all_that_is_left_to_it() -> None:
    listed = tuple(re.findall(r"tests/[\w/.]+", MAKEFILE.partition("\nclaims:")[2].partition("\n\n")[0]))
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text("utf-8")
        if ("from tests.nightly import" in text or 'getoption("--long")' in text) and path.stem != "test_nightly":
            assert name.startswith(listed), name

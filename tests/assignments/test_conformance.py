"""nbgrader's own notebooks: we give what nbgrader gives, or the table says why not."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.assignments.conformance import TABLE, Case, cases, lines_of, recorded
from tests.nightly import drawn

PAGE = Path(__file__).parents[2] / "docs" / "assignments.md"


def test_the_table_has_a_line_for_all_that_is_handed_in() -> None:
    lines = [(line.notebook, line.handed_in) for line in recorded()]
    assert lines == [
        (case.name, learner) for case in cases() for learner in sorted(["source", "released", *case.changed])
    ]


def test_every_difference_has_a_reason_and_nothing_else_has() -> None:
    for line in recorded():
        assert line.agrees != bool(line.why), line


def test_what_is_refused_is_refused_in_a_sentence_that_says_what_to_do() -> None:
    for line in recorded():
        if line.ours.startswith("isn't"):
            sentences = line.ours.partition(": ")[2]
            assert re.search(r"\b(Give|Mark|Change|update|Install)\b", sentences), line
            assert sentences.endswith("."), line
            assert not re.search(r"itself failed|Traceback|Error\b", sentences), line


@drawn(3)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_table_says_what_both_give(case: Case) -> None:
    there = [replace(line, why="") for line in recorded() if line.notebook == case.name]
    assert list(lines_of(case, {})) == there, f"run: python -m tests.assignments.conformance, and look at {TABLE.name}"


def test_the_page_says_how_many_there_are() -> None:
    agree = [line.agrees for line in recorded()]
    page = " ".join(PAGE.read_text("utf-8").split())
    assert f"were handed in {len(agree)} times: {sum(agree)} times both said the same" in page

"""What every lesson's text keeps to: claims that are measured, hints, and a sitting that fits an evening."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from grader.repository import Repository
from grader.syllabus import load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
every_lesson = pytest.mark.parametrize("lesson", REPOSITORY.names())

HEADING = re.compile(r"^# ### Exercise: `(\w+)` · (\w+) · difficulty (\d) · (\d+) minutes$", re.MULTILINE)


def text_of(lesson: str) -> str:
    return REPOSITORY.text(lesson).read_text("utf-8")


@every_lesson
def test_every_claim_has_its_test_and_every_test_its_claim(lesson: str) -> None:
    claims = re.findall(r"<!-- claim: (\w+) -->", text_of(lesson))
    assert len(claims) == len(set(claims))
    module = ast.parse(
        (REPOSITORY.root / "tests" / "lessons" / f"lesson_{lesson[:2]}" / "test_claims.py").read_text("utf-8")
    )
    tests = [
        node.name.removeprefix("test_")
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert sorted(claims) == sorted(tests)
    assert claims


@every_lesson
def test_every_sentence_of_what_you_should_see_is_a_claim(lesson: str) -> None:
    for part in text_of(lesson).split("**What you should see**")[1:]:
        lines = [line for line in part.split("# %%")[0].splitlines() if line.startswith("# - ")]
        items = re.split(r"^# - ", part.split("# %%")[0], flags=re.MULTILINE)[1:]
        assert lines
        for item in items:
            bullet = item.split("\n#\n")[0]
            assert re.search(r"<!-- claim: \w+ -->\s*$", bullet), bullet


@every_lesson
def test_every_exercise_has_its_heading_in_the_order_of_the_catalogue(lesson: str) -> None:
    headings = HEADING.findall(text_of(lesson))
    assert [symbol for symbol, *_ in headings] == [exercise.symbol for exercise in load_lesson(lesson).exercises]
    assert text_of(lesson).count("# ### Exercise:") == len(headings)
    assert {kind for _, kind, *_ in headings} <= {"core", "stretch"}
    assert all(1 <= int(difficulty) <= 5 for *_, difficulty, _ in headings)


def first_sitting_is_too_long(text: str) -> bool:
    """More than 8 core exercises, or more than 120 minutes of them, before the marked break or the end."""
    sitting = re.split(r"^# ## Time for a break", text, flags=re.MULTILINE)[0]
    core = [int(minutes) for _, kind, _, minutes in HEADING.findall(sitting) if kind == "core"]
    return len(core) > 8 or sum(core) > 120


@every_lesson
def test_the_feedback_page_calls_it_as_the_notebook_does(lesson: str) -> None:
    assert f"# # Lesson {int(lesson[:2])} · {load_lesson(lesson).title}\n" in text_of(lesson)


@every_lesson
def test_choices_stand_in_lines_of_their_own(lesson: str) -> None:
    assert not re.search(r"^# 1\. .* 2\. ", text_of(lesson), re.MULTILINE)


@every_lesson
def test_a_sitting_fits_an_evening(lesson: str) -> None:
    parts = re.split(r"^# ## Time for a break", text_of(lesson), flags=re.MULTILINE)
    assert not any(first_sitting_is_too_long(part) for part in parts)
    assert first_sitting_is_too_long("# ### Exercise: `a` · core · difficulty 1 · 121 minutes\n")
    assert first_sitting_is_too_long("# ### Exercise: `a` · core · difficulty 1 · 5 minutes\n" * 9)


@every_lesson
def test_every_exercise_has_three_hints_and_its_cell(lesson: str) -> None:
    text = text_of(lesson)
    places = [match.start() for match in HEADING.finditer(text)]
    for start, end in zip(places, [*places[1:], len(text)], strict=True):
        before_the_cell, cell, _ = text[start:end].partition("# %% exercise=")
        assert cell
        assert re.findall(r"<summary>(Hint \d)</summary>", before_the_cell) == ["Hint 1", "Hint 2", "Hint 3"]
        assert before_the_cell.count("<details>") == before_the_cell.count("</details>")


@every_lesson
def test_a_text_holds_one_set_up_cell_one_badge_and_one_question_to_explain(lesson: str) -> None:
    text = text_of(lesson)
    assert len(re.findall(r"^# %% setup=true$", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^# %% \[markdown\] explain=true$", text, re.MULTILINE)) == 1
    assert text.count("COLAB_BADGE") == 1

"""What every lesson's text keeps to: claims that are measured, hints, and a sitting that fits an evening."""

import ast
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from cellcheck.gradebook.feedback import failure_page
from cellcheck.publishing.lesson_pages import GUESS
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
every_lesson = pytest.mark.parametrize("lesson", REPOSITORY.names())

EXERCISE = re.compile(
    r'^# %% \[markdown\] exercise="(\w+)" kind="(core|stretch)" difficulty=([1-5]) minutes=(\d+)$', re.MULTILINE
)
BREAK = re.compile(r"^# ## Time for (?:a|another) break", re.MULTILINE)


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
            bullet = item.split("\n#\n")[0].split("\n# </details>")[0]
            assert re.search(r"<!-- claim: \w+ -->\s*$", bullet), bullet


@every_lesson
def test_what_answers_a_guess_is_folded(lesson: str) -> None:
    """Whoever scrolls on reads the question first, and guesses."""
    cells = re.split(r"^# %%", text_of(lesson), flags=re.MULTILINE)
    for asks, answers in pairwise(cells):
        before, answer, _ = answers.partition("**What you should see**")
        if GUESS.search(asks) and answer:
            assert before.count("<details>") > before.count("</details>"), asks[:200]


COURSE_WIDE = (
    "**How to check.** Replace the line `raise NotImplementedError()` with your own code, and run the cell. "
    "Then run the `check` cell below it, as often as you like. It tells you what is right and what isn't.",
    "One exercise should not keep you from the rest of the lesson: below its last hint is a line that lets you go on "
    "with our version.",
    "**How to submit.** Save the notebook and hand it in the way your class does. "
    "Working on your own? The checks are all you need.",
    "Fewer? Read the linked pages first, then come back.",
    "Run the next cell first: it loads the tools",
    "## How good were your guesses? Here are your guesses next to what happened",
    "## Recap Answer from memory, then check.",
)


@every_lesson
def test_what_each_lesson_says_it_says_in_the_same_words(lesson: str) -> None:
    text = text_of(lesson)
    prose = " ".join(re.sub(r"^# ?", "", text, flags=re.MULTILINE).split())
    assert [prose.count(words) for words in COURSE_WIDE] == [1] * len(COURSE_WIDE)
    opened = re.findall(r"<summary>([^<]*(?:[Oo]pen|[Rr]an|[Rr]un the)[^<]*)</summary>", text)
    assert {re.sub(r" \(with `\w+` installed\)$", "", words).rstrip("s") for words in opened} == {
        "Open this once you have run the cell"
    }
    assert set(re.findall(r"\*\*(What you\b.*?)[.,]?\*\*", prose)) == {"What you've built", "What you should see"}


@every_lesson
def test_every_cell_that_asks_for_a_guess_is_known_as_one(lesson: str) -> None:
    """Two guesses in a line count, too: what gives a guess away is told by that line."""
    notebook = json.loads(REPOSITORY.notebook(lesson).read_text("utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    asking = [cell for cell in cells if GUESS.search(cell)]
    assert asking
    assert asking == [cell for cell in cells if _guessed(cell)]


def _guessed(source: str) -> bool:
    """Whether a cell sets a guess to None, in whatever way."""
    assigned = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign)]
    names = [name.id for node in assigned for t in node.targets for name in ast.walk(t) if isinstance(name, ast.Name)]
    nothing = any(
        isinstance(value, ast.Constant) and value.value is None for node in assigned for value in ast.walk(node)
    )
    return nothing and any(name.startswith("guess_") for name in names)


@every_lesson
def test_the_answer_to_a_question_does_not_look_like_the_exercises(lesson: str) -> None:
    for cell in re.split(r"^(?=# %%)", text_of(lesson), flags=re.MULTILINE):
        if EXERCISE.match(cell):
            assert "<summary>Answer</summary>" not in cell


@every_lesson
def test_every_exercise_is_announced_and_has_its_heading_in_the_notebook(lesson: str) -> None:
    announced = REPOSITORY.announced(lesson)
    assert [(e.symbol, e.kind, str(e.difficulty), str(e.minutes)) for e in announced] == EXERCISE.findall(
        text_of(lesson)
    )
    assert [each.symbol for each in announced] == [exercise.symbol for exercise in load_lesson(lesson).exercises]
    assert "### Exercise" not in text_of(lesson)
    cells = json.loads(REPOSITORY.notebook(lesson).read_text("utf-8"))["cells"]
    above = {
        below["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell, below in pairwise(cells)
        if below["cell_type"] == "code" and below["metadata"].get("nbgrader", {}).get("solution")
    }
    assert list(above) == [each.symbol for each in announced]
    for each in announced:
        heading = f"### Exercise: `{each.symbol}` · {each.kind} · difficulty {each.difficulty} · {each.minutes} minutes"
        assert above[each.symbol].startswith(f"{heading}\n\n")


@every_lesson
def test_the_notebook_says_what_the_head_says(lesson: str) -> None:
    head = REPOSITORY.head(lesson)
    cells = json.loads(REPOSITORY.notebook(lesson).read_text("utf-8"))["cells"]
    opening, test, *_ = ("".join(cell["source"]) for cell in cells)
    assert opening.startswith(f"# Lesson {int(lesson[:2])} · {head.title}\n\n")
    gives = "\n".join(f"- {line}" for line in head.gives)
    assert f"\n\n**What you will be able to do**\n\n{gives}\n\nIn Colab: [open this lesson](https://colab." in opening
    assert f".\n\n**Time.** {head.time}." in opening
    assert test.startswith("## A two-minute test\n\nThis lesson builds on ")
    assert all(f"(../{name}/{name}.ipynb)" in test for name in head.lessons)


@every_lesson
def test_between_two_sittings_there_is_a_break(lesson: str) -> None:
    assert len(BREAK.findall(text_of(lesson))) == len(REPOSITORY.head(lesson).sittings) - 1


def first_sitting_is_too_long(text: str) -> bool:
    """More than 8 core exercises, or more than 120 minutes of them, before the marked break or the end."""
    core = [int(minutes) for _, kind, _, minutes in EXERCISE.findall(BREAK.split(text)[0]) if kind == "core"]
    return len(core) > 8 or sum(core) > 120


@every_lesson
def test_the_feedback_page_calls_it_as_the_notebook_does(lesson: str) -> None:
    notebook = REPOSITORY.notebook(lesson).read_text("utf-8")
    title = failure_page(lesson, "somebody", "").partition("<title>")[2].partition("<")[0]
    assert title.startswith(f"Lesson {int(lesson[:2])}: ")
    assert f'"# {title.replace(":", " ·", 1)}\\n"' in notebook


@every_lesson
def test_choices_stand_in_lines_of_their_own(lesson: str) -> None:
    assert not re.search(r"^# 1\. .* 2\. ", text_of(lesson), re.MULTILINE)


@every_lesson
def test_a_sitting_fits_an_evening(lesson: str) -> None:
    assert not any(first_sitting_is_too_long(part) for part in BREAK.split(text_of(lesson)))
    mark = '# %% [markdown] exercise="a" kind="core" difficulty=1 minutes='
    assert first_sitting_is_too_long(f"{mark}121\n")
    assert first_sitting_is_too_long(f"{mark}5\n" * 9)


@every_lesson
def test_a_text_holds_one_set_up_cell_and_one_question_to_explain(lesson: str) -> None:
    text = text_of(lesson)
    assert len(re.findall(r"^# %% setup=true$", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^# %% \[markdown\] explain=true$", text, re.MULTILINE)) == 1


SCREEN = 12
"""Lines of code that leave room for the result below them, at 1440 x 900."""


def experiments_of(lesson: str) -> list[str]:
    """The cells that a learner runs and doesn't write, but for the set-up cell and the last board of guesses."""
    cells = json.loads(REPOSITORY.notebook(lesson).read_text("utf-8"))["cells"]
    own = [cell for cell in cells if cell["cell_type"] == "code" and "nbgrader" not in cell["metadata"]]
    sources = ["".join(cell["source"]) for cell in own]
    return [source for source in sources if "board(" not in source]


@every_lesson
def test_the_result_of_an_experiment_is_on_the_screen(lesson: str) -> None:
    long = [source for source in experiments_of(lesson) if sum(map(bool, map(str.strip, source.splitlines()))) > SCREEN]
    assert long == []

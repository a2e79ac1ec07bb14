"""Hints in the notebook: each stands inside the one before."""

import json
import re
from pathlib import Path

import pytest

from cellcheck.building.hints import GO_ON, one_at_a_time, with_a_way_on
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)


def hint(number: int, text: str = "Which axis?") -> str:
    return f"<details><summary>Hint {number}</summary>\n\n{text}\n</details>\n"


def depths(markdown: str) -> list[tuple[str, int]]:
    """Each summary, and how many `<details>` it stands in; every one is closed."""
    depth, summaries = 0, []
    for close, summary in re.findall(r"(</details>)|<details><summary>(.*?)</summary>", markdown):
        depth += -1 if close else 1
        assert depth >= 0
        if summary:
            summaries.append((summary, depth))
    assert depth == 0
    return summaries


def test_each_stands_inside_the_one_before() -> None:
    nested = one_at_a_time("Before.\n\n" + hint(1) + hint(2) + hint(3, "`a`\n\n- b") + "\nDocs: here.")
    assert depths(nested) == [("Hint 1", 1), ("Hint 2", 2), ("Hint 3", 3)]
    assert nested.startswith("Before.\n\n<details><summary>Hint 1</summary>\n\nWhich axis?\n\n<details>")
    assert nested.endswith("`a`\n\n- b\n</details>\n</details>\n</details>\n\n<br>\n\nDocs: here.")


def test_what_is_no_hint_stays_as_it_is() -> None:
    answer = "<details><summary>Answer</summary>\n\n`(3,)`.\n</details>\n"
    for text in ("No hint.", answer, answer + answer, hint(1)):
        assert one_at_a_time(text) == text
    assert depths(one_at_a_time(answer + hint(1) + hint(2) + "\nText.\n\n" + hint(1) + hint(2) + answer)) == [
        ("Answer", 1),
        ("Hint 1", 1),
        ("Hint 2", 2),
        ("Hint 1", 1),
        ("Hint 2", 2),
        ("Answer", 1),
    ]


@pytest.mark.parametrize("lesson", REPOSITORY.names())
def test_in_every_notebook_they_unfold_one_at_a_time(lesson: str) -> None:
    cells = json.loads(REPOSITORY.notebook(lesson).read_text("utf-8"))["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    hints = [summary for text in prose for summary in depths(text) if summary[0].startswith("Hint")]
    exercises = load_lesson(lesson).exercises
    assert hints == [("Hint 1", 1), ("Hint 2", 2), ("Hint 3", 3)] * len(exercises)
    ways_on = [summary for text in prose for summary in depths(text) if summary[0] == GO_ON]
    assert ways_on == [(GO_ON, 4)] * len(exercises)
    for exercise in exercises:
        assert any(f"from {exercise.references[0].__module__} import {exercise.symbol}\n" in text for text in prose)


def test_the_way_on_stands_below_the_last_hint() -> None:
    line = "from ours import one"
    text = one_at_a_time(with_a_way_on("Why.\n\n" + hint(1) + hint(2) + "\nDocs: here.\n\n", line))
    assert depths(text) == [("Hint 1", 1), ("Hint 2", 2), (GO_ON, 3)]
    assert text.index(line) < text.index("Docs: here.")
    alone = one_at_a_time(with_a_way_on("No hint.", line))
    assert depths(alone) == [(GO_ON, 1)]
    assert alone.index("No hint.") < alone.index(line)

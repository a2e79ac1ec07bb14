"""The class's report on trying again: who solved it first, who tried again, who solved it without help."""

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from cellcheck.checking.judge import MISSING, PASSED, without_score
from cellcheck.learning.assistants import FILE, greet
from cellcheck.reporting.second_time import second_time_table
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson

LESSON = load_lesson("05_causal_masks")


def result(**statuses: str) -> Result:
    verdicts = tuple(
        replace(without_score(exercise, MISSING, ""), status=statuses.get(exercise.symbol, MISSING))
        for exercise in LESSON.exercises
    )
    return Result("", LESSON.name, verdicts, (), 0.0)


def test_both_times_stand_side_by_side() -> None:
    first = {
        "ada": result(causal_mask=PASSED, decoder_mask=PASSED),
        "bo": result(causal_mask=PASSED),
        "cy": result(causal_mask="failed"),
    }
    second = {"ada": [result(causal_mask=PASSED), result(decoder_mask="failed")], "bo": [result(causal_mask="partial")]}
    console = Console(width=100)
    with console.capture() as output:
        console.print(second_time_table(first, second))
    rows = [line.split() for line in output.get().splitlines()]
    assert ["causal_mask", "2", "2", "1"] in rows
    assert ["decoder_mask", "1", "1", "0"] in rows
    assert not [row for row in rows if row and row[0] == "future_leak"]


def test_the_word_to_the_assistant_says_where_the_answers_are(tmp_path: Path) -> None:
    path = greet(tmp_path)
    assert path == tmp_path / FILE
    text = path.read_text("utf-8")
    for rule in (
        "Ask for a guess first",
        "One hint at a time",
        "Never open the course's answers",
        "End with a question",
    ):
        assert rule in text
    assert "They are not hidden" in text
    assert greet(tmp_path / "nowhere") is None
    elsewhere = tmp_path / "a"
    elsewhere.mkdir()
    (elsewhere / FILE).symlink_to(tmp_path / "outside.md")  # nothing is written through a link
    greet(elsewhere)
    assert not (tmp_path / "outside.md").exists()

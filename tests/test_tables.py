"""The terminal's tables in a narrow window: no name is broken."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from cellcheck.checking.judge import FAILED, without_score
from cellcheck.running.result import Result
from cellcheck.syllabus import lesson_names, load_lesson
from cellcheck.tables import Summary


@pytest.mark.parametrize("name", lesson_names())
def test_an_exercise_and_its_numbers_stand_in_one_line_of_eighty_columns(name: str) -> None:
    lesson = load_lesson(name)
    verdicts = tuple(
        replace(without_score(each, FAILED, "Not yet."), diagnosis=each.mistakes[0].name) for each in lesson.exercises
    )
    window = Console(width=80, file=io.StringIO())
    window.print(Summary.of([Result("a.ipynb", name, verdicts, (), 0.0)]).table())
    lines = window.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for each in lesson.exercises:
        assert any(line.split()[:2] == [each.symbol, "1"] for line in lines), each.symbol

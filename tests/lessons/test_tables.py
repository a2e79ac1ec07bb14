"""The long tables: each says which command made it, and is found by its lesson's number and its name."""

from pathlib import Path

import pytest

from tests.lessons.tables import LESSONS
from transformer_course.lessons.tables import measured

TABLES = sorted(LESSONS.glob("lesson_*/tables/*.csv"))


@pytest.mark.parametrize("path", TABLES, ids=[f"{path.parts[-3]}-{path.stem}" for path in TABLES])
def test_every_table_says_how_it_was_measured(path: Path) -> None:
    place = f"tests/lessons/{path.parts[-3]}/long/test_{path.stem}.py"
    assert path.read_text("utf-8").startswith(f"# Measured by: make claims ({place})\n")
    assert (LESSONS.parents[1] / place).is_file()
    assert len(measured(f"{path.parts[-3].removeprefix('lesson_')}_{path.stem}")) > 1


def test_there_are_tables() -> None:
    assert len(TABLES) >= 7

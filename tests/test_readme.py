"""What the README shows is what the programs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.audit.audit import FLOORS, LESSON_FLOORS
from grader.checking.cards import plain
from grader.checking.notebook import Checker
from grader.syllabus import lesson_names, load_lesson

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_check_it_shows_is_a_real_one() -> None:
    check = Checker("01")
    (mistake,) = [m for m in check.lesson["mse_loss"].mistakes if m.name == "sum_not_mean"]
    assert plain(check.verdict("mse_loss", mistake.implementation)) in README


@pytest.mark.parametrize("name", lesson_names())
def test_every_lesson_and_its_audit_stand_in_it(name: str) -> None:
    assert f"](notebooks/{name}/{name}.ipynb)" in README
    mistakes = sum(len(exercise.mistakes) for exercise in load_lesson(name).exercises)
    variants = sum(len(exercise.variants) for exercise in load_lesson(name).exercises)
    row = next(line for line in README.splitlines() if line.startswith(f"| {name} |"))
    caught, diagnosed, second_slip, misnamed, accepted, mutants = (cell.strip() for cell in row.split("|")[2:8])
    assert (caught, diagnosed, accepted) == (f"{mistakes} / {mistakes}",) * 2 + (f"{variants} / {variants}",)
    for cell, floor in ((second_slip, LESSON_FLOORS["second_slip"]), (mutants, FLOORS["mutants"])):
        hit, total = map(int, cell.split(" / "))
        assert hit >= floor * total > 0
    false, total = map(int, misnamed.split(" / "))
    assert false <= (1 - LESSON_FLOORS["not_misnamed"]) * total

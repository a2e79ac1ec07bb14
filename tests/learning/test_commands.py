"""`cellcheck progress` and `cellcheck reset`, as a learner types them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from cellcheck.learning import progress
from cellcheck.learning.offers import offers
from tests.learning.learners import LESSON, answer, cells, own
from tests.shell import Run as Grader

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(grader: Grader) -> Run:
    def typed(*arguments: str | Path) -> tuple[int, str]:
        ran = grader(*arguments)
        return ran.code, ran.out + ran.err

    return typed


def test_progress_is_shown_for_the_folder_one_is_in(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(tmp_path, LESSON)
    progress.remember(tmp_path, LESSON, "batched_dot", 2.0)
    for folder in (tmp_path, tmp_path / LESSON, tmp_path.parent):
        monkeypatch.chdir(folder)
        code, output = run("progress", *([tmp_path] if folder == tmp_path.parent else []))
        assert code == 0
        assert "1/13    2/24  #...........  pick" in output
        assert "not in this folder" in " ".join(output.split())
        exercises, points = sum(len(offer.exercises) for offer in offers()), sum(offer.points for offer in offers())
        assert f"1 of {exercises} exercises, 2 of {points:g} points, in" in output.replace("\n", " ")


def test_no_name_is_broken_in_a_narrow_terminal(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson, first = max(((offer.name, offer.exercises[0].symbol) for offer in offers()), key=lambda one: len(one[1]))
    own(tmp_path, lesson)
    monkeypatch.setattr("cellcheck.cli.learning.out", Console(width=80))
    _, output = run("progress", tmp_path)
    assert any(line.startswith(lesson) and line.endswith(first) for line in map(str.rstrip, output.splitlines()))
    assert "...." not in output  # there is no room for bars


def test_a_folder_without_lessons(run: Run, tmp_path: Path) -> None:
    code, output = run("progress", tmp_path)
    assert code == 2
    assert output.startswith(f"There is no lesson in {tmp_path}: ")


def test_reset_says_where_the_old_answers_are(run: Run, tmp_path: Path) -> None:
    path = own(tmp_path, LESSON)
    answer(path, pick="def pick(values, index): ...", batched_dot="def batched_dot(a, b): ...")
    code, output = run("reset", path, "--exercise", "pick")
    assert code == 0
    (earlier,) = (path.parent / "earlier").iterdir()
    assert output.splitlines()[:2] == [f"pick is blank again in {path}", f"What was there is in {earlier}"]
    assert "raise NotImplementedError" in "".join(cells(path)["pick"]["source"])
    code, output = run("reset", path)
    assert output.startswith(f"Blank again: {path}\n")
    assert "raise NotImplementedError" in "".join(cells(path)["batched_dot"]["source"])

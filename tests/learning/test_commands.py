"""`grader progress` and `grader reset`, as a learner types them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.learning import progress
from grader.learning.lessons import offers
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
        code, said = run("progress", *([tmp_path] if folder == tmp_path.parent else []))
        assert code == 0
        assert "1 of 13  2 / 24  #...........  pick" in said
        exercises, points = sum(len(offer.exercises) for offer in offers()), sum(offer.points for offer in offers())
        assert f"1 of {exercises} exercises, 2 of {points:g} points, in" in said.replace("\n", " ")


def test_a_folder_without_lessons(run: Run, tmp_path: Path) -> None:
    code, said = run("progress", tmp_path)
    assert code == 2
    assert said.startswith(f"There is no lesson in {tmp_path}: ")


def test_reset_says_where_the_old_answers_are(run: Run, tmp_path: Path) -> None:
    path = own(tmp_path, LESSON)
    answer(path, pick="def pick(values, index): ...", batched_dot="def batched_dot(a, b): ...")
    code, said = run("reset", path, "--exercise", "pick")
    assert code == 0
    (kept,) = (path.parent / "earlier").iterdir()
    assert said.splitlines()[:2] == [f"pick is blank again in {path}", f"What was there is in {kept}"]
    assert "raise NotImplementedError" in "".join(cells(path)["pick"]["source"])
    code, said = run("reset", path)
    assert said.startswith(f"Blank again: {path}\n")
    assert "raise NotImplementedError" in "".join(cells(path)["batched_dot"]["source"])


def test_what_can_not_be_reset_is_said_in_one_sentence(run: Run, tmp_path: Path) -> None:
    path = own(tmp_path, LESSON)
    code, said = run("reset", path, "--exercise", "nonsense")
    assert code == 2
    assert said.startswith("There is no exercise nonsense in 01_pytorch_basics.")
    assert len(said.strip().splitlines()) == 1

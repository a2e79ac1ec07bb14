"""What the course offers, and where a learner stands with it."""

import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from cellcheck.errors import GraderError
from cellcheck.learning import offers as lessons
from cellcheck.learning import progress
from cellcheck.learning.offers import offers, released
from cellcheck.learning.standing import LessonStanding, course_folder, next_up, passed_over, standings
from cellcheck.syllabus import Syllabus, find_lesson, lesson_names, load_lesson
from tests.learning.learners import LESSON, own


@pytest.mark.parametrize("name", lesson_names())
def test_every_lesson_says_what_it_offers(name: str) -> None:
    (offer,) = [offer for offer in offers() if offer.name == name]
    lesson = load_lesson(name)
    assert offer.number == int(name[:2])
    assert {exercise.symbol: exercise.points for exercise in offer.exercises} == {
        exercise.symbol: exercise.points for exercise in lesson.exercises
    }
    assert [exercise.symbol for exercise in offer.exercises] == [exercise.symbol for exercise in lesson.exercises]
    assert len(offer.gives) >= 3
    assert "minutes" in offer.head.time
    assert offer.builds_on
    assert offer.title
    texts = [offer.title, offer.head.time, offer.builds_on, *offer.gives]
    assert not any(mark in text for text in texts for mark in ("](", "`", "**", "\n"))


def test_they_are_found_without_torch_and_without_nbgrader() -> None:
    code = (
        "import sys; sys.modules.update(torch=None, nbgrader=None, rich=None)\n"
        "from cellcheck.learning.standing import standings; import cellcheck.learning.reset\n"
        "from pathlib import Path; print(len(standings(Path('.'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout.strip() == str(len(lesson_names())), done.stderr


def test_an_installed_course_has_them_in_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "packages" / "some_course" / "lessons"
    shutil.copytree(find_lesson(LESSON)[0].folder, shelf, ignore=shutil.ignore_patterns("__pycache__"))
    (shelf.parent / "__init__.py").touch()
    monkeypatch.setattr(lessons, "syllabi", lambda: (Syllabus(shelf, "some-course"),))
    with pytest.raises(GraderError, match="The course's notebooks are missing"):
        released()
    notebook = shelf.parent / "notebooks" / LESSON / f"{LESSON}.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.touch()
    assert released() == {LESSON: notebook}


def standing(folder: Path, lesson: str) -> LessonStanding:
    return next(standing for standing in standings(folder) if standing.offer.name == lesson)


def test_where_a_learner_stands(tmp_path: Path) -> None:
    own(tmp_path, LESSON, "05_causal_masks")
    fresh = standing(tmp_path, LESSON)
    assert (fresh.done, fresh.points, fresh.begun) == (0, 0, False)
    progress.remember(tmp_path, LESSON, "batched_dot", 2.0)
    progress.remember(tmp_path, LESSON, "mlp_predict_numpy", 1.5)  # of 2
    progress.remember(tmp_path, LESSON, "pick", 9.0)  # of 1: the course was another one then
    progress.remember(tmp_path, LESSON, "no longer asked", 1.0)
    begun = standing(tmp_path, LESSON)
    assert (begun.done, begun.points, begun.begun) == (2, 4.5, True)
    assert begun.next.symbol == "mlp_predict_numpy"
    assert standing(tmp_path, "02_tokenizer").notebook is None


def test_what_is_begun_is_what_to_go_on_with(tmp_path: Path) -> None:
    own(tmp_path, LESSON, "05_causal_masks")

    def chosen() -> str | None:
        place = next_up(standings(tmp_path))
        return place.offer.name if place else None

    assert chosen() == LESSON
    progress.remember(tmp_path, "05_causal_masks", "future_leak", 3.0)
    assert chosen() == "05_causal_masks"
    for exercise in load_lesson("05").exercises:
        progress.remember(tmp_path, "05_causal_masks", exercise.symbol, exercise.points)
    assert chosen() == LESSON
    assert next_up(standings(tmp_path / "empty")) is None


CAUSAL = "05_causal_masks"


def going_on(folder: Path) -> tuple[str, str, list[str]]:
    """The lesson and the exercise to go on with, and what was passed over."""
    lessons = standings(folder)
    here = next_up(lessons)
    return here.offer.name, here.next.symbol, [exercise.symbol for _, exercise, _ in passed_over(lessons, here)]


def solve(folder: Path, lesson: str, *but: str, on: int) -> None:
    known = progress.record(folder)
    for exercise in load_lesson(lesson).exercises:
        if exercise.symbol not in but:
            known.best.setdefault(lesson, {})[exercise.symbol] = exercise.points
            known.solved.setdefault(lesson, {})[exercise.symbol] = date(2026, 11, on)
    progress._write(folder, known)


def test_one_goes_on_where_one_was_last(tmp_path: Path) -> None:
    own(tmp_path, LESSON, CAUSAL, "06_positional_encodings")
    solve(tmp_path, LESSON, "mlp_predict_numpy", on=2)
    second, third, fourth = (exercise.symbol for exercise in load_lesson(CAUSAL).exercises[1:])
    solve(tmp_path, CAUSAL, second, third, fourth, on=3)
    assert going_on(tmp_path) == (CAUSAL, second, ["mlp_predict_numpy"])
    solve(tmp_path, CAUSAL, third, fourth, on=3)
    progress.note(tmp_path, CAUSAL, third, 0.0, progress.OURS)
    assert going_on(tmp_path) == (CAUSAL, fourth, ["mlp_predict_numpy"])  # ours is settled
    solve(tmp_path, CAUSAL, third, on=4)
    assert going_on(tmp_path)[0] == "06_positional_encodings"


def test_what_was_left_to_ours_alone_is_begun(tmp_path: Path) -> None:
    own(tmp_path, LESSON, CAUSAL)
    first, second, *_ = (exercise.symbol for exercise in load_lesson(CAUSAL).exercises)
    progress.note(tmp_path, CAUSAL, first, 0.0, progress.OURS)
    assert going_on(tmp_path) == (CAUSAL, second, [])


def test_who_takes_ours_out_again_is_led_back_to_the_exercise(tmp_path: Path) -> None:
    own(tmp_path, CAUSAL)
    first, second, *_ = (exercise.symbol for exercise in load_lesson(CAUSAL).exercises)
    progress.note(tmp_path, CAUSAL, first, 0.0, progress.OURS)
    progress.note(tmp_path, CAUSAL, first, 1.0, "failed")
    assert going_on(tmp_path) == (CAUSAL, first, [])
    progress.note(tmp_path, CAUSAL, first, 0.0, progress.OURS)
    assert going_on(tmp_path) == (CAUSAL, second, [])


def test_at_the_end_what_was_passed_over_is_left(tmp_path: Path) -> None:
    own(tmp_path, LESSON, CAUSAL)
    solve(tmp_path, LESSON, "mlp_predict_numpy", on=2)
    solve(tmp_path, CAUSAL, on=3)
    assert going_on(tmp_path) == (LESSON, "mlp_predict_numpy", [])
    progress.note(tmp_path, LESSON, "mlp_predict_numpy", 0.0, progress.OURS)
    assert next_up(standings(tmp_path)) is None


def test_the_lessons_are_found_around_and_below(tmp_path: Path) -> None:
    assert course_folder(tmp_path) is None
    own(tmp_path / "notebooks", LESSON)
    assert course_folder(tmp_path) == tmp_path / "notebooks"
    own(tmp_path / "work", LESSON)
    progress.remember(tmp_path / "work", LESSON, "pick", 1.0)
    assert course_folder(tmp_path) == tmp_path / "work"
    assert course_folder(tmp_path / "work") == tmp_path / "work"
    assert course_folder(tmp_path / "work" / LESSON) == tmp_path / "work"
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / f"{LESSON}.ipynb").write_bytes(b"{}")
    assert course_folder(tmp_path / "flat") == tmp_path / "flat"
    assert course_folder(tmp_path / "nowhere") is None

"""A run that is stopped, at any moment, goes on with --resume and ends as one that was not."""

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cellcheck.batch import Failure
from cellcheck.demo.learners import Learner
from cellcheck.gradebook import journal as journals
from cellcheck.gradebook.course import Course
from tests.gradebook.small_class import (
    FIRST,
    LESSON,
    OTHER,
    REPOSITORY,
    STANDS,
    assert_same,
    command,
    content,
    copy_of,
    files,
    grade,
    hand_in,
    heard,
    journal,
    marks,
    result,
    small_course,
)

# --- at each step -------------------------------------------------------------------------------------------------

STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.truncate"}
_watching: list[Callable[[], None]] = []


def _heard(name: str, arguments: tuple[Any, ...]) -> None:
    if _watching and name in STEPS:
        watcher = _watching.pop()  # what it does itself is no step
        try:
            watcher()
        finally:
            _watching.append(watcher)


@contextmanager
def each_step(watcher: Callable[[], None]) -> Iterator[None]:
    """Calls back before every change to a file and every statement to a database."""
    if not getattr(each_step, "hooked", False):
        sys.addaudithook(_heard)  # for good: there is no way to take one away
        each_step.hooked = True  # type: ignore[attr-defined]

    def step(*arguments: Any) -> None:
        _heard("open", ())

    _watching.append(watcher)
    try:
        with heard(step, "before_cursor_execute", "commit"):
            yield
    finally:
        _watching.clear()


def state(root: Path) -> str:
    """A digest of all that a run may change; what it makes aside is thrown away, whatever is in it."""
    summed = hashlib.sha256()
    for folder, folders, names in sorted(os.walk(root)):
        inside = Path(folder).relative_to(root)
        summed.update(str(inside).encode())
        folders[:] = [name for name in folders if name not in ("submitted", "solutions") and name[:4] != "new-"]
        for name in sorted(names):
            summed.update(name.encode())
            if name[:12] != "gradebook.db" or name == "gradebook.db":  # nor a lock, nor what SQLite takes back
                summed.update(Path(folder, name).read_bytes())
    return summed.hexdigest()


def states(course: Course, run: Callable[[], None]) -> list[Course]:
    """The course's folder as a kill would have left it, before each step of a run: each state once."""
    seen: dict[str, Course] = {}

    def look() -> None:
        key = state(course.root)
        if key not in seen:
            seen[key] = copy_of(course, f"killed {len(seen)}")

    with each_step(look):
        run()
    return list(seen.values())


def check(course: Course, straight: Course) -> None:
    """All is as if nothing had happened, and nothing is left lying about."""
    assert marks(course) == marks(straight)
    assert_same(course, straight)
    assert sorted(path.name for path in course.root.iterdir()) == sorted(path.name for path in straight.root.iterdir())
    assert [path.name for path in (course.root / ".cellcheck").iterdir()] == [f"{LESSON}.jsonl"]


def every(pytestconfig: pytest.Config, few: int) -> slice:
    """Some of the states, all of them with --long."""
    return slice(None, None, 1 if pytestconfig.getoption("--long") else few)


def test_killed_at_any_step_of_the_first_run(course: Course, pytestconfig: pytest.Config) -> None:
    straight = copy_of(course, "straight")
    grade(straight)
    killed = states(course, lambda: grade(course))
    check(course, straight)
    assert len(killed) > 12 * len(STANDS)  # or the steps were not seen
    for left in killed[every(pytestconfig, 7)]:
        outcomes = grade(left, resume=True)
        assert {name: outcome.score for name, outcome in outcomes.items()} == marks(left)
        check(left, straight)
        assert sorted(journal(left.root)) == sorted(STANDS)  # each of them once


def test_killed_at_any_step_of_a_second_run(course: Course, pytestconfig: pytest.Config) -> None:
    """Other cases, on top of what is there: nobody is without a mark at any moment."""
    grade(course, seed=1)
    straight = copy_of(course, "straight")
    grade(straight)
    killed = states(course, lambda: grade(course))
    for left in killed:
        assert marks(left) == {name: result(name).score for name in STANDS}
    for left in killed[every(pytestconfig, 9)]:
        grade(left, resume=True)
        if b"seed 7" in (left.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_bytes():
            check(left, straight)


# --- half an assignment -------------------------------------------------------------------------------------------


def forget(course: Course, cells: int) -> None:
    """Leaves what a kill used to leave: a gradebook that knows some of the cells, and no release."""
    shutil.rmtree(course.root / "notebooks")
    with course.gradebook() as gradebook:
        notebook = gradebook.find_notebook(LESSON, LESSON)
        for cell in [*notebook.grade_cells[cells:], *notebook.source_cells]:
            for grade_ in list(getattr(cell, "grades", ())):
                gradebook.db.delete(grade_)
            gradebook.db.delete(cell)
        gradebook.db.commit()


@pytest.mark.parametrize("graded", [False, True], ids=["before grading", "graded by an earlier version"])
def test_half_an_assignment_is_noticed_and_made_whole(course: Course, graded: bool) -> None:
    straight = copy_of(course, "straight")
    grade(straight)
    if graded:
        grade(course)
    else:
        course.ensure_assignment(LESSON)
    forget(course, cells=3)
    outcomes = grade(course, resume=True)
    assert {name: outcome.score for name, outcome in outcomes.items()} == marks(course) == marks(straight)
    assert_same(course, straight)


def test_a_release_that_is_there_stays_with_all_that_lies_beside_it(course: Course) -> None:
    course.ensure_assignment(LESSON)
    release = course.root / "notebooks" / LESSON
    (release / "notes.txt").write_text("mine")
    whole = (release / f"{LESSON}.ipynb").read_bytes()
    written = (release / f"{LESSON}.ipynb").stat().st_mtime_ns
    course.ensure_assignment(LESSON)
    assert (release / f"{LESSON}.ipynb").stat().st_mtime_ns == written
    (release / f"{LESSON}.ipynb").write_text('{"cells": [')
    course.ensure_assignment(LESSON)
    assert (release / f"{LESSON}.ipynb").read_bytes() == whole
    assert (release / "notes.txt").read_text() == "mine"


# --- what is graded again -----------------------------------------------------------------------------------------


def anew(course: Course) -> set[str]:
    """Whom a resumed run grades."""
    before = journal(course.root)
    grade(course, resume=True)
    return set(journal(course.root)[len(before) :])


def test_what_was_handed_in_anew_is_graded_again(course: Course) -> None:
    grade(course)
    assert anew(course) == set()
    path = hand_in(course, "bea", REPOSITORY.notebook(LESSON).read_bytes() + b"\n")
    assert anew(course) == {"bea"}
    path.with_name("helper.py").write_text("x = 1")
    assert anew(course) == {"bea"}
    assert anew(course) == set()


def test_when_an_exercise_has_changed_everybody_is_graded_again(
    course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    grade(course)
    path = tmp_path / "judging.py"
    path.write_text("")
    monkeypatch.setattr(journals, "_ENGINE", (*journals._ENGINE, "judging"))
    monkeypatch.syspath_prepend(tmp_path)
    assert anew(course) == set(STANDS)
    path.write_text("tolerance = 1\n")
    assert anew(course) == set(STANDS)
    assert anew(course) == set()


@pytest.mark.parametrize("lost", ["a mark", "a page", "a notebook"])
def test_what_was_lost_is_made_again(course: Course, lost: str) -> None:
    grade(course)
    before = content(course.root), files(course.root)
    if lost == "a mark":
        with course.gradebook() as gradebook:
            gradebook.find_grade(f"test_{FIRST}", LESSON, LESSON, "bea").auto_score = None
            gradebook.db.commit()
    else:
        shutil.rmtree(course.root / ("feedback" if lost == "a page" else "autograded") / "bea")
    assert anew(course) == {"bea"}
    assert (content(course.root), files(course.root)) == before


def test_two_lessons_share_a_gradebook(course: Course) -> None:
    grade(course)
    before = content(course.root)
    course.ensure_assignment(OTHER)
    assert anew(course) == set()
    assert set(before["grade"]) == set(content(course.root)["grade"])


def test_half_a_line_in_the_journal_does_not_count(course: Course) -> None:
    grade(course)
    path = course.root / ".cellcheck" / f"{LESSON}.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    console = io.StringIO()
    grade(course, resume=True, says=Console(file=console, width=200))
    assert "2 of 3 are graded already" in console.getvalue()
    assert len(path.read_text("utf-8").splitlines()[4:]) == 1  # after the seed, two learners, the half
    assert anew(course) == set()


@pytest.mark.parametrize("text", ["[" * 5000, '{"version": 2}\n', '{"version": 2, "seed": "7"}\n', "3\n"], ids=len)
def test_a_file_that_is_no_journal_does_not_count(course: Course, text: str) -> None:
    there = journals.Journal(course.root, LESSON)
    there.path.parent.mkdir(exist_ok=True)
    there.path.write_text(text)
    assert not there.go_on()
    there.path.write_text('{"version": 2, "seed": 7}\n{"student": "ada"}\n{"student": ["ada"], "digest": "x"}\n')
    assert (there.go_on(), {*there.results()}) == (True, set())


# --- the table and the gradebook ----------------------------------------------------------------------------------


def test_a_gradebook_that_says_something_else_is_an_error(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    from cellcheck.gradebook.book import Book, GradebookEntry

    write = Book.write

    def forgetful(self: Book, entries: Sequence[GradebookEntry]) -> None:
        forgotten = {(LESSON, f"test_{FIRST}"): None}
        write(self, [replace(e, scores={**e.scores, **forgotten}) if e.student == "bea" else e for e in entries])

    monkeypatch.setattr(Book, "write", forgetful)
    outcomes = grade(course)
    assert isinstance(outcomes["bea"], Failure)
    assert f"test_{FIRST} has no mark, not" in outcomes["bea"].message
    assert outcomes["ada"].score == result("ada").score


# --- the command --------------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "cellcheck", "autograde", LESSON]


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    course = small_course(tmp_path / "course")
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    # The last one does not end before the signal comes, however busy the machine is.
    endless = Learner("zz", LESSON, types={FIRST: "import time\ntime.sleep(600)"})
    for learner in (Learner("ada", LESSON, begins=1), endless):
        hand_in(course, learner.name, learner.hand_in(released).encode())
    run = subprocess.Popen(
        COMMAND,
        cwd=course.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # whatever runs in the background ignores it
    )
    while run.poll() is None and not journal(course.root):
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=300)
    assert run.returncode == 1
    assert "--resume goes on from here" in err
    assert "Traceback" not in err


def test_ctrl_c_before_anything_is_graded_offers_nothing_to_go_on_from(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cellcheck.whole_class.autograde", stopped)
    assert command(course, monkeypatch) == 1
    assert capsys.readouterr().err.strip().endswith("Stopped. Nothing had been graded yet.")


def test_another_seed_and_a_resumed_run_contradict_each_other(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grade(course)
    before = content(course.root), files(course.root)
    assert command(course, monkeypatch, "--resume", "--seed", "3") == 2
    assert "goes on with the seed that the run began with, 7: leave the seed out" in capsys.readouterr().err
    assert (content(course.root), files(course.root)) == before
    assert command(course, monkeypatch, "--resume", "--seed", "7") == 0


def test_one_learner_is_graded_again_and_nobody_else(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(course, monkeypatch, "--seed", "7") == 0
    with course.gradebook() as book:
        book.find_grade(f"test_{FIRST}", LESSON, LESSON, "ada").manual_score = 0.5
        book.db.commit()
    before = {path: path.stat().st_mtime_ns for path in (course.root / "autograded").rglob("*.ipynb")}
    assert command(course, monkeypatch, "--learner", "ada") == 0
    after = {path: path.stat().st_mtime_ns for path in (course.root / "autograded").rglob("*.ipynb")}
    changed = {path.parts[-3] for path in before if before[path] != after[path]}
    assert changed == {"ada"}
    with course.gradebook() as book:
        assert book.find_grade(f"test_{FIRST}", LESSON, LESSON, "ada").manual_score == 0.5
    assert command(course, monkeypatch, "--learner", "zoe") == 2

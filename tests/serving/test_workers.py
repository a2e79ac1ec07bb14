"""Workers and who minds them, when the database is away for a while."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import OperationalError

from cellcheck import api
from cellcheck.gradebook import feedback
from cellcheck.running import intake
from cellcheck.serving import supervise, worker
from cellcheck.serving.queue import Queue
from cellcheck.serving.tables import RUNNING, Job
from tests.serving.conftest import LESSON, OTHER, Place

AWAY = OperationalError("UPDATE job", {"result": "a hidden case"}, Exception("the database is away"))


def away(*_: object, **__: object) -> bool:
    raise AWAY


def reads(lesson: str) -> Callable[..., SimpleNamespace]:
    return lambda *_: SimpleNamespace(name=lesson)


def fails(place: Place) -> str:
    """What a learner reads whose notebook could not be graded."""
    ada = place.browser("ada")
    ada.hand_in()
    queue = Queue(place.store)
    work = queue.take()
    assert work is not None
    assert worker.grade_one(queue, work, require_sandbox=True)
    return ada.get("/submissions/1") + ada.get("/submissions/1/feedback") + ada.get("/me/export")


def test_a_notebook_of_another_lesson_is_not_graded_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "lesson_in", reads(OTHER))
    monkeypatch.setattr(api, "grade_notebook", lambda *_, **__: pytest.fail("graded"))
    assert f"This is a notebook of {OTHER}, not of {LESSON}. Hand in the right one." in fails(place)


def test_learners_read_nothing_of_a_fault_inside(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("a hidden case: 42")

    monkeypatch.setattr(intake, "lesson_in", reads(LESSON))
    monkeypatch.setattr(api, "grade_notebook", breaks)
    message = fails(place)
    assert "The grader itself failed. Your instructor sees that too." in message
    assert not any(word in message for word in ("RuntimeError", "hidden case"))
    assert "RuntimeError" in caplog.text
    assert "in breaks" in caplog.text
    assert "hidden case: 42" not in caplog.text.replace('raise RuntimeError("a hidden case: 42")', "")


def test_work_is_not_failed_because_the_database_is_away(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.browser("ada").hand_in()
    queue = Queue(place.store)
    work = queue.take()
    assert work is not None
    result = SimpleNamespace(lesson=LESSON, score=1.0, max_score=2.0, to_json=dict)
    monkeypatch.setattr(intake, "lesson_in", reads(LESSON))
    monkeypatch.setattr(api, "grade_notebook", lambda *_, **__: result)
    monkeypatch.setattr(worker, "_answers", lambda _: {})
    monkeypatch.setattr(feedback, "page", lambda *_, **__: "<p>a page</p>")
    monkeypatch.setattr(queue, "finish", away)
    with pytest.raises(OperationalError):
        worker.grade_one(queue, work, require_sandbox=True)
    with place.store.reading() as session:
        (job,) = session.query(Job)
        assert (job.state, job.message) == (RUNNING, "")
    monkeypatch.undo()


def test_who_minds_the_workers_survives_it_and_tells_nobody_the_password(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[tuple[list[str], dict[str, str]]] = []

    def popen(command: list[str], env: dict[str, str], **_: object) -> SimpleNamespace:
        begun.append((command, env))
        return SimpleNamespace(poll=lambda: 0, returncode=0, terminate=lambda: None, wait=lambda _: 0)

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(Queue, "free", away)
    crew = supervise.Workers(place.store, "postgresql://me:secret@x/class", 1, require_sandbox=True)
    crew.start()
    end = time.monotonic() + 300
    while len(begun) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    crew.stop()
    assert len(begun) == 2
    for command, env in begun:
        assert "secret" not in " ".join(command)
        assert env["CELLCHECK_DATABASE"] == "postgresql://me:secret@x/class"

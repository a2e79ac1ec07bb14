"""The queue: nothing accepted is lost, nothing is graded twice in effect, and whoever dies costs nobody anything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from cellcheck.errors import GraderError
from cellcheck.serving import queue as queues
from cellcheck.serving.queue import GIVEN_UP, LEASE_SECONDS, MOST_TRIES, Full, Leased, Queue, accept, again
from cellcheck.serving.store import Store, open_store
from cellcheck.serving.tables import DONE, FAILED, QUEUED, Job, Person, Submission
from tests import postgres

LESSON = "01_pytorch_basics"


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    store = open_store(tmp_path / "class.db" if request.param == "SQLite" else request.getfixturevalue("server").new())
    with store.writing() as session:
        session.add_all(Person(name=name, made=0.0) for name in ("ada", "bob"))
    return store


def hand_in(store: Store, data: bytes = b"{}", person: int = 1, seed: int = 7) -> int:
    with store.writing() as session:
        submission, _ = accept(session, person, LESSON, data, seed, now=1.0)
        session.flush()
        return submission.id


def jobs(store: Store) -> list[Job]:
    with store.reading() as session:
        return list(session.scalars(select(Job).order_by(Job.id)))


def taken(queue: Queue) -> Leased:
    work = queue.take()
    assert work is not None
    return work


def test_what_is_accepted_comes_out_in_order_with_all_that_grading_needs(store: Store) -> None:
    hand_in(store, b"one")
    hand_in(store, b"two", person=2, seed=9)
    queue = Queue(store)
    first, second = taken(queue), taken(queue)
    assert (first.who, first.notebook, first.lesson, first.seed) == ("ada", b"one", LESSON, 7)
    assert (second.who, second.notebook, second.seed) == ("bob", b"two", 9)
    assert queue.take() is None


def test_the_same_bytes_are_the_same_submission_with_its_first_date(store: Store) -> None:
    first = hand_in(store, b"same")
    with store.writing() as session:
        submission, new = accept(session, 1, LESSON, b"same", 8, now=99.0)
        assert (submission.id, new, submission.received) == (first, False, 1.0)
        other, new = accept(session, 2, LESSON, b"same", 8, now=99.0)
        assert new
        assert other.id != first
    assert len(jobs(store)) == 2


def test_a_worker_that_dies_leaves_its_work_to_another(store: Store) -> None:
    hand_in(store)
    clock = Clock()
    queue = Queue(store, clock)
    dead = taken(queue)
    clock.now += LEASE_SECONDS - 1
    assert queue.take() is None
    clock.now += 2
    alive = taken(queue)
    assert alive.job == dead.job
    assert not queue.renew(dead)
    assert not queue.finish(dead, 0.0, 1.0, "{}", "the dead one's")
    assert queue.finish(alive, 1.0, 1.0, "{}", "the living one's")
    assert not queue.finish(alive, 0.0, 1.0, "{}", "said twice")
    (job,) = jobs(store)
    assert (job.state, job.score) == (DONE, 1.0)


def test_what_a_dead_worker_had_is_free_at_once_and_nobody_elses(store: Store) -> None:
    hand_in(store, b"1")
    hand_in(store, b"2", person=2)
    dead, alive = Queue(store, worker="a%"), Queue(store, worker="abc")
    lost, held = taken(dead), taken(alive)
    assert Queue(store, worker="a%").free() == 1
    assert not dead.finish(lost, 0.0, 1.0, "{}", "")
    assert alive.renew(held)
    assert taken(alive).job == lost.job


def test_a_lease_that_is_renewed_stays(store: Store) -> None:
    hand_in(store)
    clock = Clock()
    queue = Queue(store, clock)
    work = taken(queue)
    for _ in range(5):
        clock.now += LEASE_SECONDS - 1
        assert queue.renew(work)
        assert queue.take() is None


def test_what_kills_its_worker_each_time_is_given_up_and_holds_nobody_up(store: Store) -> None:
    hand_in(store, b"a bomb")
    hand_in(store, b"honest", person=2)
    clock = Clock()
    queue = Queue(store, clock)
    for _ in range(MOST_TRIES):
        assert taken(queue).notebook == b"a bomb"
        clock.now += LEASE_SECONDS + 1
    assert taken(queue).notebook == b"honest"
    bomb, _ = jobs(store)
    assert (bomb.state, bomb.message) == (FAILED, GIVEN_UP)


def test_grading_again_is_the_same_row_for_the_same_seed(store: Store) -> None:
    number = hand_in(store)
    queue = Queue(store)
    assert queue.finish(taken(queue), 1.0, 1.0, "{}", "")
    with store.writing() as session:
        submission = session.get_one(Submission, number)
        again(session, submission, 7)
        again(session, submission, 8)
    assert [(job.seed, job.state) for job in jobs(store)] == [(7, QUEUED), (8, QUEUED)]
    assert queue.fail(taken(queue), "no", "")
    assert queue.finish(taken(queue), 1.0, 1.0, "{}", "")


def test_grading_again_what_is_being_graded_begins_anew(store: Store) -> None:
    number = hand_in(store)
    queue = Queue(store)
    old = taken(queue)
    with store.writing() as session:
        again(session, session.get_one(Submission, number), 7)
    assert not queue.renew(old)
    assert not queue.finish(old, 1.0, 1.0, "{}", "of a course that has since been replaced")
    assert queue.finish(taken(queue), 2.0, 2.0, "{}", "")
    assert [(job.state, job.score) for job in jobs(store)] == [(DONE, 2.0)]


def test_a_queue_that_is_full_takes_nothing_and_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MOST_WAITING", 1)
    hand_in(store, b"one")
    with pytest.raises(Full, match="try again in ten minutes"):
        hand_in(store, b"two")
    assert hand_in(store, b"one") == 1  # what is there already is no more
    assert len(jobs(store)) == 1


def test_many_at_once_are_each_taken_once(store: Store) -> None:
    count, taken_by = 40, []

    def hand_some_in(person: int) -> None:
        for number in range(count // 2):
            hand_in(store, f"{person} {number}".encode(), person)

    def work() -> None:
        queue = Queue(store)
        while leased := queue.take():
            taken_by.append(leased.job)
            assert queue.finish(leased, 1.0, 1.0, "{}", "")

    for target, arguments in ((hand_some_in, [(1,), (2,)]), (work, [(), (), ()])):
        threads = [threading.Thread(target=target, args=each) for each in arguments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(taken_by) == [job.id for job in jobs(store)]
    assert len(taken_by) == count
    with store.reading() as session:
        assert session.scalar(select(func.count(Submission.id))) == count


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["hand in", "take", "die", "wait", "finish", "fail"]), max_size=40))
def test_whatever_happens_every_submission_ends_with_one_result(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    store = open_store(tmp_path_factory.mktemp("any") / "class.db")
    with store.writing() as session:
        session.add(Person(name="ada", made=0.0))
    clock = Clock()
    queue = Queue(store, clock)
    held: list[Leased] = []
    handed = 0
    for step in steps:
        if step == "hand in":
            hand_in(store, str(handed).encode())
            handed += 1
        elif step == "take" and (work := queue.take()):
            held.append(work)
        elif step == "wait":
            clock.now += 0.6 * LEASE_SECONDS
        elif held and step in ("die", "finish", "fail"):
            work = held.pop(0)
            if step == "finish":
                queue.finish(work, 1.0, 1.0, "{}", "")
            elif step == "fail":
                queue.fail(work, "no", "")
    clock.now += LEASE_SECONDS + 1  # whoever still holds something is dead
    for _ in range(handed * MOST_TRIES):
        if work := queue.take():
            assert queue.finish(work, 1.0, 1.0, "{}", "")
    assert [job.state in (DONE, FAILED) for job in jobs(store)] == [True] * handed


def test_a_clock_that_is_put_back_holds_nothing_up(store: Store) -> None:
    hand_in(store)
    clock = Clock()
    queue = Queue(store, clock)
    dead = taken(queue)
    clock.now -= 3600
    alive = taken(queue)
    assert alive.job == dead.job
    assert queue.take() is None
    assert not queue.renew(dead)
    assert queue.renew(alive)


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "class.db").writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'of the future'"))
    with pytest.raises(GraderError, match="of a newer version"):
        open_store(tmp_path / "class.db")


def test_a_new_database_is_nobody_elses(tmp_path: Path) -> None:
    with open_store(tmp_path / "class.db").writing() as session:
        session.add(Person(name="ada", made=0.0))
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077] == []
    with pytest.raises(GraderError, match="can't be opened"):
        open_store(tmp_path / "nowhere" / "class.db")


def test_a_password_is_in_no_message() -> None:
    for address in ("nothing://me:secret@x/y", "postgresql+psycopg://me:secret@localhost:1/y", "://me:secret@"):
        with pytest.raises(GraderError) as error:
            open_store(address)
        assert "secret" not in str(error.value)

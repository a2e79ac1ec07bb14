"""What counts as a learner's time: work and sleep, and not the time for which somebody else keeps them waiting."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from cellcheck.checking.judge import FAILED, TIMEOUT, drawn
from cellcheck.errors import GraderError
from cellcheck.running import hearing as hearings
from cellcheck.running import limits
from cellcheck.running.hearing import STOPPED, Hearing, Undecided
from cellcheck.running.limits import Limits
from cellcheck.running.session import Session, Stopped, _Clock
from cellcheck.running.setting import setting_of
from cellcheck.running.usage import Account, KeptWaiting
from cellcheck.running.walk import Walk
from cellcheck.running.wire import encode
from cellcheck.syllabus import load_lesson
from tests.running.submissions import LESSON

FEW = Limits(cell_seconds=2.0, probe_seconds=2.0, cpu_seconds=20.0, sleep_seconds=10.0)


class Machine:
    """A machine on which a second passes when it is told to, and a submission that does what it is told."""

    def __init__(self) -> None:
        self.now = self.used = 0.0
        self.waits: dict[int, float] = {7: 0.0}
        self.busy = self.counted = False
        self.stolen = 0.0
        self.counts_time = True

    def processor_seconds(self) -> float:
        return self.used

    def kept_waiting(self) -> KeptWaiting:
        return KeptWaiting(dict(self.waits), self.busy, self.counted, self.stolen)

    def exceeds(self, *_: int) -> str:
        return ""

    def passes(self, works: float = 0.0, waits: float = 0.0, sleeps: float = 0.0) -> None:
        self.now += works + waits + sleeps
        self.used += works
        self.waits[7] += waits


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    machine = Machine()
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: machine.now)
        yield machine


def waiting_for_a_cell(machine: Machine) -> _Clock:
    """The patience of somebody who waits for a cell, on this machine."""
    session = Session(setting_of(LESSON), FEW)
    session._zygote: Any = SimpleNamespace(account=machine)  # type: ignore[misc]
    session._given_up = limits.GIVE_UP_SECONDS
    session._waiting_since = machine.now
    return _Clock(session, FEW.cell_seconds)


def goes_on(machine: Machine, patience: Callable[[], float], times: int = 1000, **passes: float) -> None:
    """Whoever waits is asked again and again, while time passes."""
    for _ in range(times):
        machine.passes(**passes)
        patience()


def test_who_is_kept_waiting_loses_nothing(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    goes_on(machine, patience, works=0.001, waits=1.0)
    assert patience.session.slept == pytest.approx(0)


def test_where_nobody_counts_the_waiting_it_is_seen_that_somebody_wants_to_work(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    machine.busy = True
    goes_on(machine, patience, sleeps=1.0)  # as it looks from outside


def test_work_comes_to_an_end(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    with pytest.raises(Stopped) as stopped:
        goes_on(machine, patience, works=0.5, waits=3.0)
    assert stopped.value.status == "timeout"
    assert 2.0 <= machine.used <= 3.0


def test_sleep_comes_to_an_end(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    with pytest.raises(Stopped) as stopped:
        goes_on(machine, patience, works=0.01, sleeps=0.5)
    assert stopped.value.status == "asleep"
    assert 6.0 <= machine.now <= 7.0


@pytest.mark.parametrize(("counted", "slept"), [(True, 90.0), (False, 0.0)])
def test_who_works_whenever_it_is_looked_at_between_two_cells_has_slept_all_the_same(
    machine: Machine, counted: bool, slept: float
) -> None:
    session = waiting_for_a_cell(machine).session
    machine.busy, machine.counted = True, counted
    for _ in range(100):
        with session._waiting():
            machine.passes(works=0.1, waits=2.0, sleeps=0.9)
        session.look_up()
    assert session.slept == pytest.approx(slept)


def test_what_the_host_takes_is_nobodys_sleep(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    for _ in range(100):
        machine.stolen += 1.0
        goes_on(machine, patience, times=1, works=0.01, sleeps=1.0)  # as it looks from inside
    assert patience.session.slept == pytest.approx(0)


def test_where_sleep_and_work_look_alike_it_is_told_as_work(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    machine.counts_time = False
    with pytest.raises(Stopped) as stopped:
        goes_on(machine, patience, sleeps=0.5)
    assert stopped.value.status == "timeout"


def test_who_never_gets_anywhere_is_not_graded(machine: Machine) -> None:
    patience = waiting_for_a_cell(machine)
    with pytest.raises(GraderError, match="too busy"):
        goes_on(machine, patience, waits=60.0)


def test_a_judge_is_waited_for_as_long_as_it_wants_to_work(machine: Machine) -> None:
    account: Any = machine
    patience = hearings._Patience(account, 3.0)
    goes_on(machine, patience, times=100, works=0.01, waits=2.0)
    with pytest.raises(hearings._Over) as over:
        goes_on(machine, patience, sleeps=1.0)
    assert over.value.status == STOPPED
    assert machine.now < 220


def test_a_judge_that_works_too_long_is_stopped_also_where_no_timer_ends_it(machine: Machine) -> None:
    account: Any = machine
    machine.used = 50.0  # for whoever was judged before
    patience = hearings._Patience(account, 3.0)
    with pytest.raises(hearings._Over) as over:
        goes_on(machine, patience, works=0.25, waits=1.0)
    assert over.value.status == TIMEOUT
    assert 53.0 <= machine.used <= 55.0


def judge_of(hearing: Hearing) -> int:
    hearing.begin()
    (pid,) = hearing._zygote.account.everyone()
    return pid


def test_a_judge_that_somebody_stops_costs_nobody_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VERDICT_SECONDS", 0.3)
    exercise = load_lesson(LESSON).exercises[0]
    with Hearing(LESSON, 5) as hearing:
        os.kill(judge_of(hearing), signal.SIGSTOP)
        with pytest.raises(Undecided) as undecided:
            hearing.verdict(exercise, False, [])
        assert undecided.value.status == STOPPED
        monkeypatch.setattr(limits, "VERDICT_SECONDS", 20.0)
        nothing = [encode({"seen": {}})] * len(drawn(exercise, 5))
        assert hearing.verdict(exercise, False, nothing).status == FAILED


def test_a_submission_whose_judge_is_stopped_twice_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopping:
        def verdict(self, *_: object) -> None:
            raise Undecided(STOPPED)

    hearing: Any = Stopping()
    lesson = load_lesson(LESSON)
    walk = Walk(Session(setting_of(LESSON), FEW), lesson.exercises, hearing)
    walk.questions = {lesson.exercises[0].symbol: SimpleNamespace(with_patients=False)}  # type: ignore[dict-item]
    with pytest.raises(GraderError, match="Grade it again"):
        walk._judge(lesson.exercises[0].symbol, [])


def test_what_the_kernel_tells_of_a_process_that_sleeps_and_of_one_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.read(reading, 1)
            while True:
                pass
        finally:
            os._exit(0)
    try:
        account = Account(os.getpid(), "", None)
        monkeypatch.setattr(account, "everyone", lambda: iter([pid]))
        while _state(pid) != "S":
            time.sleep(0.001)
        asleep = account.kept_waiting()
        assert not asleep.busy
        os.write(writing, b"x")
        while not account.kept_waiting().busy:
            time.sleep(0.001)
        assert account.kept_waiting().since(asleep) >= 0
        assert KeptWaiting({pid: 5.0}).since(KeptWaiting({pid: 2.0, 1: 9.0})) == 3.0
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)
        os.close(writing)


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]

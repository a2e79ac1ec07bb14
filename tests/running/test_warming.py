"""One process imports, the others are forked from it: who is whose child, and what becomes of one without the other."""

import os
import shutil
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.errors import GraderError
from cellcheck.running import warming, zygotes
from cellcheck.running.limits import Limits
from cellcheck.running.session import Session, Stopped
from cellcheck.running.setting import judging_of, setting_of
from cellcheck.running.warming import NoChild, Warm
from cellcheck.sandbox import fences
from tests.running.submissions import LESSON

SETTING = setting_of(LESSON)
WITHOUT_NAMESPACES = Path(__file__).parents[1] / "attacks" / "without_namespaces"


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[zygotes._Pool]:
    """An empty one; what is started in it has ended afterwards."""
    pool = zygotes._Pool()
    monkeypatch.setattr(zygotes, "_POOL", pool)
    yield pool
    pool.close()


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one whenever a process begins to do its imports."""
    started: list[int] = []
    own = warming.start
    monkeypatch.setattr(warming, "start", lambda *to: started.append(1) or own(*to))
    return started


def parent_of(pid: int) -> int:
    status = Path("/proc", str(pid), "status").read_text("utf-8")
    return int(status.split("PPid:")[1].split()[0])


def test_only_the_first_does_the_imports(pool: zygotes._Pool, starts: list[int]) -> None:
    zygotes.warm_up(3)
    first, *twins = pool.warming
    with Session(SETTING, Limits()) as one, Session(SETTING, Limits()) as two, Session(SETTING, Limits()) as three:
        for session in (one, two, three):
            assert session.run("import torch\nassert torch.ones(2).sum() == 2") is None
        assert [session._zygote._process for session in (one, two, three)] == [*reversed(twins), first]
        # Each ends its own children, so none may be another's.
        everyone = {process.process.pid for process in (first, *twins)}
        assert len(everyone) == 3
        assert not everyone & {parent_of(twin.process.pid) for twin in twins}
    assert starts == [1]
    pool.close()
    assert all(twin.process.poll() is not None for twin in twins)


def test_a_light_one_judges_and_can_do_the_others_work(pool: zygotes._Pool, starts: list[int]) -> None:
    zygotes.warm_up(1, judging=1)
    first, light = pool.warming
    with zygotes.borrowed(SETTING) as learners, zygotes.borrowed(judging_of(LESSON)) as judging:
        assert (learners._process, judging._process) == (first, light)
    pool.close()
    zygotes.warm_up(1, judging=1)
    first, light = pool.warming
    assert light.process.pid
    pool.warming.remove(first)
    first.kill()
    with Session(SETTING, Limits()) as session:
        assert session._zygote._process is light
        assert session.run("import matplotlib.pyplot\n%time 1 + 1") is None
    assert starts == [1, 1]


def test_more_are_added_in_the_same_proportion(pool: zygotes._Pool) -> None:
    zygotes.warm_up(1, judging=1)
    zygotes.warm_up(3, judging=3)
    assert [process.light for process in pool.warming] == [False, True, True, True, False, False]


def test_what_was_started_ahead_is_the_first(pool: zygotes._Pool, starts: list[int]) -> None:
    warming.start_ahead()
    (ahead,) = warming.AHEAD
    zygotes.warm_up(1)
    assert (pool.warming, warming.AHEAD, starts) == ([ahead], [], [1])
    warming.start_ahead()
    (unused,) = warming.AHEAD
    warming._end_ahead()
    assert unused.process.poll() is not None  # at once: nobody waits for what it still imports


def test_without_pidfds_each_does_its_own_imports(pool: zygotes._Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "own_handle", lambda: -1)
    zygotes.warm_up(2)
    assert None not in [process._process for process in pool.warming]  # both are there from the start


@pytest.mark.parametrize("ended", ["the first", "the twin"])
def test_one_lives_without_the_other(pool: zygotes._Pool, ended: str) -> None:
    zygotes.warm_up(2)
    first, twin = pool.warming
    assert isinstance(twin.process, NoChild)
    gone, left = (first, twin) if ended == "the first" else (twin, first)
    pool.warming.remove(gone)
    gone.kill()
    with Session(SETTING, Limits()) as session:
        assert session._zygote._process is left
        assert session.run("1") is None


def test_what_twins_share_is_not_taken_off_what_a_submission_fills(pool: zygotes._Pool) -> None:
    zygotes.warm_up(8)
    eater = "    if os.fork() == 0:\n        filled = b'x' * 75_000_000\n        time.sleep(60)\n"
    cell = f"import os, time\nfor _ in range(4):\n{eater}time.sleep(60)\n"
    with Session(SETTING, replace(Limits(), memory_bytes=2**28)) as session:
        with pytest.raises(Stopped) as stopped:
            session.run(cell)
        assert stopped.value.status == "memory"
        session.restart()
        assert session.run("filled = b'x' * 200_000_000\nimport time\ntime.sleep(0.6)") is None


def test_nobody_waits_for_a_twin_that_was_never_met(pool: zygotes._Pool) -> None:
    zygotes.warm_up(3)
    pool.close()
    assert pool.warming == []


def test_a_twin_that_was_never_made_is_a_sentence(pool: zygotes._Pool) -> None:
    first = Warm.started()
    os.kill(first.process.pid, signal.SIGSTOP)
    pool.warming = [first.twin()]
    first.process.kill()
    first.process.wait()
    with pytest.raises(GraderError, match="The process that runs submissions did not start: "):
        Session(SETTING, Limits()).__enter__()
    first.kill()


# --- what a run keeps to itself -----------------------------------------------------------------------------------


@pytest.fixture
def in_pythons_folder() -> Iterator[Path]:
    """Somebody's hand-in, in a folder that learners' code sees."""
    packages = sysconfig.get_paths()["purelib"]
    if not os.access(packages, os.W_OK):
        pytest.skip("it is somebody else's Python")
    folder = Path(tempfile.mkdtemp(dir=packages))
    folder.chmod(0o755)
    (folder / "hand-in.txt").write_text("mine")
    yield folder
    shutil.rmtree(folder)


def test_one_process_serves_whatever_folder_is_out_of_sight(
    pool: zygotes._Pool, starts: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        with Session(setting_of(LESSON, [str(tmp_path / name)]), Limits()) as session:
            assert session.run("1") is None
        monkeypatch.chdir(tmp_path / name)
    assert (len(starts), len(pool.idle)) == (1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="there are walls on Linux only")
@pytest.mark.parametrize("namespaces", [True, False])
def test_what_one_run_hides_is_no_concern_of_the_next(
    namespaces: bool,
    pool: zygotes._Pool,
    starts: list[int],
    in_pythons_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not namespaces:
        if fences.landlock_version() == 0 or fences.seccomp_missing():
            pytest.skip("there are neither Landlock nor seccomp")
        path = os.pathsep.join([str(WITHOUT_NAMESPACES), str(WITHOUT_NAMESPACES.parents[2])])
        monkeypatch.setenv("PYTHONPATH", path)
    used, seen = [], []
    hiding = setting_of(LESSON, zygotes.in_sight([in_pythons_folder, Path.home() / "nowhere"]))
    assert hiding.hidden == (str(in_pythons_folder),)
    for setting in (SETTING, hiding, SETTING, hiding):
        with Session(setting, Limits()) as session:
            used.append(session._zygote)
            error = session.run(f"assert open({str(in_pythons_folder / 'hand-in.txt')!r}).read() == 'mine'")
            seen.append(error is None)
            assert ("namespaces" in session.missing) != namespaces
    assert seen == [True, False, True, False]
    assert (used[2:], len(starts)) == (used[:2], 2)


def test_what_python_needs_is_no_place_for_a_hand_in(pool: zygotes._Pool) -> None:
    with pytest.raises(GraderError, match="Move what you grade to a folder of its own"):
        zygotes.in_sight([Path(os.__file__).parent])
    with Session(SETTING, Limits()) as session:
        assert session.run("1") is None

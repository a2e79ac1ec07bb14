"""Control groups: the kernel stops what the grader would miss between two looks."""

from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.running import session as looking
from cellcheck.running.limits import Limits
from cellcheck.running.session import Session, Stopped
from cellcheck.running.setting import setting_of
from cellcheck.sandbox.groups import NoGroups, home
from tests.attacks.attacks import LESSON, PATIENT, setup

LIMITS = replace(PATIENT, memory_bytes=2**27, file_bytes=2**31, processes=48)
PIECE = 100 * 2**20

SHARED = f"""
import mmap
for _ in range(PIECES):
    if os.fork() == 0:
        filled = mmap.mmap(-1, {PIECE})
        for _ in range({PIECE // 2**20}): filled.write(bytes(2**20))
        signal.pause()
with contextlib.suppress(ChildProcessError):
    os.wait()  # the kernel ends one of them, if not this one
"""
FILES = """
with open("big", "wb") as file:
    for _ in range(PIECES): file.write(bytes(PIECE))
"""


@pytest.fixture(autouse=True)
def groups() -> None:
    try:
        home()
    except NoGroups as reason:
        pytest.skip(f"there are no control groups: {reason}")


def started(course: Path, session: Session) -> None:
    """With more pieces than fit, even if nothing that was inherited has been copied."""
    pieces = (LIMITS.memory_bytes + session._zygote.account.inherited) // PIECE + 2
    assert session.run(f"{setup(course)}\nPIECES, PIECE = {pieces}, {PIECE}") is None


@pytest.mark.parametrize("attack", [SHARED, FILES], ids=["shared pages", "files in memory"])
def test_the_kernel_stops_what_happens_between_two_looks(
    attack: str, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Session(setting_of(LESSON), LIMITS) as session:
        if "namespaces" in session.missing and attack == FILES:
            pytest.skip("files are on disk here")
        started(course, session)
        monkeypatch.setattr(looking, "_LOOK_SECONDS", 3600.0)

        def until_the_next_look() -> None:
            session.run(attack)
            assert session._zygote.account.has_overflowed()
            monkeypatch.setattr(looking, "_LOOK_SECONDS", 0.0)
            session.run("pass")

        with pytest.raises(Stopped) as stopped:
            until_the_next_look()
        assert stopped.value.status == "memory"
        monkeypatch.undo()
        session.anew()  # in a group of its own, to which nothing has happened
        assert session.run("assert 1 + 1 == 2") is None
        assert not session._zygote.account.has_overflowed()


def test_honest_work_may_use_all_that_the_limits_allow(course: Path) -> None:
    """Also if all that was inherited is copied on top of it: looks forgive that, and so does the group."""
    limits = replace(LIMITS, memory_bytes=2**28)
    with Session(setting_of(LESSON), limits) as session:
        started(course, session)
        assert session.run("gc.unfreeze(), gc.collect()") is None  # writes to every object
        assert session.run(f"filled = b'x' * {limits.memory_bytes * 3 // 4}") is None
        assert not session._zygote.account.has_overflowed()
        session.look()


def test_a_group_counts_processes(course: Path) -> None:
    with Session(setting_of(LESSON), replace(LIMITS, processes=8)) as session:
        started(course, session)
        group = session._zygote.account.group
        assert group is not None
        many = "for _ in range(20):\n    with contextlib.suppress(OSError):\n        if os.fork() == 0: signal.pause()"
        assert session.run(many) is None
        assert len((group._folders["memory"] / "cgroup.procs").read_text("ascii").split()) in range(
            2, 10
        )  # the zygote included


def test_a_learner_can_neither_leave_a_group_nor_change_it(course: Path) -> None:
    with Session(setting_of(LESSON), Limits()) as session:
        started(course, session)
        group = session._zygote.account.group
        for folder in group._folders.values():
            assert folder.is_dir()
            for place in (folder, folder.parent):
                assert session.run(f"open({str(place / 'cgroup.procs')!r}, 'w').write('0')") is not None
                assert session.run(f"os.mkdir({str(place / 'mine')!r})") is not None
        for kind in ("cgroup", "cgroup2"):  # nor mount the tree again
            mount = f"libc.mount(b'none', b'/tmp', b'{kind}', 0, b'memory' if '{kind}' == 'cgroup' else None)"
            assert session.run(f"assert {mount} < 0 and ctypes.get_errno() == errno.EPERM") is None

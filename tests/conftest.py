"""How `make test` shares the work out, and what it says at the end.

Long tests stand in folders called `long` and run with --long only. Those of the lessons measure a table and write it
(`make claims`); those of `tests/gradebook/` kill a run at random moments, and grade on a busy machine (`make kills`).
Of the others, `make test` leaves some to the nightly run: see `tests/nightly.py`.
"""

import gc
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from jupyter_client.provisioning import local_provisioner

from cellcheck import batch
from cellcheck.running import warming
from tests import warm, warm_zygotes
from tests.nightly import left_out, not_about
from tests.shell import grader

__all__ = ["grader"]

# Unless told otherwise, Hypothesis fails an example that takes a fifth of a second: on a busy machine any may. And it
# draws other examples each time: that is for the night, see below.
settings.register_profile("day", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("night", settings.get_profile("day"), derandomize=False, print_blob=True)

# A time without a zone is one of this machine's, wherever that stands.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

# Where most of the time goes. Whoever began one of these last would work alone at the end.
FIRST = (
    "tests/lessons/",
    "tests/gradebook/",
    "tests/authors/",
    "tests/test_docs.py",
    "tests/audit/",
    "tests/attacks/",
    "tests/test_other_processors.py",
    "tests/browser/",
    "tests/building/",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long tests too")
    parser.addoption("--lesson", help="run all tests about this lesson, the long ones too")


def pytest_configure(config: pytest.Config) -> None:
    """By day nothing is drawn anew: the same commit gets the same answer."""
    config.option.long = config.option.long or config.option.lesson is not None
    settings.load_profile("night" if config.option.long else "day")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "long" and not config.getoption("--long", False) else None


@pytest.hookimpl(trylast=True)  # what is asked for by name is chosen first
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A worker takes one file after the other, in this order."""
    left = set[pytest.Item]()
    if config.option.lesson is not None:
        left = not_about(items, config.option.lesson)
    elif not config.option.long:
        left = left_out(items)
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]
    items.sort(key=lambda item: next((i for i, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST)))


@pytest.fixture(autouse=True, scope="session")
def logs_tell_no_progress() -> Iterator[None]:
    """How many lines there are of it depends on how busy a machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "LOG_SECONDS", math.inf)
        yield


@pytest.fixture(autouse=True, scope="session")
def all_starts_warm() -> Iterator[None]:
    """A notebook's kernel and a zygote are forked where PyTorch is there already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_provisioner, "launch_kernel", warm.launch_kernel)
        patch.setattr(warming, "start", lambda *to: warm_zygotes.start(warm.MOTHER.ready(), *to))
        yield
    warm.stop()


@pytest.fixture(autouse=True)
def ctrl_c_is_for_pytest() -> Iterator[None]:
    """A command that runs in this process sees to Ctrl-C, until it ends."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)


def pytest_collection_finish() -> None:
    """What was imported stays: nobody is to look for garbage in it again and again."""
    gc.collect()
    gc.freeze()


_seconds = Counter[str]()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds["/".join(report.nodeid.split("/")[:2]).partition("::")[0]] += report.duration


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Says what all of it cost, workers and their children included. Nothing is held to it: machines differ."""
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        rooms = ", ".join(f"{room.removeprefix('tests/')} {seconds:.0f}" for room, seconds in _seconds.most_common(12))
        print(f"Seconds by room, of all processes: {rooms}")
        spent = os.times()
        seconds = spent.user + spent.system + spent.children_user + spent.children_system
        print(f"{seconds / 60:.1f} processor minutes in all")

"""How `make test` shares the work out, and what it says at the end.

Long tests stand in folders called `long` and run with --long only. Those of the lessons measure a table and write it
(`make claims`); those of `tests/gradebook/` kill a run at random moments (`make kills`). Tests marked as `later` belong
to a proof that is run again when its code has changed: see `tests/proofs.py`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.provisioning import local_provisioner

from grader.running import warming
from tests import proofs, warm, warm_zygotes
from tests.shell import grader

__all__ = ["grader"]

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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "long" and not config.getoption("--long", False) else None


class Bookkeeper:
    """Writes down each proof whose tests have all passed."""

    def __init__(self, items: list[pytest.Item]) -> None:
        self.left: dict[str, tuple[str, str]] = {
            item.nodeid: proof for item in items if (proof := proofs.proof_of(item)) is not None
        }
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        if report.when == "teardown" and report.nodeid not in self.failed:
            proof = self.left.pop(report.nodeid, None)
            if proof is not None and proof not in self.left.values():
                proofs.record(*proof)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A worker takes one file after the other, in this order."""
    options = config.option
    if not options.long:
        later = {item for item in items if item.get_closest_marker("later")}
        config.hook.pytest_deselected(items=list(later))
        items[:] = [item for item in items if item not in later]
    elif not (options.keyword or options.markexpr or "::" in "".join(config.args)):
        config.pluginmanager.register(Bookkeeper(items))
    items.sort(key=lambda item: next((i for i, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST)))


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


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Says what all of it cost, workers and their children included. Nothing is held to it: machines differ."""
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        spent = os.times()
        seconds = spent.user + spent.system + spent.children_user + spent.children_system
        print(f"{seconds / 60:.1f} processor minutes in all")

"""How `make test` shares the work out, and what it says at the end."""

from __future__ import annotations

import os

import pytest

# Where most of the time goes. Whoever began one of these last would work alone at the end.
FIRST = (
    "tests/claims/",
    "tests/gradebook/",
    "tests/test_docs.py",
    "tests/audit/",
    "tests/exercises/",
    "tests/attacks/",
    "tests/test_other_processors.py",
    "tests/browser/",
    "tests/building/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A worker takes one file after the other, in this order."""
    items.sort(key=lambda item: next((i for i, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST)))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Says what all of it cost, workers and their children included. Nothing is held to it: machines differ."""
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        spent = os.times()
        seconds = spent.user + spent.system + spent.children_user + spent.children_system
        print(f"{seconds / 60:.1f} processor minutes in all")

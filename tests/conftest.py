"""Long tests, in folders called `long`, run with --long only.

Those of `tests/claims/` measure a table of `data/` and write it (`make claims`); those of `tests/gradebook/` kill a
run at random moments (`make kills`).
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long tests too")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "long" and not config.getoption("--long", False) else None

"""Long measurements, in `tests/claims/long/`, run with `make claims` only: each writes its table into `data/`."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="measure the long tables of data/ again")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "long" and not config.getoption("--long", False) else None

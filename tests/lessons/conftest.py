"""Long measurements, in a lesson's `long/`, run with `make claims` only: each writes a table of the lesson."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="measure the lessons' long tables again")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name == "long" and not config.getoption("--long", False) else None

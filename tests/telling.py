"""Tells `tests/twice.py` what failed: a plugin of pytest."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failures-to", type=Path, help="write the names of the tests that failed into this file")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.failures_to is not None:
        reports = [report for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, ())]
        names = dict.fromkeys(report.nodeid for report in reports)
        config.option.failures_to.write_text("".join(f"{name}\n" for name in names), "utf-8")

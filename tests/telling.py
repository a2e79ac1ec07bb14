"""Tells `tests/twice.py` what failed: a plugin of pytest."""

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failures-to", type=Path, help="write the names of the tests that failed into this file")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.failures_to is not None:
        reports = [report for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, ())]
        told = {report.nodeid: _cause(report) for report in reports}
        config.option.failures_to.write_text(json.dumps(told), "utf-8")


def _cause(report: pytest.TestReport) -> str:
    """What several tests have in common that failed at once: a fixture of their file that couldn't be had."""
    if report.when != "setup":
        return report.nodeid
    why = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
    return "\n".join([report.nodeid.partition("::")[0], *why])

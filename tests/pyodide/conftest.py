"""Pyodide, as it was fetched for the site."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv" / "pyodide"
START_SECONDS = 300


def missing(why: str) -> None:
    """Skips; in CI, fails."""
    if os.environ.get("NOTHING_SKIPPED"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def interpreter() -> Path:
    """The folder with Pyodide, fetched if it isn't there yet."""
    if not FOLDER.is_dir():
        done = subprocess.run([sys.executable, ROOT / "environment" / "browser.py", FOLDER], check=False)
        if done.returncode:
            missing("Pyodide could not be fetched: its words are above.")
    return FOLDER


class PythonInNode:
    """A process that judges in Pyodide."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, *question: Any) -> dict[str, Any]:
        """What `tests.pyodide.verdicts.verdicts` says there."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        reply: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "stopped" not in reply, reply["stopped"]
        return reply


@pytest.fixture(scope="session")
def python(interpreter: Path) -> Iterator[PythonInNode]:
    """Pyodide in Node, started once."""
    node = shutil.which("node")
    if node is None:
        missing("There is no Node here: apt-get install nodejs.")
    process = subprocess.Popen(
        [str(node), str(Path(__file__).with_name("python.mjs")), str(interpreter), str(ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield PythonInNode(process)
    process.stdin.close()  # type: ignore[union-attr]
    process.wait(300)

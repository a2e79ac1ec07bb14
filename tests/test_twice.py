"""What a run of all tests makes of failures: chance is told from a fault, and nothing is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import twice

ROOT = Path(__file__).parents[1]
UNSTEADY = """
import pathlib
def test_unsteady():
    met = pathlib.Path({met!r})
    again = met.exists()
    met.touch()
    assert again
"""
NOT_BEGUN = """
import pathlib, pytest
@pytest.fixture(scope="module")
def place():
    met = pathlib.Path({met!r})
    again = met.exists()
    met.touch()
    assert again
@pytest.mark.parametrize("n", range(9))
def test_unsteady(place, n): pass
"""
WITHOUT = """
import pytest
@pytest.fixture(params=range(4))
def place(request): assert not request.param + 1
def test_many(place): pass
"""
BROKEN = "def test_broken():\n    assert 1 == 2\n"
MANY = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_many(n):\n    assert n < 0\n"


def run(tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    """A run of one file of tests, with a temporary folder of its own."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "test_it.py").write_text(source)
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": str(ROOT)}
    options = ["-p", "no:cacheprovider", str(tmp_path / "test_it.py")]
    command = [sys.executable, "-m", "tests.twice", *options]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert not list((tmp_path / "temporary").iterdir())
    return done


def test_what_passes_alone_is_named_and_the_run_is_green(tmp_path: Path) -> None:
    done = run(tmp_path, UNSTEADY.format(met=str(tmp_path / "met")))
    assert done.returncode == 0, done.stdout
    assert "UNSTEADY" in done.stdout.splitlines()[-2]
    assert done.stdout.splitlines()[-1].strip() == "test_it.py::test_unsteady"


def test_tests_that_lack_the_same_fixture_are_one_failure(tmp_path: Path) -> None:
    done = run(tmp_path, NOT_BEGUN.format(met=str(tmp_path / "met")))
    assert done.returncode == 0, done.stdout
    assert [line.strip() for line in done.stdout.splitlines()[-9:]] == [
        f"test_it.py::test_unsteady[{n}]" for n in range(9)
    ]


@pytest.mark.parametrize(("source", "runs"), [(BROKEN, 2), (MANY, 1), (WITHOUT, 1)])
def test_a_fault_is_red_with_the_commands_that_show_it_again(tmp_path: Path, source: str, runs: int) -> None:
    done = run(tmp_path, source)
    assert done.returncode == 1
    assert done.stdout.count("short test summary") == runs
    assert ".venv/bin/python -m pytest 'test_it.py::test_" in done.stdout.splitlines()[-1]


def test_what_killed_runs_have_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twice.tempfile, "gettempdir", lambda: str(tmp_path))
    left, going = tmp_path / "cct-999999999-x", tmp_path / f"cct-{os.getpid()}-x"
    for folder in (left, going):
        (folder / "inside").mkdir(parents=True)
    twice._sweep()
    assert [folder.name for folder in tmp_path.iterdir()] == [going.name]

"""Faults are put in where they are meant, and taken out again."""

import ast
from pathlib import Path

import pytest

from tests import faults
from tests.faults import Fault, drawn, failing, faults_of

SOURCE = """\
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import decimal

def größe(n: int = 3) -> "list[int]":
    if "ü" == n < 4: raise ValueError(n)
    x: int = 0
    while x < n: print("ä", x); x += 1
    return [x]
"""


def test_every_kind_of_fault_changes_just_its_own_place(tmp_path: Path) -> None:
    changed = []
    for fault in faults_of("module.py", SOURCE):
        (tmp_path / "module.py").write_text(SOURCE, "utf-8")
        assert fault.put_into(tmp_path) == SOURCE
        changed.append((tmp_path / "module.py").read_text("utf-8"))
        ast.parse(changed[-1])
        assert changed[-1] != SOURCE
    assert len({*changed}) == len(changed)
    for line in ("while (x <= n):", "while x < n: pass; x += 1", 'print("ä", x); pass', "return None", "x: int = 1"):
        assert sum(line in text for text in changed) == 1, line
    assert all("if TYPE_CHECKING:" in text for text in changed)


def test_the_same_seed_draws_the_same_faults_no_two_in_one_file() -> None:
    first = drawn(6, 0)
    assert first == drawn(6, 0) != drawn(6, 1)
    assert len({fault.path for fault in first}) == 6
    assert not any("lesson_" in fault.path for fault in first)


def test_a_fault_is_seen_by_the_test_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doubled.py").write_text("def doubled(n):\n    return n + n\n")
    (tmp_path / "test_doubled.py").write_text(
        "from doubled import doubled\n\ndef test():\n    assert doubled(2) == 4\n"
    )
    assert failing(tmp_path, ["test_doubled.py"]) is None
    (fault,) = faults_of("doubled.py", (tmp_path / "doubled.py").read_text())
    monkeypatch.setattr(faults, "copy_to", lambda folder: _copy(tmp_path, folder))
    monkeypatch.setattr(faults, "tests_of", lambda path: ["test_doubled.py"])
    harmless = Fault("doubled.py", 2, fault.start, fault.before, "return 2 * n")
    seen = list(faults.tried([fault, harmless], jobs=1))
    assert seen == [(fault, "test_doubled.py::test"), (harmless, None)]


def _copy(source: Path, folder: Path) -> None:
    folder.mkdir()
    for path in source.glob("*.py"):
        (folder / path.name).write_text(path.read_text())

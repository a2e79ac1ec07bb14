"""What the site serves of Pyodide is what was tested, or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellcheck.browser.interpreter import Interpreter, wheels_of
from cellcheck.repository import Repository
from environment import browser

ROOT = Path(__file__).parents[2]
CONTENT = {"pyodide.js": b"core", "numpy-1-py3-none-any.whl": b"wheel"}


@pytest.fixture
def lock() -> dict[str, Any]:
    def digest(name: str) -> str:
        return hashlib.sha256(CONTENT[name]).hexdigest()

    (wheel,) = [name for name in CONTENT if name.endswith(".whl")]
    entry = {"name": "numpy", "file_name": wheel, "sha256": digest(wheel), "depends": []}
    return {"core": {"pyodide.js": digest("pyodide.js")}, "list": {"info": {}, "packages": {"numpy": entry}}}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    return folder


def test_all_files_come_once_and_others_go(tmp_path: Path, source: Path, lock: dict[str, Any]) -> None:
    target = tmp_path / "pyodide"
    assert browser.fetch(target, lock, str(source)) == 2
    (target / "of an earlier version").touch()
    assert browser.fetch(target, lock, "/nowhere") == 0
    assert {path.name for path in target.iterdir()} == {*CONTENT, browser.LIST}
    assert json.loads((target / browser.LIST).read_text())["packages"].keys() == {"numpy"}
    assert browser.fetch(tmp_path / "again", lock, source.as_uri()) == 2


def test_another_file_than_was_tested_is_refused(tmp_path: Path, source: Path, lock: dict[str, Any]) -> None:
    (source / "numpy-1-py3-none-any.whl").write_bytes(b"something else")
    with pytest.raises(browser.NotFetched, match="is not the file that was tested"):
        browser.fetch(tmp_path / "pyodide", lock, str(source))
    assert not (tmp_path / "pyodide" / "numpy-1-py3-none-any.whl").exists()


@pytest.mark.parametrize("place", ["/nowhere", "http://127.0.0.1:9/"])
def test_where_it_can_not_be_had_a_sentence_says_so(tmp_path: Path, place: str) -> None:
    target = tmp_path / "pyodide"
    done = subprocess.run(
        [sys.executable, ROOT / "environment" / "browser.py", target],
        env=os.environ | {browser.VARIABLE: place},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("No Python for the browser: ")
    assert done.stderr.endswith("The site is built without lab/ and live exercises.\n")
    assert not target.exists()
    assert "environment/browser.py .venv/pyodide || true" in (ROOT / "Makefile").read_text()


def test_the_hashes_are_those_that_pyodide_publishes(interpreter: Path) -> None:
    """All of them are there, and NumPy's own wheel is what the learners' checks run on."""
    lock = json.loads(browser.LOCK.read_text())
    for name, digest in browser.hashes(lock).items():
        assert hashlib.sha256((interpreter / name).read_bytes()).hexdigest() == digest
    assert {"numpy", "pandas", "matplotlib"} <= lock["list"]["packages"].keys()


# --- a wheel of the owner's, such as one of PyTorch


INFO = {"abi_version": "2024_0", "arch": "wasm32", "python": "3.12.7", "version": "0.27.7"}
FITTING = "torch-2.13.0-cp312-cp312-pyodide_2024_0_wasm32.whl"


def torch_wheel(path: Path) -> str:
    """A wheel that has PyTorch's name and nothing else; as a line of the setting."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("torch/__init__.py", "__version__ = '2.13.0'")
        archive.writestr(
            "torch-2.13.0.dist-info/METADATA", "Name: torch\nRequires-Dist: filelock\nRequires-Dist: numpy\n"
        )
        archive.writestr("torch-2.13.0.dist-info/RECORD", "")
    return f"{path.as_uri()}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}"


def test_a_wheel_of_the_owners_is_fetched_and_listed(tmp_path: Path, source: Path, lock: dict[str, Any]) -> None:
    lock["list"]["info"] = INFO
    target = tmp_path / "pyodide"
    both = browser.with_own(lock, target, [torch_wheel(tmp_path / "there" / FITTING)])
    browser.fetch(target, both, str(source))
    assert (target / FITTING).is_file()
    listed = json.loads((target / browser.LIST).read_text())["packages"]["torch"]
    assert (listed["version"], listed["imports"]) == ("2.13.0", ["torch"])

    interpreter = Interpreter(target)
    assert interpreter.own == {"torch": ["filelock", "numpy"]}
    wheels = wheels_of(Repository.find(ROOT), interpreter)
    course = next(wheel for wheel in wheels if wheel.name == "transformers-cell-by-cell")
    assert "torch" in course.depends
    served = json.loads((interpreter.serve(tmp_path / "site", wheels) / browser.LIST).read_text())["packages"]
    assert served["torch"]["depends"] == ["filelock", "numpy"]
    assert "filelock" in served  # pure Python, and installed here
    assert (tmp_path / "site" / "python" / FITTING).is_file()


def test_a_wheel_for_another_pyodide_fits_that_one(tmp_path: Path, lock: dict[str, Any]) -> None:
    """What an owner pins for a PyTorch that exists: Pyodide 314, whose wheels have another name for their platform."""
    lock["list"]["info"] = {"abi_version": "2026_0", "arch": "wasm32", "python": "3.14.2", "version": "314.0.0"}
    name = "torch-2.13.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl"
    both = browser.with_own(lock, tmp_path / "pyodide", [torch_wheel(tmp_path / name)])
    assert both["list"]["packages"]["torch"]["file_name"] == name


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        (FITTING, lambda line: line[:-3] + "000", "its hash differs"),
        (FITTING, lambda line: line.partition("#")[0], "needs its hash"),
        ("torch-2.13.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl", str, "is made for another Python"),
        ("torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl", str, "is made for another Python"),
    ],
)
def test_a_wheel_that_is_not_what_it_should_be_is_refused(
    tmp_path: Path, lock: dict[str, Any], name: str, change: Callable[[str], str], why: str
) -> None:
    lock["list"]["info"] = INFO
    with pytest.raises(browser.NotFetched, match=why):
        browser.with_own(lock, tmp_path / "pyodide", [change(torch_wheel(tmp_path / name))])
    assert not (tmp_path / "pyodide" / name).exists()

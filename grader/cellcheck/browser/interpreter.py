"""Python beside the pages: Pyodide's files, and a list of packages that knows the course's own wheels."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cellcheck.browser.wheels import NotPure, Wheel, built, of_installed
from cellcheck.repository import BESIDE, Repository

FOLDER = "python"
"""Where it stands on the site."""
LIST = "pyodide-lock.json"
WITHOUT = ("*/notebooks/*",)
"""What a browser has no use for: the notebooks stand beside it."""
WEIGHTS = ("*.pt", "*.safetensors")
"""Files of trained models: where there is no PyTorch, nobody loads them."""
KERNEL = ("comm",)
"""What a notebook's kernel asks for, and Pyodide doesn't bring."""
LEFT_OUT = frozenset({"ipywidgets"})
"""What lessons do without: a progress bar is a line of text there."""


class Interpreter:
    """Pyodide in a folder, with its list of packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def known(self) -> dict[str, Any]:
        """Pyodide's list."""
        return dict(json.loads((self.folder / LIST).read_text("utf-8")))

    @property
    def packages(self) -> set[str]:
        """The names of the packages that come with it."""
        return set(self.known["packages"])

    @property
    def own(self) -> dict[str, list[str]]:
        """The packages that the course's owner has added to Pyodide's, each with the packages that it asks for."""
        return {name: needs(each["requires"]) for name, each in self.known["packages"].items() if "requires" in each}

    def serve(self, site: Path, wheels: Iterable[Wheel]) -> Path:
        """Puts everything into the site's folder; returns where."""
        target = site / FOLDER
        target.mkdir(parents=True, exist_ok=True)
        added = {wheel.file_name: wheel for wheel in wheels}
        for path in target.iterdir():  # of an earlier build
            if path.name not in added and not (self.folder / path.name).is_file():
                path.unlink()
        for path in self.folder.iterdir():
            there = target / path.name
            if path.name != LIST and not (there.is_file() and there.stat().st_mtime_ns == path.stat().st_mtime_ns):
                shutil.copy2(path, there)
        for name, wheel in added.items():
            (target / name).write_bytes(wheel.data)
        packages = {**self.known["packages"], **{wheel.name: wheel.entry for wheel in added.values()}}
        for name, asked in self.own.items():
            packages[name] = {**packages[name], "depends": [each for each in asked if each in packages]}
        (target / LIST).write_text(json.dumps({**self.known, "packages": packages}, sort_keys=True), "utf-8")
        return target


def wheels_of(repository: Repository, interpreter: Interpreter) -> list[Wheel]:
    """The grader, the course, and what the course asks for that Pyodide doesn't bring, as far as it is pure Python.

    What isn't, such as PyTorch, is not there in the browser: a lesson that needs it doesn't open.
    """
    grader = "cellcheck"
    wheels: dict[str, Wheel] = {}

    def had(names: Iterable[str]) -> list[str]:
        """Which of these packages there will be."""
        there = []
        for name in names:
            if name not in interpreter.packages | set(wheels) | {grader} and name not in LEFT_OUT:
                with suppress(NotPure):
                    wheel = of_installed(name)
                    wheels[name] = replace(wheel, depends=tuple(had(needs(distribution(name).requires or ()))))
            if name in interpreter.packages | set(wheels) | {grader}:
                there.append(name)
        return there

    depends = had(needs(repository.project["dependencies"]))
    had(KERNEL)
    for asked in interpreter.own.values():
        had(asked)
    beside = repository.root / BESIDE
    engine = built(beside, ["numpy"], [grader]) if repository.has_the_grader else of_installed(grader)
    package = repository.package.split(".")[0]
    without = WITHOUT if "torch" in depends else (*WITHOUT, *WEIGHTS)
    course = built(repository.root, dict.fromkeys([grader, *depends]), [package], without)
    return [replace(engine, depends=("numpy",)), course, *wheels.values()]


def needs(lines: Iterable[str]) -> list[str]:
    """The names of the packages that requirements such as "tqdm>=4.66" ask for, here and without extras."""
    wanted = (Requirement(line) for line in lines)
    asked = [one for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [canonicalize_name(one.name) for one in asked]

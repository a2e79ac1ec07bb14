"""The library's reference: a page for each module, made of its docstrings by Sphinx's autodoc."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from cellcheck.publishing.exercises import ExerciseAddress
from cellcheck.syllabus import lesson_names, load_lesson

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_INTRO = "What learners build, module by module. Each docstring gives shapes, units and sources."


def pages(package: str) -> Iterator[tuple[str, str]]:
    """The name and the text of each page: one for each module or package in the library, and one that lists them."""
    library = import_module(package)
    listed = [package]
    yield f"{package}.rst", _described(package, is_package=True)
    for _, name, is_package in sorted(pkgutil.iter_modules(library.__path__, f"{package}."), key=lambda info: info[1]):
        text = _described(name, is_package=is_package)
        if is_package:
            within = pkgutil.iter_modules(import_module(name).__path__, f"{name}.")
            text += "".join(_described(module.name, is_package=False, line="-") for module in within)
        listed.append(name)
        yield f"{name}.rst", text
    names = "\n".join(f"   {name}" for name in listed)
    yield "index.rst", f"{_headed(f'The library {package}')}{_INTRO}\n\n.. toctree::\n   :maxdepth: 1\n\n{names}\n"


def _described(name: str, is_package: bool, line: str = "=") -> str:
    # A package only gathers what its modules define, and there it is described.
    members = "" if is_package else "   :members:\n   :show-inheritance:\n"
    return f"{_headed(name, line)}.. automodule:: {name}\n{members}\n"


def _headed(title: str, line: str = "=") -> str:
    return f"{title}\n{line * len(title)}\n\n"


def read_docstring(_app: Sphinx, what: str, name: str, _symbol: object, _options: object, lines: list[str]) -> None:
    """Autodoc asks before it reads a docstring: what reStructuredText would take for its own is put out of its way."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = re.sub(r"\|(?=[^|`]*\|)|(?<=\S)\|", r"\|", line)
    if what in ("attribute", "property"):  # else napoleon takes the words before a colon for its type
        lines.insert(0, "")
    place = _exercises().get(name)
    if place is not None:
        lesson, _, _ = place.lesson.partition("_")
        lines += ["", f"You write it in :ref:`lesson {int(lesson)} <{place.label.lower()}>`."]


@cache
def _exercises() -> dict[str, ExerciseAddress]:
    """The exercises, by what their symbol is called in the library; the first lesson that asks for one counts."""
    places: dict[str, ExerciseAddress] = {}
    for lesson in lesson_names():
        for exercise in load_lesson(lesson).exercises:
            name = f"{exercise.references[0].__module__}.{exercise.symbol}"
            places.setdefault(name, ExerciseAddress(lesson, exercise.symbol))
    return places

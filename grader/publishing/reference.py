"""The library's reference: a page for each module, made of its docstrings by Sphinx's autodoc."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from grader.publishing.exercises import Place
from grader.syllabus import lesson_names, load_lesson

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_INTRO = "What learners build, module by module. Each docstring gives shapes, units and sources."


def pages(package: str) -> Iterator[tuple[str, str]]:
    """One page for each module of the library, and one that lists them: names and texts."""
    listed = {package: True}
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.rpartition(".")[2].startswith("_"):
            listed[module.name] = module.ispkg
    for name, is_package in listed.items():
        # A package only gathers what its modules define, and there it is described.
        members = "" if is_package else "   :members:\n   :show-inheritance:\n"
        yield f"{name}.rst", f"{_headed(name)}\n.. automodule:: {name}\n{members}"
    names = "\n".join(f"   {name}" for name in listed)
    yield "index.rst", f"{_headed(f'The library {package}')}\n{_INTRO}\n\n.. toctree::\n   :maxdepth: 1\n\n{names}\n"


def _headed(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n"


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
def _exercises() -> dict[str, Place]:
    """The exercises, by what their symbol is called in the library; the first lesson that asks for one counts."""
    found: dict[str, Place] = {}
    for lesson in lesson_names():
        for exercise in load_lesson(lesson).exercises:
            name = f"{exercise.references[0].__module__}.{exercise.symbol}"
            found.setdefault(name, Place(lesson, exercise.symbol))
    return found

"""Which exercises an answer makes use of: read from the library's own source, so that nobody keeps a list."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cellcheck.authoring.spec import Exercise, Lesson
from cellcheck.syntax import syntax_tree


@dataclass(frozen=True)
class ExerciseAddress:
    """Where an exercise stands: its lesson's name, its symbol, and the language of the page (none for English)."""

    lesson: str
    symbol: str
    language: str = ""

    @property
    def label(self) -> str:
        """What its heading is linked by."""
        return "-".join(filter(None, ("exercise", self.language, self.lesson.split("_")[0], self.symbol)))

    @property
    def link(self) -> str:
        """A link to its heading, in Markdown."""
        return f"[`{self.symbol}`](#{self.label})"


@dataclass(frozen=True)
class Map:
    """All exercises of a course, and what leads to what."""

    lessons: Mapping[str, Lesson]

    @cached_property
    def _places(self) -> dict[int, ExerciseAddress]:
        """By the identity of the symbol in the library; one that two lessons ask for belongs to the first."""
        places: dict[int, ExerciseAddress] = {}
        for name, lesson in self.lessons.items():
            for exercise in lesson.exercises:
                places.setdefault(id(exercise.references[0]), ExerciseAddress(name, exercise.symbol))
        return places

    def needs(self, place: ExerciseAddress) -> list[ExerciseAddress]:
        """The exercises whose symbols its answer uses, directly or through helpers of the library, in course order."""
        answer = self.lessons[place.lesson][place.symbol].references[0]
        library = answer.__module__.split(".")[0]
        reached: set[int] = set()
        needed: set[ExerciseAddress] = set()
        waiting = [answer]
        while waiting:
            for used in _used_by(waiting.pop()):
                if id(used) in reached or used is answer:
                    continue
                reached.add(id(used))
                if id(used) in self._places:
                    needed.add(self._places[id(used)])
                elif str(getattr(used, "__module__", "")).split(".")[0] == library:
                    waiting.append(used)
        return [address for address in self._places.values() if address in needed]

    def after(self, place: ExerciseAddress) -> ExerciseAddress | None:
        """The lesson's next exercise."""
        symbols = [exercise.symbol for exercise in self.lessons[place.lesson].exercises]
        rest = symbols[symbols.index(place.symbol) + 1 :]
        return replace(place, symbol=rest[0]) if rest else None

    def does(self, place: ExerciseAddress) -> str:
        """The first sentence of its docstring, on one line."""
        docstring = inspect.getdoc(self.exercise(place).references[0]) or ""
        return re.split(r"(?<=[.?])\s", " ".join(docstring.split("\n\n")[0].split()))[0]

    def exercise(self, place: ExerciseAddress) -> Exercise:
        """What is known about it."""
        return self.lessons[place.lesson][place.symbol]


def _used_by(symbol: Any) -> Iterator[Any]:
    """The functions and classes that a function's or class's source names."""
    try:
        tree = syntax_tree(textwrap.dedent(inspect.getsource(symbol)))
    except (OSError, TypeError):  # made at run time, or no function and no class
        return
    around = vars(sys.modules[symbol.__module__])
    for node in ast.walk(tree):
        used = None
        if isinstance(node, ast.Name):
            used = around.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = around.get(node.value.id)
            used = getattr(module, node.attr, None) if inspect.ismodule(module) else None
        if inspect.isfunction(used) or inspect.isclass(used):
            yield used

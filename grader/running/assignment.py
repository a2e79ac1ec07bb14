"""An assignment as it was released: its notebooks, cell by cell, and the files beside them.

A lesson's notebook is one kind: some of its tests ask for an exercise. In a plain one every test is an instructor's
own. A learner's notebook is compared with it here: what was lost is found or put back, locked text is as released.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from grader.authoring.spec import Lesson
from grader.plain import harmless
from grader.running.intake import Cell
from grader.running.reading import definitions
from grader.running.result import OwnTest

SKIPPED = "skip-execution"  # nbclient's own
_HIDDEN = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*\n?", re.MULTILINE | re.DOTALL)
_CHECKS = re.compile(r"\bgrader\b.*\bchecks\(", re.DOTALL)


@dataclass(frozen=True)
class SourceCell:
    """A cell as it was released: what nbgrader keeps of it, hidden tests included."""

    cell_type: str
    locked: bool
    source: str
    checksum: str
    points: float | None
    """None where it earns no points."""
    answer: bool
    """Whether the learner writes into it."""
    task: bool = False
    """Whether the learner writes below it, and a person gives the points."""

    @property
    def is_test(self) -> bool:
        """Whether running it gives a mark."""
        return self.points is not None and not self.answer and self.cell_type == "code"

    @property
    def by_hand(self) -> bool:
        """Whether only a person can give its points."""
        return self.points is not None and not self.is_test

    @cached_property
    def defines(self) -> frozenset[str]:
        """The names that its stub defines."""
        return frozenset(definitions(self.source)[0]) if self.cell_type == "code" else frozenset()


Cells = Mapping[str, SourceCell]
"""A notebook's cells by name, in their order. Cells without a name are not known here."""


@dataclass(frozen=True)
class Assignment:
    """See the module's docstring."""

    name: str
    notebooks: Mapping[str, Cells]
    """By name, without ".ipynb", in nbgrader's order."""
    lesson: Lesson | None = None
    """Where some of the tests are checks of exercises: whose they are."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What the source has beside its notebooks, by path: it replaces a learner's copy."""
    skipped: str = SKIPPED
    """Cells with this tag are not run."""
    several: bool = False
    """Whether it has, or is part of one that has, several notebooks: then each test says where it stands."""

    def __post_init__(self) -> None:
        if len(self.notebooks) > 1:
            object.__setattr__(self, "several", True)

    @property
    def plain(self) -> Assignment:
        """The notebooks that aren't a lesson's."""
        if self.lesson is None:
            return self
        left = {title: cells for title, cells in self.notebooks.items() if title != self.name}
        return replace(self, notebooks=left, lesson=None)

    def tests(self, notebook: str) -> tuple[OwnTest, ...]:
        """The tests of a notebook that aren't checks, as they were released."""
        exercises = self.lesson.exercises if self.lesson is not None and notebook == self.name else ()
        checks = {f"test_{exercise.symbol}" for exercise in exercises}
        return tuple(
            OwnTest(name, cell.source, cell.points or 0.0, notebook if self.several else "")
            for name, cell in self.notebooks[notebook].items()
            if cell.is_test and name not in checks
        )

    def asks_for_checks(self) -> bool:
        """Whether a notebook that isn't a lesson's has tests that need one."""
        cells = [cell for found in self.plain.notebooks.values() for cell in found.values()]
        return any(_CHECKS.search(cell.source) for cell in cells)


def steps(cells: Iterable[dict[str, Any]], tests: Iterable[OwnTest], skipped: str) -> list[Cell | OwnTest]:
    """What there is to run in a plain notebook that was made whole, in order."""
    by_name = {test.name: test for test in tests}
    found: list[Cell | OwnTest] = []
    for cell in cells:
        if cell["grade_id"] in by_name:
            found.append(by_name[cell["grade_id"]])
        elif cell["kind"] == "code" and cell["source"].strip() and skipped not in cell["tags"]:
            found.append(Cell(cell["number"], cell["source"], cell["grade_id"], False, frozenset(), False))
    return found


def whole(cells: Iterable[dict[str, Any]], source: Cells) -> tuple[list[dict[str, Any]], list[str]]:
    """A learner's cells (see `grader.running.reading.cells_of`) made whole, and what was put right.

    Each cell of the assignment is there at most once and is what it was: code or text, and locked text as it was
    released. Those that earn points, and locked code, are there at least once: nobody means to delete them. Where the
    notebook had lost all names, an answer that was put back is `lost`: what was written for it may be elsewhere.
    """
    made = [dict(cell) for cell in cells]
    stripped = source and not any(cell["grade_id"] for cell in made)
    repairs = (
        ["The notebook had lost its cell metadata, so its cells were found by what they hold."] if stripped else []
    )
    _unmark(made, source, repairs)
    _find_lost(made, source)
    for cell in made:
        known = source.get(cell["grade_id"] or "")
        if known is not None:
            cell["kind"] = known.cell_type
            if known.locked:
                cell["source"] = known.source
                cell["tags"] = []  # a tag could keep it from being run
        elif cell["retyped"] and cell["grade_id"] is None:
            cell["kind"] = "code"
    _put_back(made, source, repairs)
    for cell in made:
        cell["lost"] = bool(stripped and cell.get("put_back"))
    return made, repairs


def _unmark(cells: list[dict[str, Any]], source: Cells, repairs: list[str]) -> None:
    """Takes names away that the assignment does not know, and all but the last of each, as nbgrader does."""
    seen: set[str] = set()
    for cell in reversed(cells):
        name = cell["grade_id"]
        if name is not None and name in seen:
            repairs.append(f"Two cells are called {harmless(name)}; the last one counts.")
        if name is not None and (name in seen or name not in source):
            cell["grade_id"] = cell["marks"] = None
        seen.add(name)


def _find_lost(cells: list[dict[str, Any]], source: Cells) -> None:
    """Cells that lost their name: a locked one by its text, an answer by what it defines."""
    lost = [cell for cell in cells if cell["grade_id"] is None]
    there = {cell["grade_id"] for cell in cells}
    for name, known in source.items():
        if name in there:
            continue
        text = _HIDDEN.sub("", known.source).strip()
        if known.locked or known.task:
            fits = [cell for cell in lost if text and cell["source"].strip() == text]
        else:
            fits = [cell for cell in lost if known.defines and known.defines <= set(cell.get("defines", ()))]
        if fits:
            fits[-1]["grade_id"] = name
            lost.remove(fits[-1])


def _put_back(cells: list[dict[str, Any]], source: Cells, repairs: list[str]) -> None:
    """Puts each deleted test, and each deleted cell of locked code, behind what it followed."""
    there = {cell["grade_id"] for cell in cells}
    before: str | None = None
    for name, known in source.items():
        if name not in there and (known.points is not None or (known.locked and known.cell_type == "code")):
            place = next(
                (at for at, cell in enumerate(cells, 1) if before is not None and cell["grade_id"] == before), 0
            )
            cells.insert(place, _released(name, known))
            if known.cell_type == "code" and not known.answer:
                repairs.append(f"The cell {name} had been deleted or had lost its mark; it was put back.")
            there.add(name)
        if name in there:
            before = name


def _released(name: str, cell: SourceCell) -> dict[str, Any]:
    """A released cell, as if it had been read from a file."""
    defines, only = definitions(cell.source) if cell.cell_type == "code" else ([], False)
    said: dict[str, Any] = {
        "number": 0,
        "kind": cell.cell_type,
        "source": cell.source,
        "grade_id": name,
        "retyped": False,
    }
    said |= {"points": cell.points, "tags": [], "marks": None, "pictures": {}, "put_back": True}
    return said | {"defines": defines, "only_definitions": only}


def hidden_lines(source: str) -> frozenset[str]:
    """The lines of a test that stand in its hidden part only."""
    shown = set(map(str.strip, _HIDDEN.sub("", source).splitlines()))
    return frozenset(line for text in _HIDDEN.findall(source) for line in map(str.strip, text.splitlines())) - shown


def ends_with_a_value(source: str) -> bool:
    """Whether a test's last line is there to be a number: a name, not a call, which may give nothing."""
    try:
        last = ast.parse(source).body[-1]
    except (SyntaxError, ValueError, IndexError, RecursionError):
        return False
    named = isinstance(last, ast.Expr) and isinstance(last.value, ast.Name | ast.Attribute | ast.Subscript)
    return named and not source.rstrip().endswith(";")

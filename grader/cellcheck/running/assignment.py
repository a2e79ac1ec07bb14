"""An assignment as it was released: its notebooks, cell by cell, and the files beside them.

A lesson's notebook is one kind: some of its tests ask for an exercise. In a plain one every test is an instructor's
own.
"""

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from cellcheck.authoring.spec import Exercise, Lesson
from cellcheck.running.cells import Cell, Cells, SourceCell, hidden_lines
from cellcheck.running.result import OwnTest
from cellcheck.syllabus import BINDING, EXPERIMENT, find_lesson
from cellcheck.syntax import syntax_tree

SKIPPED = "skip-execution"  # nbclient's own
_CHECKS = re.compile(r"\bcellcheck\b.*\bchecks\(", re.DOTALL)


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
    ungraded: frozenset[str] = frozenset()
    """Notebooks of the source that have nothing to grade, by name: learners hand them in as well."""
    several: bool = False
    """Whether it has, or is part of one that has, several notebooks: then each test says where it stands."""

    def __post_init__(self) -> None:
        if len(self.notebooks) > 1:
            object.__setattr__(self, "several", True)

    @classmethod
    def of_lesson(cls, lesson: Lesson) -> Self:
        """A lesson as it is released, where nobody knows what an instructor has added to it."""
        syllabus, name = find_lesson(lesson.name)
        setup = BINDING.format(lesson=name, edition=syllabus.edition, imports=syllabus.setup(name))
        cells = {"setup": SourceCell("code", True, setup, "", None, False)}
        for exercise in lesson.exercises:
            test = f"test_{exercise.symbol}"
            cells[exercise.symbol] = SourceCell("code", False, "", "", None, True)
            cells[test] = SourceCell("code", True, f"check({exercise.symbol})", "", exercise.points, False)
        return cls(name, {name: cells}, lesson, skipped=EXPERIMENT)

    def only(self, titles: Collection[str]) -> Self:
        """The same with these of its notebooks: nobody asks for the others."""
        return replace(self, notebooks={title: cells for title, cells in self.notebooks.items() if title in titles})

    def exercises(self, notebook: str) -> tuple[Exercise, ...]:
        """What those tests of a notebook ask for that are checks, in the lesson's order."""
        return self.lesson.exercises if self.lesson is not None and notebook == self.name else ()

    def symbols(self, notebook: str) -> tuple[str, ...]:
        """The names of its exercises."""
        return tuple(exercise.symbol for exercise in self.exercises(notebook))

    def tests(self, notebook: str) -> tuple[OwnTest, ...]:
        """The tests of a notebook that aren't checks, as they were released."""
        checks = {f"test_{symbol}" for symbol in self.symbols(notebook)}
        where = notebook if self.several else ""
        own = [(name, c) for name, c in self.notebooks[notebook].items() if c.is_test and name not in checks]
        return tuple(
            OwnTest(name, cell.source, cell.points or 0.0, where, number, hidden_lines(cell.source, cell.hidden))
            for number, (name, cell) in enumerate(own, start=1)
        )

    def steps(self, notebook: str, cells: Sequence[Cell]) -> list[Cell | str | OwnTest]:
        """What there is to do in a notebook that was made whole, in order.

        Cells are run, and so is a test where it stands. A symbol is asked for where its check stands, but not before
        the last cell that defines it.
        """
        symbols = self.symbols(notebook)
        checks = {f"test_{symbol}": symbol for symbol in symbols}
        blank = self._tests_of_blanks(notebook, cells)
        tests = {test.name: replace(test, of_blank=test.name in blank) for test in self.tests(notebook)}
        skipped = {self.skipped, EXPERIMENT} if symbols else {self.skipped}
        runs = {
            place: cell
            for place, cell in enumerate(cells)
            if cell.kind == "code" and cell.source.strip() and not cell.left_out
            if cell.grade_id not in tests and cell.grade_id not in checks and cell.asks not in symbols
            if cell.grade_id in symbols or not skipped & set(cell.tags)
        }
        steps: list[tuple[int, int, Cell | str | OwnTest]] = [(place, 0, cell) for place, cell in runs.items()]
        asked: dict[str, int] = {}
        for place, cell in enumerate(cells):
            if cell.grade_id in tests:
                steps.append((place, 0, tests[cell.grade_id]))
            elif cell.grade_id in checks and not cell.put_back:
                asked[checks[cell.grade_id]] = place
        turn = 0
        for rank, symbol in enumerate(symbols, 1):
            written = [at for at, cell in runs.items() if cell.grade_id == symbol or symbol in cell.defines]
            named = any(symbol in cell.source for cell in runs.values())
            # A symbol that is nowhere is asked for in its turn, so that what follows is not kept waiting for its text.
            nowhere = len(cells) if named else turn
            place = max([*([asked[symbol]] if symbol in asked else []), *written[-1:]], default=nowhere)
            turn = max(turn, place)
            steps.append((place, rank, symbol))
        return [step for *_, step in sorted(steps, key=lambda step: step[:2])]

    def _tests_of_blanks(self, notebook: str, cells: Sequence[Cell]) -> frozenset[str]:
        """The tests before which all answers, back to the tests before those, are still as they were released."""
        written = {cell.grade_id: cell for cell in cells}
        tests, answers, tested = set[str](), list[bool](), False
        for name, original in self.notebooks[notebook].items():
            if original.answer and original.cell_type == "code":
                answers = [] if tested else answers
                tested = False
                answers.append(name in written and original.is_untouched(written[name]))
            elif original.is_test:
                tested = True
                if answers and all(answers):
                    tests.add(name)
        return frozenset(tests)

    def asks_for_checks(self) -> bool:
        """Whether a notebook that isn't a lesson's has tests that need one."""
        return any(
            _CHECKS.search(cell.source)
            for title, cells in self.notebooks.items()
            if not self.exercises(title)
            for cell in cells.values()
        )


def ends_with_a_value(source: str) -> bool:
    """Whether a test's last line is there to be a number: a name, not a call, which may give nothing."""
    try:
        last = syntax_tree(source).body[-1]
    except (SyntaxError, ValueError, IndexError, RecursionError):
        return False
    named = isinstance(last, ast.Expr) and isinstance(last.value, ast.Name | ast.Attribute | ast.Subscript)
    return named and not source.rstrip().endswith(";")

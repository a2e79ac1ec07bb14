"""The notebook that an import becomes, cell by cell."""

from dataclasses import dataclass, field

from nbformat import NotebookNode

from cellcheck.importing import marks
from cellcheck.importing.cases import OtterCase, QuestionTests, cell_text

_HIDDEN = "# More tests run when this is graded."


@dataclass
class Converted:
    """What has been converted so far, and what is to be said about it. A cell's number is that in Otter's notebook."""

    cells: list[NotebookNode] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    """What changes no mark."""
    notes: list[str] = field(default_factory=list)
    """A sentence each."""
    tested: float = 0.0
    """Points that tests give."""
    by_hand: float = 0.0
    _names: marks.CellNames = field(default_factory=marks.CellNames)

    def add_plain(self, number: int, cell: NotebookNode, source: str) -> None:
        """Adds a cell that nbgrader leaves alone."""
        marks.refuse_nbgraders(number, source)
        self.cells.append(marks.unmarked(cell, self._names.new("cell"), source))

    def add_locked(self, number: int, cell: NotebookNode, name: str, source: str) -> None:
        """Adds a cell that learners only read. A raw one does nothing, and nbgrader can lock code and text only."""
        if cell.cell_type == "raw":
            self.add_plain(number, cell, source)
            return
        marks.refuse_nbgraders(number, source)
        self.cells.append(marks.locked(cell, self._names.new(name), source))

    def add_answer(self, number: int, cell: NotebookNode, name: str, source: str, points: float | None = None) -> None:
        """Adds a cell that learners write into; with points, a person grades it."""
        marks.refuse_nbgraders(number, source, solutions=True)
        self.cells.append(marks.answer(cell, self._names.new(name), source, points))
        self.by_hand += points or 0.0

    def add_tests(self, where: int | str, tests: QuestionTests) -> None:
        """Adds a question's tests: a cell for each case, or one where only all of them together earn something.

        Raises:
            Unknown: for points that Otter wouldn't take, or lines that nbgrader would misread.
        """
        worth = tests.worth(where)
        for case in tests.cases:
            marks.refuse_nbgraders(where, "\n".join((case.text, case.success or "", case.failure or "")))
        groups = [list(tests.cases)] if tests.all_or_nothing else [[case] for case in tests.cases]
        each = [sum(worth)] if tests.all_or_nothing else worth
        for number, (group, points) in enumerate(zip(groups, each, strict=True), start=1):
            name = self._names.new(f"test_{tests.name}" + (f"_{number}" if len(groups) > 1 else ""))
            self.cells.append(marks.tests(name, _text(group, name), points))
        self.tested += sum(worth)


def _text(group: list[OtterCase], name: str) -> str:
    """The text of a cell that has some test cases, in their order: one may use up what the next one needs."""
    texts = [] if any(not case.hidden for case in group) else [_HIDDEN]
    for number, case in enumerate(group, start=1):
        text = cell_text(case, marks.identifier(f"{name}_{number}" if len(group) > 1 else name))
        texts.append(marks.hidden(text) if case.hidden else text)
    return "\n\n\n".join(texts)

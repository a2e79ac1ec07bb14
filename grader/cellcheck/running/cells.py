"""A learner's cells beside those that were released: which is which, what was lost, and what is as it was.

Whatever a submission becomes (a mark, an autograded notebook, a line about it), it comes through `whole` first. So the
cell that is graded as an answer is the cell that people are shown as this answer.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Self

from cellcheck.checking.cards import points as said_points
from cellcheck.plain import harmless
from cellcheck.running.plain_cells import definitions

MAX_REPAIRS = 50  # sentences
HIDDEN = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
"""What nbgrader looks for in the lines around a test's hidden part, unless its settings say something else."""
CHECKS = re.compile(r"\bchecks\(\s*[\"'](\w+)[\"']\s*[,)]")
"""What a set-up cell does; it names the lesson."""
_FUNCTION = re.compile(r"^(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
_CHECK = re.compile(r"check\(\s*[\"']?(\w+)[\"']?\s*\)\s*;?")


@dataclass
class Cell:
    """A cell of a submission. `number` counts all cells from 1, as a reader would."""

    number: int
    source: str
    kind: str = "code"
    """"code", "markdown" or "raw"."""
    grade_id: str | None = None
    tags: Collection[str] = ()
    defines: frozenset[str] = frozenset()
    only_definitions: bool = False
    points: Any = None
    retyped: bool = False
    """Whether it was a code cell when it was released, and isn't one any more."""
    as_released: bool | None = None
    """Whether the notebook itself says so, which may be of an earlier release; None where it doesn't say. A hint."""
    pictures: Mapping[str, Any] = field(default_factory=dict)
    left_out: bool = False
    """Whether it is a blank that was left behind beside an attempt."""
    put_back: bool = False
    """Whether the learner's notebook does not have it."""
    released: bool = False
    """Whether it is a locked cell, and so the instructor's text."""
    lost: bool = False
    """Whether it is an answer that was put back, and what was written for it may be in another cell."""

    @classmethod
    def of(cls, cell: Mapping[str, Any]) -> Self:
        """The cell that `cellcheck.running.plain_cells.cells_of` has read."""
        return cls(
            number=cell["number"],
            source=cell["source"],
            kind=cell["kind"],
            grade_id=cell["grade_id"],
            tags=cell["tags"],
            defines=frozenset(cell.get("defines", ())),
            only_definitions=cell.get("only_definitions", False),
            points=cell["points"],
            retyped=cell["retyped"],
            as_released=cell["as_released"],
            pictures=cell["pictures"],
        )

    @property
    def blank(self) -> bool:
        """Whether nothing was written here yet: the released stub, as it was."""
        return "# YOUR CODE HERE" in self.source and "raise NotImplementedError" in self.source

    @property
    def asks(self) -> str | None:
        """The symbol that this cell checks, if it is a check cell and nothing more."""
        match = _CHECK.fullmatch(self.source.strip())
        return match[1] if match else None

    @property
    def called(self) -> str:
        """What it is called in a sentence."""
        if self.grade_id is not None and (self.released or self.number < 1):  # the same for everybody
            return f"The cell {harmless(self.grade_id)}"
        return f"Cell {self.number}"


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
    hidden: Sequence[str] = HIDDEN
    """What stands in the lines around its hidden part."""
    tags: tuple[str, ...] | None = ()
    """Those that its author gave it; None where nobody knows, as nbgrader keeps none."""

    @property
    def is_test(self) -> bool:
        """Whether running it gives a mark."""
        return self.points is not None and not self.answer and self.cell_type == "code"

    @property
    def by_hand(self) -> bool:
        """Whether only a person can give its points."""
        return self.points is not None and not self.is_test

    @property
    def shown(self) -> str:
        """Its text as learners get it."""
        return _hidden(*self.hidden).sub("", self.source).strip()

    def is_untouched(self, answer: Cell) -> bool:
        """Whether nobody has written anything into an answer: it is as it was released, with whatever stub that has."""
        return answer.blank or answer.source.strip() == self.shown != ""

    @cached_property
    def defines(self) -> frozenset[str]:
        """The names that its stub defines."""
        return frozenset(definitions(self.source)[0]) if self.cell_type == "code" else frozenset()


Cells = Mapping[str, SourceCell]
"""A notebook's cells by name, in their order. Cells without a name are not known here."""


def whole(cells: Iterable[Cell], source: Cells, symbols: Collection[str] = ()) -> tuple[list[Cell], list[str]]:
    """A learner's cells made whole, and what was put right, a sentence each. None of it lowers a mark.

    Each cell of the assignment is there at most once and is what it was: code or text, and locked text as it was
    released. Those that earn points, and locked code, are there at least once: nobody means to delete them. Where the
    notebook had lost all names, an answer that was put back is `lost`: what was written for it may be elsewhere.

    Args:
        cells: the learner's; they stay as they are.
        source: those that were released.
        symbols: the exercises that a lesson asks for: each has a cell of its name, and a check.
    """
    cells_now = [replace(cell) for cell in cells]
    named = {cell.grade_id for cell in cells_now if cell.grade_id is not None}
    _leave_out_blanks(cells_now, source, symbols)
    repairs = _unname(cells_now, source)
    repairs += [f"{cell.called} is a blank copy; it was left out." for cell in cells_now if cell.left_out]
    answers = _find_lost(cells_now, source, symbols)
    repairs += [
        f"The cell of {harmless(name)} had lost its mark; it was found by its definition."
        for name in answers
        if name not in named
    ]
    for cell in cells_now:
        original = source.get(cell.grade_id or "")
        if cell.kind != "code" and (cell.retyped if original is None else original.cell_type == "code"):
            repairs.append(f"{cell.called} was no longer a code cell; it was run as one.")
            cell.kind = "code"
        if original is not None:
            repairs += _changes(cell, original, symbols) if cell.grade_id in named else ()
            _release(cell, original)
    put_back = _put_back(cells_now, source)
    repairs += [
        f"The {_called(name, symbols)} isn't in this notebook: it was deleted, or added after this one was handed out. "
        "It was put in."
        for name in put_back
        if source[name].cell_type == "code" and not source[name].answer
    ]
    if not named:
        for cell in cells_now:
            cell.lost = cell.put_back
            # Experiments can't be told by their tags now: of a lesson's cells, those run that define what is asked for.
            cell.left_out |= bool(symbols) and cell.grade_id is None and not _is_needed(cell, symbols)
        return cells_now, ["The notebook had lost its cell metadata, so its cells were found by what they hold."]
    if len(repairs) > MAX_REPAIRS:
        repairs[MAX_REPAIRS:] = [f"{len(repairs) - MAX_REPAIRS} more things were fixed."]
    return cells_now, repairs


def _is_needed(cell: Cell, symbols: Collection[str]) -> bool:
    """Whether a cell of a lesson's that has neither name nor tags is more than an experiment."""
    return cell.only_definitions or bool(cell.defines & set(symbols)) or CHECKS.search(cell.source) is not None


def _leave_out_blanks(cells: Sequence[Cell], source: Cells, symbols: Collection[str]) -> None:
    """A blank that stands beside an attempt at the same answer is a copy left behind by mistake.

    What stands before a plain notebook's answer and has another name, or none, is no attempt: it may be the
    instructor's own example, which defines the same function.
    """
    for name, original in source.items():
        if not original.answer or original.cell_type != "code":
            continue
        having = [
            (place, cell)
            for place, cell in enumerate(cells)
            if (cell.grade_id == name and cell.source.strip()) or _answers(cell, name, original, symbols)
        ]
        # A variable is simply set again: an untouched cell that sets it is needed by what comes next.
        again = name in symbols or _FUNCTION.search(original.source) is not None
        # Another answer's own cell may have the same text: it is blank for its own sake.
        blanks = [
            (place, cell)
            for place, cell in having
            if original.is_untouched(cell) and (cell.grade_id == name or cell.grade_id not in source)
        ]
        attempts = [(place, cell) for place, cell in having if not original.is_untouched(cell)]
        for place, blank in blanks:
            blank.left_out |= any(
                cell.grade_id == name or name in symbols or (again and place < at) for at, cell in attempts
            )


def _answers(cell: Cell, name: str, original: SourceCell, symbols: Collection[str]) -> bool:
    """Whether a cell defines what an answer is to define."""
    wanted = {name} if name in symbols else original.defines
    return bool(wanted) and wanted <= cell.defines


def _unname(cells: Sequence[Cell], source: Cells) -> list[str]:
    """Takes names away that the assignment does not know, and of each all but the last attempt's. Says which."""
    counts = Counter(cell.grade_id for cell in cells if cell.grade_id in source)
    seen: set[str] = set()
    for cell in reversed(cells):
        name = cell.grade_id
        if name is None or cell.left_out or name in seen or name not in source:
            cell.grade_id = None
        else:
            seen.add(name)
    return [
        f"{count} cells are called {harmless(name or '')}; the last attempt counts."
        for name, count in counts.items()
        if count > 1
    ]


def _find_lost(cells: Sequence[Cell], source: Cells, symbols: Collection[str]) -> list[str]:
    """Gives cells that lost their name their name: a locked one by its text, an answer by what it defines.

    Of several that fit, it is the last one, which is also the one that counts when all are run. Returns the names of
    the answers that were found.
    """
    lost = [cell for cell in cells if cell.grade_id is None and not cell.left_out]
    there = {cell.grade_id for cell in cells}
    answers = []
    for name, original in source.items():
        if name in there:
            continue
        if original.locked or original.task:
            fits = [cell for cell in lost if original.shown and _is_text_of(cell, original)]
        else:
            fits = [cell for cell in lost if _answers(cell, name, original, symbols)]
            answers += [name] if fits else []
        if fits:
            fits[-1].grade_id = name
            lost.remove(fits[-1])
    return answers


def _is_text_of(cell: Cell, original: SourceCell) -> bool:
    """Whether a cell has the released text; of a check, other ways to write it are as good."""
    if cell.source.strip() == original.shown:
        return True
    check = _CHECK.fullmatch(original.shown)
    return check is not None and cell.asks == check[1]


def _changes(cell: Cell, original: SourceCell, symbols: Collection[str]) -> list[str]:
    """What a learner changed in a cell that they only read."""
    assert cell.grade_id is not None
    changes = []
    # A lesson by itself knows what its set-up cell does, and not its text to the letter: that has no checksum.
    untold = cell.as_released or (cell.as_released is None and not original.checksum and not original.is_test)
    if original.locked and original.cell_type == "code" and not untold and not _is_text_of(cell, original):
        what = _called(cell.grade_id, symbols)
        if original.is_test:
            changes.append(f"The {what} had been changed; the released one was used.")
        else:
            changes.append(
                f"The {what} is locked and had been changed. It ran as released; what was added to it did not."
            )
    if original.is_test and cell.points != original.points:  # an instructor may have changed them since
        what = _symbol(cell.grade_id, symbols) or cell.grade_id
        worth = said_points(original.points or 0.0)
        changes.append(
            f"The points of {harmless(what)} in this notebook are not the current ones: it is worth {worth}."
        )
    return changes


def _release(cell: Cell, original: SourceCell) -> None:
    """Makes a cell what it was when it was released, except for what learners write."""
    cell.kind = original.cell_type
    if original.locked:
        cell.source = original.source
        cell.released = True
        cell.defines = original.defines
        # A tag can keep it from being run. Where nobody knows the author's, a learner's own costs only that learner.
        cell.tags = original.tags if original.tags is not None else cell.tags


def _put_back(cells: list[Cell], source: Cells) -> list[str]:
    """Puts each deleted cell that earns points, and each one of locked code, behind what it followed; their names."""
    there = {cell.grade_id for cell in cells}
    before: str | None = None
    missing = []
    for name, original in source.items():
        if name not in there and (original.points is not None or (original.locked and original.cell_type == "code")):
            place = next((at for at, cell in enumerate(cells, 1) if before is not None and cell.grade_id == before), 0)
            missing.append(name)
            cells.insert(
                place,
                Cell(
                    -len(missing),
                    original.source,
                    original.cell_type,
                    name,
                    tags=original.tags or (),
                    defines=original.defines,
                    put_back=True,
                    released=original.locked,
                ),
            )
            there.add(name)
        if name in there:
            before = name
    return missing


def _called(name: str, symbols: Collection[str]) -> str:
    symbol = _symbol(name, symbols)
    return f"check of {symbol}" if symbol is not None else f"cell {harmless(name)}"


def _symbol(name: str, symbols: Collection[str]) -> str | None:
    """The symbol that a cell of this name checks."""
    symbol = name.removeprefix("test_")
    return symbol if symbol != name and symbol in symbols else None


@cache
def _hidden(begins: str, ends: str) -> re.Pattern[str]:
    """The hidden part of a test. One that never ends is hidden to the end."""
    return re.compile(rf"^[^\n]*{re.escape(begins)}.*?(?:{re.escape(ends)}[^\n]*\n?|\Z)", re.MULTILINE | re.DOTALL)


def hidden_lines(source: str, between: Sequence[str] = HIDDEN) -> frozenset[str]:
    """The lines of a test that stand in its hidden part only."""
    hidden = _hidden(*between)
    shown = set(map(str.strip, hidden.sub("", source).splitlines()))
    return frozenset(line for text in hidden.findall(source) for line in map(str.strip, text.splitlines())) - shown

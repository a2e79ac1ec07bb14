"""Learners: how somebody fills in a released notebook, and what may happen to the file on the way."""

import ast
import builtins
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from cellcheck.authoring.catalogue import HONEST, VARIANTS, Catalogue
from cellcheck.errors import GraderError
from cellcheck.running.blanks import blank
from cellcheck.syllabus import Syllabus, find_lesson, load_lesson
from cellcheck.syntax import syntax_tree


@dataclass(frozen=True)
class Learner:
    """Somebody who fills in a notebook.

    `begins` from the course's own answers for the first so many exercises, or from right answers written `otherwise`;
    `types` other cells instead; `edits` are slips of the pen: in the answer to a symbol, one text in place of another.
    """

    name: str
    lesson: str
    begins: int = 99
    otherwise: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    accident: Callable[[NotebookNode], str] = json.dumps
    """What happens to the file before it is handed in."""

    def hand_in(self, released: str) -> str:
        """The text of the file that the learner hands in."""
        return self.accident(self.fill_in(released))

    def fill_in(self, released: str) -> NotebookNode:
        """The learner's notebook, from the text of the released one."""
        notebook = nbformat.reads(released, as_version=4)
        answers = self._answers()
        for cell in notebook.cells:
            symbol = cell.metadata.get("nbgrader", {}).get("grade_id")
            if cell.cell_type == "code" and symbol in answers:
                cell.source = answers[symbol]
        return notebook

    def _answers(self) -> dict[str, str]:
        exercises = load_lesson(self.lesson).exercises
        answers = {e.symbol: inspect.getsource(e.references[0]).rstrip() for e in exercises[: self.begins]}
        if self.otherwise:
            answers |= _written_otherwise(self.lesson)
        for symbol, (old, new) in self.edits.items():
            if old not in answers[symbol]:
                raise ValueError(f"{self.name} can't slip in {symbol}: {old!r} is not in the answer.")
            answers[symbol] = answers[symbol].replace(old, new)
        return {symbol: _without_marks(text) for symbol, text in (answers | dict(self.types)).items()}


def _written_otherwise(lesson: str) -> Iterator[tuple[str, str]]:
    """For each exercise, the first right answer of its NAME.md that stands by itself in a notebook."""
    syllabus, name = find_lesson(lesson)
    names = {*dir(builtins), *_names(syllabus.setup(name), ast.Store)}
    for exercise in load_lesson(name).exercises:
        catalogue = Catalogue(syllabus.place(name) / f"{exercise.symbol}.md", exercise.references[0])
        names.add(exercise.symbol)
        entries = (*catalogue.entries(VARIANTS), *catalogue.entries(HONEST))
        texts = (catalogue.text_of(entry).rstrip() for entry in entries if entry.blocks)
        text = next((text for text in texts if _names(text, ast.Load) - _names(text, ast.Store) <= names), None)
        if text is not None:
            yield exercise.symbol, text


def _names(source: str, context: type[ast.expr_context]) -> set[str]:
    """The names that code uses (Load), or that it gives to something (Store)."""
    nodes = list(ast.walk(syntax_tree(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
    if context is ast.Store:
        names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        names |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        imports = (node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
        names |= {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
    return names


def _without_marks(source: str) -> str:
    """A learner's cell has no solution marks."""
    assert blank(source) != source or "### BEGIN" not in source
    return "\n".join(line for line in source.splitlines() if "### " not in line)


def stripped(notebook: NotebookNode) -> str:
    """An editor threw all metadata away."""
    for cell in notebook.cells:
        cell.metadata = {}
    return json.dumps(notebook)


def doubled(notebook: NotebookNode) -> str:
    """A solution cell was copied, id and metadata and all."""
    marks = [cell.metadata.get("nbgrader", {}) if cell.cell_type == "code" else {} for cell in notebook.cells]
    at = next(i for i, mark in enumerate(marks) if mark.get("solution"))
    notebook.cells.insert(at, notebook.cells[at])
    return json.dumps(notebook)  # nbformat would refuse to write it


def a_letter(notebook: NotebookNode) -> str:
    """The wrong file, which can't be graded."""
    return f"Dear teacher, I had trouble with the {len(notebook.cells)} cells. May I hand it in next week?"


def demo_class(syllabus: Syllabus) -> tuple[Learner, ...]:
    """The learners of every lesson that brings a class in its `demo.py`; else six for the first lesson.

    Raises:
        GraderError: when a course has no lessons.
    """
    with_a_class = [name for name in syllabus.names() if syllabus.has(name, "demo")]
    if with_a_class:
        return tuple(learner for name in with_a_class for learner in syllabus.part(name, "demo").LEARNERS)
    if not syllabus.names():
        raise GraderError(f"There are no lessons in {syllabus.folder}: cellcheck new lesson makes one.")
    lesson = syllabus.names()[0]
    exercises = load_lesson(lesson).exercises
    endless = "while True:\n    pass"
    return (
        Learner("ada", lesson),
        Learner("bela", lesson, begins=len(exercises) // 2),
        Learner("chidi", lesson, types={exercises[0].symbol: endless}),
        Learner("dana", lesson, accident=stripped),
        Learner("eli", lesson, accident=doubled),
        Learner("fay", lesson, accident=a_letter),
    )

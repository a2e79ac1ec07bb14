"""A lesson's part that runs in the browser: which cells need nothing that is missing, and the notebook with those.

What runs isn't written down. In a process that can't find the missing packages, stand-ins take their names, the
lesson's set-up is run, and then each cell is read: does a name in it lead to one of them, through the course's
functions and through what earlier cells leave behind? Such a cell stays out, and a sentence stands where it was.

A lesson's `in_browser.py`, where there is one, has what its cells use under the same names, made without the package.
"""

from __future__ import annotations

import ast
import builtins
import dis
import json
import re
import subprocess
import symtable
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from itertools import groupby
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import nbformat

from cellcheck.browser.absent import NAMES, NotHere, is_absent, stand_in
from cellcheck.building.frame import AT_HOME, in_colab
from cellcheck.checking.judge import PASSED, PUBLIC_SEED, Judge
from cellcheck.errors import GraderError
from cellcheck.lesson_text import KINDS
from cellcheck.repository import Repository
from cellcheck.syllabus import BINDING, Syllabus, find_lesson, load_lesson, load_probes
from cellcheck.syntax import syntax_tree

if TYPE_CHECKING:
    from cellcheck.authoring.calls import Probe
    from cellcheck.authoring.spec import Exercise

IN_BROWSER = "in_browser"
"""What that module of a lesson is called."""
_HEADING = re.compile(r"(?P<level>#{1,3}) +(?P<title>.+)")
_FACTS = re.compile(rf" · ({'|'.join(KINDS)}) · .*")
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)
_TEST = "test_"
_BOUND = ("check", "submit", "get_ipython")
"""What a notebook has besides its lesson's imports."""


@dataclass(frozen=True)
class BrowserPart:
    """What of a lesson runs without some packages."""

    lesson: str
    missing: tuple[str, ...]
    symbols: tuple[str, ...]
    """The exercises, in their order."""
    cells: tuple[str, ...]
    """The ids of the code cells."""
    setup: str
    """The set-up cell."""
    of: int
    """How many exercises the lesson has."""

    @property
    def needed(self) -> str:
        """What the rest of the lesson needs, as people call it."""
        return " and ".join(NAMES.get(name, name) for name in self.missing)


def part_of(repository: Repository, lesson: str, missing: Iterable[str]) -> BrowserPart:
    """What of a lesson runs without these packages, found out in a process that can't find them.

    Raises:
        GraderError: when that process stops, or nothing runs.
    """
    names = tuple(sorted(missing))
    command = [sys.executable, "-m", "cellcheck.browser.parts", lesson, *names]
    done = subprocess.run(command, cwd=repository.root, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("PART ")]
    if not lines:
        raise GraderError(f"What of {lesson} runs in a browser can't be told: {done.stderr.strip()[-500:]}")
    part = json.loads(lines[0].removeprefix("PART "))
    if not part["symbols"]:
        raise GraderError(
            f"No exercise of {lesson} runs without {' and '.join(names)}: it has no part for the browser."
        )
    return BrowserPart(
        lesson,
        names,
        tuple(part["symbols"]),
        tuple(part["cells"]),
        part["setup"],
        len(load_lesson(lesson).exercises),
    )


# --- what runs: in a process of its own


@dataclass
class Reading:
    """A lesson's notebook, read cell by cell."""

    course: str
    """The package whose functions are looked into."""
    namespace: dict[str, Any]
    """What the set-up leaves."""
    gone: set[str] = field(default_factory=set)
    """What would have come from something that is missing."""
    defined: set[str] = field(default_factory=set)
    """What earlier cells leave."""

    def runs(self, source: str) -> bool:
        """Whether a cell runs; what it leaves is there from now on, or gone."""
        chains, left = names_in(source)
        runs = not any(self.leads_away(*chain) for chain in chains)
        (self.defined if runs else self.gone).update(left)
        (self.gone if runs else self.defined).difference_update(left)
        return runs

    def leads_away(self, name: str, *attributes: str) -> bool:
        """Whether a name, or an attribute of it, leads to what is missing."""
        if name in self.defined:
            return False
        return name in self.gone or name not in self.namespace or self.needs(self.namespace[name], attributes)

    def needs(self, value: Any, attributes: tuple[str, ...] = (), seen: frozenset[int] = frozenset()) -> bool:
        """Whether using this value asks for what is missing."""
        while attributes and isinstance(value, ModuleType) and not is_absent(value):
            if not hasattr(value, attributes[0]):
                return True
            value, attributes = getattr(value, attributes[0]), attributes[1:]
        if is_absent(value):
            return True
        if attributes and not isinstance(value, type | FunctionType) and not hasattr(value, attributes[0]):
            return True  # what stands in for a module has less
        value = getattr(value, "__wrapped__", value)
        if id(value) in seen or str(getattr(value, "__module__", "")).partition(".")[0] != self.course:
            return False
        deeper = seen | {id(value)}
        if isinstance(value, type):
            inherited = any(is_absent(base) for base in value.__mro__)
            own = [getattr(each, "fget", None) or getattr(each, "__func__", each) for each in vars(value).values()]
            return inherited or any(self.needs(each, (), deeper) for each in own if isinstance(each, FunctionType))
        if isinstance(value, FunctionType):
            return any(is_absent(each) for each in value.__defaults__ or ()) or any(
                self.needs(value.__globals__[name], tuple(attributes), deeper)
                for name, *attributes in _globals_in(value.__code__)
                if name in value.__globals__
            )
        return False


def _globals_in(code: CodeType) -> Iterator[list[str]]:
    """The global names that a function's code loads, each with the attributes that it takes of them."""
    chain: list[str] = []
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            if chain:
                yield chain
            chain = [step.argval]
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
            chain.append(step.argval)
        elif chain:
            yield chain
            chain = []
    if chain:
        yield chain
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals_in(inner)


def names_in(source: str) -> tuple[list[tuple[str, ...]], set[str]]:
    """The names that a cell takes from what is around it, each with its attributes, and those that it leaves."""
    source = _MAGIC.sub("", source)
    table = symtable.symtable(source, "cell", "exec")
    left = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()}
    taken = {each.get_name() for each in table.get_symbols() if each.is_referenced()} | set(_inner_globals(table))
    taken -= left | set(vars(builtins))
    chains = []
    for node in ast.walk(syntax_tree(source)):
        attributes: list[str] = []
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            attributes.insert(0, root.attr)
            root = root.value
        if isinstance(root, ast.Name) and root.id in taken:
            chains.append((root.id, *attributes))
    longer = {chain[:-1] for chain in chains if len(chain) > 1}
    return [chain for chain in chains if chain not in longer], left


def _inner_globals(table: symtable.SymbolTable) -> Iterator[str]:
    for inner in table.get_children():
        yield from (each.get_name() for each in inner.get_symbols() if each.is_global() and each.is_referenced())
        yield from _inner_globals(inner)


def without(source: str, missing: Iterable[str], instead: Iterable[str] = ()) -> str:
    """A set-up without the lines that import these packages, or use what such a line would have brought.

    Lines that import nothing but what stands under the same names elsewhere, `instead`, go too.
    """
    packages, gone = frozenset(missing), set[str]()
    lines: list[str | None] = list(source.splitlines())
    for node in syntax_tree(source).body:
        if isinstance(node, ast.Import):
            absent = any(alias.name.partition(".")[0] in packages for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = {alias.asname or alias.name for alias in node.names}
            absent = (node.module or "").partition(".")[0] in packages or names <= set(instead)
        else:
            absent = any(isinstance(each, ast.Name) and each.id in gone for each in ast.walk(node))
        if absent:
            if isinstance(node, ast.Import | ast.ImportFrom):
                gone |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            last = node.end_lineno or node.lineno
            lines[node.lineno - 1 : last] = [None] * (last - node.lineno + 1)
    return "\n".join(line for line in lines if line is not None).rstrip()


def _found(syllabus: Syllabus, lesson: str, missing: tuple[str, ...]) -> dict[str, Any]:
    """The lesson, read where these packages are missing."""
    there = syllabus.part(lesson, IN_BROWSER) if syllabus.has(lesson, IN_BROWSER) else None
    names = sorted(there.__all__) if there else []
    lines = [without(syllabus.setup(lesson), missing, names)]
    lines += [f"from {there.__name__} import {', '.join(names)}"] if there else []
    imports = "\n".join(lines)
    namespace: dict[str, Any] = dict.fromkeys(_BOUND)
    exec(imports, namespace)
    standing = f"from cellcheck.browser.absent import stand_in\n\nstand_in({', '.join(map(repr, missing))})"
    binding = BINDING.format(lesson=lesson, edition=syllabus.edition, imports=imports)
    exercises = {each.symbol: each for each in load_lesson(lesson).exercises}
    probes = load_probes(lesson)
    reading = Reading(syllabus.package.partition(".")[0], namespace)
    symbols, cells = [], []
    for cell in nbformat.read(syllabus.notebook(lesson), as_version=4).cells:
        symbol = _grade_id(cell)
        if cell.cell_type != "code":
            continue
        if symbol == "setup":
            runs = True
        elif symbol in exercises:
            exercise = exercises[symbol]
            runs = not reading.needs(exercise.references[0]) and _can_be_tried(exercise, probes[symbol])
            (reading.defined if runs else reading.gone).add(symbol)
            symbols += [symbol] if runs else []
        elif symbol.startswith(_TEST):
            runs = symbol.removeprefix(_TEST) in symbols
        else:
            runs = reading.runs(cell.source)
        cells += [cell.id] if runs else []
    return {"symbols": symbols, "cells": cells, "setup": f"{AT_HOME}\n{standing}\n{binding}"}


def _can_be_tried(exercise: Exercise, probe: Probe) -> bool:
    """Whether its cases can be drawn, and answered."""
    try:
        judge = Judge(exercise, probe, PUBLIC_SEED)
        return judge.verdict(judge.observe(exercise.references[0])).status == PASSED
    except (NotHere, GraderError):
        return False


def _grade_id(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def main(name: str, *missing: str) -> None:
    """Says what of a lesson runs."""
    usual = PathFinder.find_spec

    def find_spec(module: str, *more: Any) -> Any:
        return None if module.partition(".")[0] in missing else usual(module, *more)

    PathFinder.find_spec = find_spec  # type: ignore[method-assign, assignment]
    stand_in(*missing)
    print("PART", json.dumps(_found(*find_lesson(name), missing)))


# --- the notebook with those


@dataclass
class Section:
    """What stands below a heading: the texts and the cells."""

    level: int
    title: str
    cells: list[Any]

    @property
    def code(self) -> list[str]:
        """The ids of its code cells; of exercises, the checks alone."""
        code = [cell for cell in self.cells if cell.cell_type == "code"]
        checks = [cell for cell in code if _grade_id(cell).startswith(_TEST)]
        return [cell.id for cell in checks or code]

    @property
    def asks(self) -> bool:
        """Whether there is something to answer."""
        return any(cell.metadata.get("nbgrader", {}).get("solution") for cell in self.cells)


def cut(repository: Repository, notebook: Any, part: BrowserPart) -> None:
    """Leaves of a learner's notebook what runs.

    A section goes of which nothing runs, and so does a chapter, or whose exercises don't; its name stays. So does a
    pause between two chapters that go.
    """
    chapters: list[list[Section]] = []
    for section in _sections(notebook.cells):
        if section.level < 3 or not chapters:
            chapters.append([])
        chapters[-1].append(section)

    def runs(sections: Iterable[Section]) -> bool | None:
        """None where there is nothing to run."""
        code = [each for section in sections for each in section.code]
        checks = [each for each in code if each.startswith(_TEST)]
        return any(each in part.cells for each in checks or code) if code else None

    stay = [runs(chapter) for chapter in chapters]
    pauses = [i for i in range(1, len(stay) - 1) if stay[i - 1 : i + 2] == [False, None, False]]
    pieces: list[tuple[Section, bool, str]] = []
    """Each section, whether it stays, and else what is said of it."""
    for i, chapter in enumerate(chapters):
        for section in chapter:
            stays = stay[i] is not False and i not in pauses and runs([section]) is not False
            named = stay[i] or (section is chapter[0] and (i not in pauses or section.asks))
            pieces.append((section, stays, _FACTS.sub("", section.title) if named else ""))
    cells: list[Any] = []
    for stays, group in groupby(pieces, key=lambda piece: piece[1]):
        sections, _, titles = zip(*group, strict=True)
        cells += _kept(sections, part) if stays else [_left_out(repository, sections[0], titles, part)]
    notebook.cells = cells
    for cell in notebook.cells:
        if _grade_id(cell) == "setup":
            cell.source = part.setup


def _sections(cells: Iterable[Any]) -> list[Section]:
    """A notebook by its headings; a text with a heading in its middle becomes two."""
    sections = [Section(1, "", [])]
    for cell in cells:
        if cell.cell_type != "markdown":
            sections[-1].cells.append(cell)
            continue
        for i, text in enumerate(_at_headings(cell.source)):
            piece = (
                cell
                if i == 0
                else nbformat.v4.new_markdown_cell(id=f"{cell.id[:58]}-{i}", attachments=cell.get("attachments", {}))
            )
            piece.source = text
            heading = _HEADING.match(text)
            if heading:
                sections.append(Section(len(heading["level"]), heading["title"], []))
            sections[-1].cells.append(piece)
    return [section for section in sections if section.cells]


def _at_headings(text: str) -> list[str]:
    pieces: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if _HEADING.match(line) and not fenced and any(each.strip() for each in pieces[-1]):
            pieces.append([])
        pieces[-1].append(line)
    return ["\n".join(piece).strip("\n") for piece in pieces]


def _kept(sections: Iterable[Section], part: BrowserPart) -> Iterator[Any]:
    for section in sections:
        for cell in section.cells:
            if cell.cell_type != "code" or cell.id in part.cells:
                yield cell
            elif not _grade_id(cell).startswith(_TEST):  # its exercise says so
                text = f"*A cell is left out here: it needs {part.needed}, or what an earlier one made with it.*"
                yield nbformat.v4.new_markdown_cell(text, id=f"without-{cell.id[:50]}")


def _left_out(repository: Repository, first: Section, titles: Iterable[str], part: BrowserPart) -> Any:
    where = in_colab(repository, part.lesson)
    why = f"since it needs {part.needed}, or what was made with it; [the whole lesson]({where}) opens in Colab"
    listed = "\n".join(f"> - {title}" for title in titles if title)
    return nbformat.v4.new_markdown_cell(
        f"> **Left out here,** {why}:\n>\n{listed}", id=f"without-{first.cells[0].id[:50]}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

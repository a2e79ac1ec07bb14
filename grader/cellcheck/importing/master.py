"""Otter's master notebooks: raw cells begin and end a question, its solution and its tests."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nbformat import NotebookNode, v4

from cellcheck.importing import marks
from cellcheck.importing.answers import answer_text, has_solution, open_text, unsaid, without_ignored
from cellcheck.importing.calls import LEFT_OUT, Reader
from cellcheck.importing.cases import OtterCase, QuestionTests, are_points, of_cell, of_functions, read_yaml
from cellcheck.importing.config import Config
from cellcheck.importing.converted import Converted
from cellcheck.importing.unknown import Unknown

_BOUNDARY = re.compile(r"#\s+(?P<which>begin|end)\s+(?P<block>question|prompt|solution|tests)\b", re.IGNORECASE)
_CONFIG = re.compile(r"#\s+assignment\s+config\b", re.IGNORECASE)
_IGNORED = re.compile(r"(##\s*ignore\s*##|#\s*ignore\b)", re.IGNORECASE)
_FENCED = re.compile(r"^```otter[ \t]*\n(.*?)^[ \t]*```[ \t]*\n?", re.DOTALL | re.MULTILINE)
_SEED = re.compile(r"# SEED[ \t]*$", re.MULTILINE)
_PLUGIN = re.compile(r"# BEGIN PLUGIN\b")
_ANSWER = "answer"
_QUESTION = {"name", "points", "manual", "all_or_nothing"}

Numbered = tuple[int, NotebookNode]
"""A cell, and its number in Otter's notebook."""


@dataclass(frozen=True)
class _Part:
    """A cell that learners get, in a question or between them."""

    block: str
    """What it stands in: question, prompt, solution, or nothing. An answer is a text that is ready to be graded."""
    number: int
    cell: NotebookNode
    source: str
    """Its text without what Otter ignores, and without Otter."""

    def is_stripped(self, strip_all: bool) -> bool:
        """Whether learners get less of it than its author wrote."""
        return self.cell.cell_type == "code" and (strip_all or self.block == "solution") and has_solution(self.source)

    @property
    def is_explanation(self) -> bool:
        tags = self.cell.metadata.get("tags", ())
        return self.block == "solution" and self.cell.cell_type == "markdown" and "otter_include" not in tags


@dataclass
class _Question:
    """What stands between BEGIN QUESTION and END QUESTION."""

    number: int
    config: dict[str, Any]
    parts: list[_Part] = field(default_factory=list)
    cases: list[OtterCase] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.config["name"])


def is_master(notebook: NotebookNode) -> bool:
    """Whether a notebook is one of these."""
    return any(
        cell.cell_type == "raw" and (_BOUNDARY.match(cell.source) or _CONFIG.match(cell.source))
        for _, cell in _unfenced(notebook.cells)
    )


def convert(notebook: NotebookNode, config: Config, into: Converted) -> None:
    """Adds the cells of a master notebook.

    Raises:
        Unknown: for what isn't known here.
    """
    names = set()
    for item in _questions(notebook, config):
        if isinstance(item, _Question):
            if item.name in names:
                raise Unknown.at(item.number, f"there is a second question {item.name}")
            names.add(item.name)
            _add(item, config, into)
        else:
            _add_plain(item, config, into)


def _questions(notebook: NotebookNode, config: Config) -> Iterator[_Question | _Part]:
    """The questions, and the cells around them; the assignment's configuration is read on the way."""
    blocks: list[str] = []
    question: _Question | None = None
    reader = Reader()
    for number, cell in _unfenced(notebook.cells):
        if _IGNORED.match(cell.source):
            continue
        if _PLUGIN.search(cell.source):
            raise Unknown.at(number, "a plugin of Otter's is called")
        if cell.cell_type == "code" and blocks[-1:] != ["tests"] and _SEED.search(cell.source):
            raise Unknown.at(number, "a line ends in # SEED, and seeds that Otter sets before each cell aren't known")
        if cell.cell_type == "raw" and _CONFIG.match(cell.source):
            config.add(number, read_yaml(number, cell.source))
        elif cell.cell_type == "raw" and (boundary := _BOUNDARY.match(cell.source)):
            which, block = boundary["which"].lower(), boundary["block"].lower()
            fits = blocks[-1:] == [block] if which == "end" else blocks == ([] if block == "question" else ["question"])
            if not fits:
                raise Unknown.at(number, f"{which.upper()} {block.upper()} doesn't fit what stands before it")
            if which == "begin":
                blocks.append(block)
                if block == "question":
                    question = _Question(number, read_yaml(number, cell.source))
                    if "name" not in question.config:
                        raise Unknown.at(number, "a question has no name")
            elif blocks.pop() == "question" and question is not None:
                yield question
                question = None
        elif question is not None and blocks[-1] == "tests":
            if cell.cell_type != "code":
                raise Unknown.at(number, "there is something else than code among the tests")
            question.cases.append(of_cell(number, cell, config.doctests))
        elif (source := _without_otter(number, cell, reader)) is None:
            config.left_out.add(LEFT_OUT)
        elif question is not None:
            question.parts.append(_Part(blocks[-1], number, cell, source))
        else:
            yield _Part("", number, cell, source)
    if question is not None:
        raise Unknown.at(question.number, f"the question {question.name} begins, and END QUESTION is missing")


def _without_otter(number: int, cell: NotebookNode, reader: Reader) -> str | None:
    """A cell's text without what Otter ignores, and without Otter; None where nothing else is in it.

    Authors set Otter up themselves where `init_cell` is false.
    """
    source = without_ignored(number, cell.source)
    if cell.cell_type != "code":
        return source
    read = reader.read(number, source)
    if read.checks:
        raise Unknown.at(
            number, f"{read.checks[0]} is checked, which Otter does by itself below a question: take it out"
        )
    return read.rest if read.rest or not read.used else None


def _unfenced(every: Sequence[NotebookNode]) -> Iterator[Numbered]:
    """The cells, where a text that holds blocks ```otter is taken apart: they stand for raw cells."""
    for number, cell in enumerate(every, start=1):
        if cell.cell_type != "markdown" or not _FENCED.search(cell.source):
            yield number, cell
            continue
        for place, text in enumerate(_FENCED.split(cell.source)):
            if text.strip():
                yield number, v4.new_raw_cell(text.strip("\n")) if place % 2 else v4.new_markdown_cell(text.strip("\n"))


def _add_plain(part: _Part, config: Config, into: Converted) -> None:
    if part.is_stripped(config.strip_all):
        into.add_answer(part.number, part.cell, _ANSWER, answer_text(part.number, part.source))
    else:
        into.add_plain(part.number, part.cell, part.source)


def _add(question: _Question, config: Config, into: Converted) -> None:
    """Adds a question's cells, and below them its tests, since that is where Otter checks."""
    by_hand = bool(question.config.get("manual", False))
    if by_hand and question.cases:
        raise Unknown.at(question.number, f"{question.name} is graded by hand and has tests: make two questions of it")
    into.left_out |= {f"a question's {key}" for key in question.config if key not in _QUESTION}
    parts = _with_explanation(question.parts, question.name, by_hand, into)
    stripped = [part.is_stripped(config.strip_all) for part in parts]
    graded = _graded(parts, stripped) if by_hand else None
    if by_hand and graded is None:
        raise Unknown.at(question.number, f"{question.name} is graded by hand and has no cell to answer in")
    for place, part in enumerate(parts):
        points = _points_by_hand(question, into) if place == graded else None
        if part.block == _ANSWER:
            into.add_answer(part.number, part.cell, question.name, part.source, points)
        elif stripped[place]:
            into.add_answer(part.number, part.cell, question.name, answer_text(part.number, part.source), points)
            if lines := unsaid(part.number, part.source):
                into.notes.append(
                    f"A blank of {question.name} may earn other points than with Otter, which runs `{lines[0]}` there; "
                    "here it is a comment."
                )
        elif place == graded:
            into.add_answer(part.number, part.cell, question.name, open_text(part.source), points)
        elif part.block == "question":
            into.add_locked(part.number, part.cell, f"{question.name}_text", part.source)
        else:
            into.add_plain(part.number, part.cell, part.source)
    if question.cases:
        into.add_tests(question.number, _tests(question, config))
    elif not by_hand:
        into.notes.append(f"{question.name} has no tests and isn't graded by hand, so it earns nothing, as with Otter.")


def _with_explanation(parts: list[_Part], name: str, by_hand: bool, into: Converted) -> list[_Part]:
    """The same, with all text of a solution in one answer cell: that of a prompt, or one where the solution begins.

    Where a program grades, Otter gives such a text to nobody.
    """
    texts = [part for part in parts if part.is_explanation]
    if not texts:
        return parts
    rest = [part for part in parts if not part.is_explanation]
    prompts = [part for part in rest if part.block == "prompt"]
    text = "\n\n".join(part.source for part in texts)
    if by_hand and not prompts:
        first = next(place for place, part in enumerate(parts) if part.block == "solution")
        rest.insert(first, replace(texts[0], block=_ANSWER, source=text))
    elif by_hand and prompts[-1].cell.cell_type == "markdown":
        source = "\n".join([prompts[-1].source, *marks.solution([text])])
        rest[rest.index(prompts[-1])] = replace(prompts[-1], block=_ANSWER, source=source)
    else:
        into.notes.append(f"Left out: the text in the solution of {name}, which Otter gives to nobody.")
    return rest


def _graded(parts: Sequence[_Part], stripped: Sequence[bool]) -> int | None:
    """Which of a question's cells a person is to grade: the last that is there to be written into."""
    for fits in (
        [part.block == _ANSWER for part in parts],
        stripped,
        [part.block in ("prompt", "solution") for part in parts],
    ):
        if any(fits):
            return max(place for place, one in enumerate(fits) if one)
    return None


def _points_by_hand(question: _Question, into: Converted) -> float:
    points = question.config.get("points") or 0
    if not are_points(points):
        raise Unknown.at(question.number, f"the points of {question.name} aren't a number, or are less than nothing")
    if not points:
        into.notes.append(f"{question.name} is graded by hand and has no points: give it some in JupyterLab's sidebar.")
    return float(points)


def _tests(question: _Question, config: Config) -> QuestionTests:
    points = question.config.get("points")
    if isinstance(points, dict):
        each = points.get("each", 1)
        if not are_points(each):
            raise Unknown.at(
                question.number, f"{question.name} has points that aren't numbers, or are less than nothing"
            )
        points = each * len(question.cases)
    cases = question.cases if config.doctests else of_functions(question.cases)
    return QuestionTests(question.name, cases, points, bool(question.config.get("all_or_nothing", False)))

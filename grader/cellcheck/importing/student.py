"""Notebooks as Otter's learners get them: `grader.check("q1")` stands where the tests of q1 run.

The tests are in a folder beside the notebook, or in the notebook's metadata.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from cellcheck.importing.answers import open_text
from cellcheck.importing.calls import LEFT_OUT, Read, Reader
from cellcheck.importing.cases import QuestionTests, of_file, of_specification
from cellcheck.importing.converted import Converted
from cellcheck.importing.unknown import Unknown

_QUESTION = re.compile(r"<!-- (?:BEGIN|END) QUESTION -->")
"""Around what a person grades."""
_ANSWER, _SOLVED = "otter_answer_cell", "otter_assign_solution_cell"
"""The tags of what learners write into, and of what graders have there instead."""


def tests_of(path: Path, notebook: NotebookNode) -> dict[str, tuple[str, QuestionTests]]:
    """The tests of a notebook by the name that checks them, each with where it is written.

    Raises:
        Unknown: when they aren't written as Otter writes them.
    """
    otter = _of_otter(notebook)
    specified = otter.get("tests") or {}
    if not isinstance(specified, dict):
        raise Unknown.at(f"the metadata of {path.name}", "tests aren't written as Otter writes them")
    tests: dict[str, tuple[str, QuestionTests]] = {}
    for name, test in specified.items():
        where = f"the metadata of {path.name} (tests, {name})"
        is_specification = bool(otter.get("OK_FORMAT"))
        tests[name] = where, of_specification(where, test) if is_specification else of_file(where, str(test), False)
    for file in sorted((path.parent / "tests").glob("*.py")):
        where = f"tests/{file.name}"
        try:
            source = file.read_text("utf-8")
        except (OSError, UnicodeError):
            raise Unknown.at(where, "there is nothing that can be read") from None
        tests[file.stem] = where, of_file(where, source)
    by_name = [tests.name for _, tests in tests.values()]
    if twice := {name for name in by_name if by_name.count(name) > 1}:
        raise Unknown(f"Nothing was written: there are two files of tests for {min(twice)}.")
    return tests


def convert(notebook: NotebookNode, tests: Mapping[str, tuple[str, QuestionTests]], into: Converted) -> None:
    """Adds the cells of a learner's notebook. Tests that it doesn't check run at its end, as with Otter.

    Raises:
        Unknown: for what isn't known here.
    """
    for number, cell in enumerate(notebook.cells, start=1):
        if _SOLVED in cell.metadata.get("tags", ()):
            raise Unknown.at(
                number, "there is a solution, since otter assign made this notebook for graders: import the master"
            )
    reader = Reader()
    numbered = list(enumerate(notebook.cells, start=1))
    read = {number: reader.read(number, cell.source) for number, cell in numbered if cell.cell_type == "code"}
    checks = {number: (*(read[number].checks if number in read else ()), *_noted(cell)) for number, cell in numbered}
    last = {name: number for number, names in checks.items() for name in names}  # the last check counts
    if missing := last.keys() - tests.keys():
        name = min(missing)
        raise Unknown.at(last[name], f"{name} is checked, and there are no tests of it in tests/{name}.py")
    answers, by_hand = _answers(numbered, read, checks)
    for number, cell in numbered:
        source = read[number].rest if number in read else cell.source
        if number in read and read[number].used and not source:
            into.left_out.add(LEFT_OUT)
        elif number in answers:
            into.add_answer(number, cell, answers[number], open_text(source))
        elif number in by_hand:
            into.add_answer(number, cell, "answer", open_text(source), 0.0)
        elif cell.metadata.get("editable", True):
            into.add_plain(number, cell, source)
        else:
            into.add_locked(number, cell, "text" if cell.cell_type == "markdown" else "given", source)
        for name in checks[number]:
            if last[name] == number:
                into.add_tests(*tests[name])
    for name in sorted(tests.keys() - last.keys()):
        into.add_tests(*tests[name])
    if by_hand:
        into.notes.append(
            "A person grades the answers in Otter's cells "
            f"{', '.join(map(str, by_hand))}, and only the master notebook says for how many points: give them some in "
            "JupyterLab's sidebar."
        )


def _answers(
    numbered: Sequence[tuple[int, NotebookNode]], read: Mapping[int, Read], checks: Mapping[int, Sequence[str]]
) -> tuple[dict[int, str], list[int]]:
    """The code cells that answer a question, each with its name; and the numbers of those that a person grades.

    Otter Assign tags what learners write into. Without tags, it is the last cell before a check that isn't locked.
    """
    tagged = any(_is_answer(cell) for _, cell in numbered)
    answers: dict[int, str] = {}
    by_hand: list[int] = []
    waiting: list[int] = []
    for number, cell in numbered:
        if cell.cell_type == "markdown" and _QUESTION.search(cell.source):
            by_hand += waiting
            waiting = []
        if _is_answer(cell) if tagged else number in read and cell.metadata.get("editable", True) and read[number].rest:
            waiting.append(number)
        if checks[number]:
            wanted = [at for at in waiting if at in read]
            answers |= dict.fromkeys(wanted if tagged else wanted[-1:], checks[number][0])
            waiting = []
    return answers, [*by_hand, *waiting] if tagged else []


def _is_answer(cell: NotebookNode) -> bool:
    return _ANSWER in cell.metadata.get("tags", ())


def _noted(cell: NotebookNode) -> Sequence[str]:
    """The questions that Otter checks after a cell without a word."""
    names = _of_otter(cell).get("tests")
    return [str(name) for name in names] if isinstance(names, list) else []


def _of_otter(noted: NotebookNode) -> Mapping[str, Any]:
    """What Otter has noted in a notebook or a cell."""
    metadata = noted.metadata.get("otter")
    return metadata if isinstance(metadata, dict) else {}

"""What a graded submission becomes: its notebooks with the marks in them, and a score for each cell.

Nothing is written here, and no gradebook is asked. It follows from what was handed in, the assignment and the result,
so whichever process has graded a submission can make it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbgrader import utils

from cellcheck.checking.cards import card, plain
from cellcheck.checking.judge import Verdict
from cellcheck.gradebook.repair import sound_notebook
from cellcheck.running.assignment import Assignment
from cellcheck.running.cleaning import as_typed
from cellcheck.running.plain_cells import Unreadable
from cellcheck.running.reading_apart import read_apart
from cellcheck.running.result import Result

Key = tuple[str, str]
"""A cell: its notebook's name, and its own."""
MOST_HARMLESS = 10_000
_harmless: set[bytes] = set()
"""Digests of texts that stay as they are: most texts of a class are the lesson's own."""


@dataclass(frozen=True)
class Draft:
    """See the module's docstring."""

    notebooks: Mapping[str, str]
    """The text of each notebook's file, by the notebook's name."""
    scores: Mapping[Key, float | None]
    """Per graded cell its score; None where a person must look."""
    blank: frozenset[Key]
    """The answer cells that are as they were released."""
    cards: Mapping[str, str]
    """Per exercise the card that its check shows."""
    answers: Mapping[str, str]
    """Per exercise the code that was handed in."""


@dataclass(frozen=True)
class Drafted:
    """What came of a submission, with what is to be written of it."""

    result: Result
    draft: Draft


def draft(assignment: Assignment, notebooks: Mapping[str, bytes], result: Result) -> Draft:
    """What is to be written of a submission.

    Args:
        assignment: as it was released.
        notebooks: what was handed in of its notebooks, by name.
        result: what came of it.

    Raises:
        GraderError: when a notebook can't be read.
    """
    texts: dict[str, str] = {}
    scores: dict[Key, float | None] = {}
    blank: set[Key] = set()
    cards = {verdict.symbol: card(verdict) for verdict in result.verdicts}
    answers: dict[str, str] = {}
    for title, cells in assignment.notebooks.items():
        if title not in notebooks:  # nothing was handed in of it
            scores |= {(title, name): 0.0 for name, cell in cells.items() if cell.points is not None}
            continue
        notebook, lost = _made(assignment, title, notebooks[title])
        _show(notebook, result, cards, title if assignment.several else "")
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if utils.is_grade(cell) or utils.is_task(cell):
                scores[title, name] = None if name in lost else _score(cell)
            if utils.is_solution(cell) and not utils.is_task(cell) and name not in lost and _is_released(cell):
                blank.add((title, name))
        answers |= answers_in(notebook)
        texts[title] = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    scores |= verdicts(assignment, result)  # a verdict is a mark, whatever became of its cell
    return Draft(texts, scores, frozenset(blank), cards, answers)


def answers_in(notebook: NotebookNode) -> dict[str, str]:
    """The code of each answer cell, by the cell's name, which is the exercise's."""
    return {
        cell.metadata["nbgrader"]["grade_id"]: cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and utils.is_solution(cell)
    }


def verdicts(assignment: Assignment, result: Result) -> dict[Key, float]:
    """The score of each test cell that was judged."""
    alone = next(iter(assignment.notebooks), "")
    own = {(test.notebook or alone, test.name): test.score for test in result.own_tests}
    return own | {(assignment.name, f"test_{verdict.symbol}"): verdict.score for verdict in result.verdicts}


def _made(assignment: Assignment, title: str, data: bytes) -> tuple[NotebookNode, frozenset[str]]:
    """A notebook as it is kept (sound, with the marks it was released with, tame), and the answers it has lost."""
    notebook, lost = sound_notebook(data, assignment, title)
    _tame(notebook)
    return notebook, lost


def _tame(notebook: NotebookNode) -> None:
    """Takes out of force what a learner's text would do on a page that shows it. Code is shown as text anyway."""
    for cell in notebook.cells:
        if cell.cell_type == "raw" and cell.source and not _is_released(cell):  # nbconvert shows it as HTML
            cell.update(cell_type="markdown", source=as_typed(cell.source))
    texts = [cell for cell in notebook.cells if cell.cell_type == "markdown" and not _is_released(cell)]
    jobs = [{"source": cell.source, "pictures": cell.get("attachments", {})} for cell in texts]
    keys = [hashlib.sha256(json.dumps(job).encode()).digest() for job in jobs]
    new = [place for place, key in enumerate(keys) if key not in _harmless]
    if not new:
        return
    try:
        sources = read_apart("cleaned", json.dumps([jobs[place] for place in new]).encode())
    except Unreadable:
        sources = [as_typed(texts[place].source) for place in new]
    for place, source in zip(new, sources, strict=True):
        if source != texts[place].source:
            texts[place].pop("attachments", None)  # its pictures are in it now
        elif len(_harmless) < MOST_HARMLESS:
            _harmless.add(keys[place])
        texts[place].source = source


def _is_released(cell: NotebookNode) -> bool:
    """Whether it is as the instructor wrote it."""
    checksum = cell.metadata.get("nbgrader", {}).get("checksum")
    return checksum is not None and checksum == utils.compute_checksum(cell)


def _show(notebook: NotebookNode, result: Result, cards: Mapping[str, str], title: str) -> None:
    """Puts into each test cell what its check would have left there: the card, and the score as nbgrader reads it."""
    verdicts = {f"test_{verdict.symbol}": verdict for verdict in result.verdicts}
    own = {test.name: test for test in result.own_tests if test.notebook == title}
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in verdicts and cell.cell_type == "code":
            verdict = verdicts[name]
            cell.outputs = outputs(verdict, cards[verdict.symbol])
        elif name in own and cell.cell_type == "code":
            score, message = own[name].score, own[name].message
            cell.outputs = [nbformat.from_dict(_number({"text/plain": repr(score)}) if score else _error(message))]


def outputs(verdict: Verdict, html: str) -> list[NotebookNode]:
    """What `check` leaves in a notebook; `html` is the verdict's card."""
    if verdict.score > 0:
        shown = [_number({"text/plain": repr(verdict.score), "text/html": html})]
    else:
        data = {"text/plain": plain(verdict), "text/html": html}
        shown = [{"output_type": "display_data", "data": data, "metadata": {}}, _error(verdict.message)]
    return [nbformat.from_dict(output) for output in shown]


def _number(data: dict[str, str]) -> dict[str, object]:
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def _error(message: str) -> dict[str, object]:
    return {"output_type": "error", "ename": "NotYet", "evalue": message, "traceback": [message]}


def _score(cell: NotebookNode) -> float | None:
    """nbgrader's own reading of a cell's mark."""
    if utils.is_task(cell):
        return None
    score = utils.determine_grade(cell)[0]
    return None if score is None else float(score)

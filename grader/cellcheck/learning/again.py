"""Again, without help: a week after an exercise was solved it is offered once more, with other cases and no hints.

The fresh copy is a small notebook of its own, in the folder `again` of the learner's folder: the set-up, what the
exercise asks for, its blank and its check. The old answer stays as it is, and so does its score.
"""

import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.learning import progress
from cellcheck.learning.offers import OfferedExercise, lesson_called, offers, released
from cellcheck.running.plain_cells import source_of

FOLDER = "again"
WAIT = timedelta(days=7)

_BINDING = re.compile(r"""cellcheck\.checks\("(?P<lesson>\w+)", made_for=""")
_FOLD = re.compile(r"</?details\b[^>]*>")
_IMPORT = re.compile(r"^```python\n(from [\w.]+ import \w+)\n```$", re.MULTILINE)


@dataclass(frozen=True)
class Another:
    """An exercise that was solved, and how it stands with trying it again."""

    lesson: str
    number: int
    exercise: OfferedExercise
    solved: date
    score: float | None = None
    """What another try has earned; None where nobody has tried."""
    notebook: Path | None = None
    """The fresh copy, if there is one."""

    def due(self, today: date) -> bool:
        """Whether it is time: a week has passed, and nobody has tried."""
        return self.score is None and today - self.solved >= WAIT

    @property
    def still_known(self) -> bool:
        """Whether it was solved again, with full marks."""
        return self.score is not None and self.score >= self.exercise.points - 1e-9


def solved(folder: Path) -> list[Another]:
    """The exercises that the learner of this folder has solved by themselves, in the course's order."""
    record = progress.record(folder)
    return [
        Another(
            offer.name,
            offer.number,
            exercise,
            record.solved[offer.name][exercise.symbol],
            record.again.get(offer.name, {}).get(exercise.symbol),
            path if (path := place_of(folder, offer.name, exercise.symbol)).is_file() else None,
        )
        for offer in offers()
        for exercise in offer.exercises
        if exercise.symbol in record.solved.get(offer.name, {})
    ]


def due(folder: Path, today: date | None = None) -> list[Another]:
    """Those that it is time to try again, the one that was solved first in front."""
    today = today or date.today()
    return sorted((each for each in solved(folder) if each.due(today)), key=lambda each: each.solved)


def place_of(folder: Path, lesson: str, symbol: str) -> Path:
    """Where the fresh copy of an exercise stands."""
    return folder / FOLDER / f"{lesson.split('_')[0]}_{symbol}.ipynb"


def begin(folder: Path, lesson: str, symbol: str, today: date | None = None) -> Path:
    """Puts a fresh copy of one exercise into the learner's folder. An existing one stays as it is.

    Raises:
        GraderError: when there is no such exercise, or the file can't be written.
    """
    lesson = lesson_called(lesson)
    target = place_of(folder, lesson, symbol)
    seed = (today or date.today()).toordinal()
    content = fresh(json.loads(released()[lesson].read_text("utf-8")), symbol, seed)
    if content is None:
        raise GraderError(f"There is no exercise {symbol} in {lesson}.")
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise GraderError(f"{target} can't be written ({error.strerror}): choose a folder that is yours.") from None
    return target


def fresh(release: dict[str, Any], symbol: str, seed: int) -> dict[str, Any] | None:
    """One exercise of a released notebook, without its hints; None where it has no such exercise.

    Its check draws from `seed`, and what the lesson has the learner write before it comes from the library.
    """
    cells = release["cells"]
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    if symbol not in ids or f"test_{symbol}" not in ids:
        return None
    at = ids.index(symbol)
    new_cells = [deepcopy(cell) for cell in (cells[ids.index("setup")], _text(cells[:at], symbol), cells[at])]
    new_cells.append(deepcopy(cells[ids.index(f"test_{symbol}")]))
    setup, text, *_ = new_cells
    earlier = "\n".join(_imports(cells[:at], [name for name in ids[:at] if name and f"test_{name}" in ids]))
    bound = _BINDING.sub(rf'cellcheck.checks("\g<lesson>", again={seed}, made_for=', source_of(setup))
    setup["source"] = bound.rstrip() + (f"\n\n# What this lesson has you write before:\n{earlier}" if earlier else "")
    text["source"] = _without_help(source_of(text), symbol)
    for cell in new_cells:  # it is nobody's assignment: nbgrader has no business here
        cell["metadata"] = {}
    return {**release, "cells": new_cells}


def _text(before: Sequence[dict[str, Any]], symbol: str) -> dict[str, Any]:
    """The cell with the heading of the exercise."""
    heading = f"### Exercise: `{symbol}`"
    texts = [cell for cell in before if cell["cell_type"] == "markdown" and heading in source_of(cell)]
    return texts[-1] if texts else {"cell_type": "markdown", "metadata": {}, "source": f"{heading}\n"}


def _without_help(text: str, symbol: str) -> str:
    """What the exercise asks for, in the text that announces it: from its heading on, and all folds left out."""
    text = text[text.index(f"### Exercise: `{symbol}`") :]
    parts, depth, start = [], 0, 0
    for fold in _FOLD.finditer(text):
        if depth == 0:
            parts.append(text[start : fold.start()])
        depth = max(depth + (-1 if fold[0].startswith("</") else 1), 0)
        start = fold.end()
    if depth == 0:
        parts.append(text[start:])
    body = re.sub(r"\n*<br>\n*", "\n\n", "".join(parts))
    body = re.sub(r"^Docs: (?:.*\n?)*", "", body, flags=re.MULTILINE)
    return (
        re.sub(r"\n{3,}", "\n\n", body).strip()
        + "\n\n**Again, without help.** You have solved this before. There are other cases and no hints, and your old "
        "answer stays as it is. What do you still know?"
    )


def _imports(before: Sequence[dict[str, Any]], symbols: Sequence[str]) -> Iterator[str]:
    """The lines that import what the lesson has the learner write earlier; each exercise's last fold has its own."""
    text = "\n".join(source_of(cell) for cell in before if cell["cell_type"] == "markdown")
    return (line for line in dict.fromkeys(_IMPORT.findall(text)) if line.rsplit(" ", 1)[1] in symbols)

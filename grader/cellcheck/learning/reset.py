"""Beginning a lesson anew, or one exercise of it. What was there is kept, always."""

import json
import re
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.learning import progress
from cellcheck.learning.offers import released
from cellcheck.learning.opened import as_opened
from cellcheck.running.intake import read_file
from cellcheck.running.plain_cells import Unreadable, parse, source_of

EARLIER = "earlier"
"""The folder for old notebooks, beside the new one. Inside a lesson's folder nbgrader takes no notebook from it."""

_LESSON = re.compile(r"\bchecks\(\s*[\"'](\w+)[\"']\s*\)")


@dataclass(frozen=True)
class Done:
    """What was put back, and where the old notebook is."""

    notebook: Path
    copy: Path
    lesson: str
    symbol: str | None


def place(lesson: str, folder: Path) -> Path:
    """Puts a fresh notebook of a lesson into a learner's folder, in a folder of its own. One that is there stays.

    Raises:
        GraderError: when it can't be written.
    """
    target = folder / lesson / f"{lesson}.ipynb"
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, as_opened(released()[lesson].read_bytes()))
    except OSError as error:
        raise GraderError(f"{target} can't be written ({error.strerror}): choose a folder that is yours.") from None
    return target


def reset(notebook: Path, symbol: str | None = None) -> Done:
    """Makes a notebook blank again, or one exercise of it, and forgets the scores that this takes away.

    Raises:
        GraderError: when it isn't a notebook of the course, has no such exercise, or can't be written.
    """
    notebook = notebook.absolute()
    lesson = _lesson_of(notebook)
    fresh = as_opened(released()[lesson].read_bytes())
    symbols = _symbols(fresh)
    if symbol is not None:
        if symbol not in symbols:
            raise GraderError(f"There is no exercise {symbol} in {lesson}. These exist: {', '.join(symbols)}.")
        fresh = _with_one_blank(notebook, symbol, fresh)
    try:
        copy = _keep(notebook)
        write_whole(notebook.resolve(), fresh)
    except OSError as error:
        raise GraderError(f"{notebook} can't be reset ({error.strerror}): nothing was changed.") from None
    progress.forget(progress.folder_of(notebook, lesson), lesson, symbols if symbol is None else [symbol])
    return Done(notebook, copy, lesson, symbol)


def _read(notebook: Path) -> list[dict[str, Any]]:
    try:
        return [cell for cell in parse(read_file(notebook.resolve())) if isinstance(cell, dict)]
    except Unreadable as error:
        raise GraderError(f"{notebook}: {error}") from None
    except OSError as error:
        raise GraderError(f"{notebook} can't be read: {error.strerror}.") from None


def _lesson_of(notebook: Path) -> str:
    """The lesson that the set-up cell names, else the one that the file is called by."""
    try:
        text = notebook.read_text("utf-8", errors="replace")
    except OSError as error:
        raise GraderError(f"{notebook} can't be read: {error.strerror}.") from None
    named = [*_LESSON.findall(text.replace('\\"', '"')), notebook.stem, notebook.parent.name]
    lesson: str | None = next((name for name in named if name in released()), None)
    if notebook.suffix != ".ipynb" or lesson is None:
        raise GraderError(f"{notebook} is not a notebook from this course.")
    return lesson


def _symbols(released_notebook: bytes) -> list[str]:
    ids = [_grade_id(cell) for cell in parse(released_notebook)]
    return [name for name in ids if name and f"test_{name}" in ids]


def _grade_id(cell: dict[str, Any]) -> str | None:
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def _with_one_blank(notebook: Path, symbol: str, fresh: bytes) -> bytes:
    """The learner's notebook with one exercise's cell as it was released, and its check's output gone."""
    blank = next(cell for cell in parse(fresh) if _grade_id(cell) == symbol)
    cells = _read(notebook)
    written = [c for c in cells if _grade_id(c) == symbol] or [c for c in cells if _defines(c, symbol)]
    if not written:
        raise GraderError(f"{notebook} has no cell for {symbol} any more: reset the whole notebook.")
    checks = [c for c in cells if _grade_id(c) == f"test_{symbol}"]
    written[0] |= {"source": blank["source"], "cell_type": "code"}
    for cell in (written[0], *checks):
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
    content = json.loads(notebook.read_text("utf-8-sig"))
    content["cells"] = [cell for cell in cells if not any(cell is copy for copy in written[1:])]
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _defines(cell: dict[str, Any], symbol: str) -> bool:
    pattern = rf"^(?:async[ \t]+)?(?:def|class)[ \t]+{symbol}\b"
    return cell.get("cell_type") == "code" and re.search(pattern, source_of(cell), re.MULTILINE) is not None


def _keep(notebook: Path) -> Path:
    """Copies the notebook to the folder of earlier ones, under the time of day."""
    folder = notebook.parent / EARLIER
    folder.mkdir(exist_ok=True)
    now = f"{datetime.now():%Y-%m-%d %H.%M.%S}"
    names = (f"{notebook.stem} {now}{f' ({n})' if n else ''}.ipynb" for n in range(1000))
    target = next(folder / name for name in names if not (folder / name).exists())
    shutil.copy2(notebook, target)
    return target

"""How far a learner is: the best score of each exercise, in one small file in the folder of the lessons.

It never stands in the way of a check. Where the file can't be read or written, there is no record, and that is all.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from grader.files import write_whole

FILE = ".course-progress.json"
VERSION = 1
MAX_BYTES = 2**20

Scores = dict[str, dict[str, float]]
"""Per lesson, the best score of each exercise that earned one."""


def read(folder: Path) -> Scores:
    """What is recorded in a folder; nothing, where there is no record or none that can be read."""
    try:
        path = folder / FILE
        if path.stat().st_size > MAX_BYTES:
            return {}
        content = json.loads(path.read_text("utf-8"))
        if content["version"] != VERSION:
            return {}
        return {
            lesson: {symbol: float(score) for symbol, score in best.items() if _is_score(score)}
            for lesson, best in content["best"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def remember(folder: Path, lesson: str, symbol: str, score: float) -> None:
    """Keeps the score if it is the best one yet."""
    scores = read(folder)
    best = scores.setdefault(lesson, {})
    if score > best.get(symbol, 0.0):
        best[symbol] = score
        _write(folder, scores)


def forget(folder: Path, lesson: str, symbols: Iterable[str]) -> None:
    """Drops the scores of these exercises: their answers were put away."""
    scores = read(folder)
    best = scores.get(lesson, {})
    if [best.pop(symbol) for symbol in symbols if symbol in best]:
        _write(folder, scores)


def folder_of(notebook: Path, lesson: str) -> Path:
    """Where the record of a notebook stands: in the folder that holds the lessons' folders, else beside it."""
    folder = notebook.parent
    return folder.parent if folder.name == lesson else folder


def recorder(lesson: str) -> Callable[[str, float], None] | None:
    """What `check` calls with a symbol and its score; None where nothing is recorded.

    Recorded is what a person does in Jupyter or VS Code. Grading, validating and building notebooks is not.
    """
    notebook = _notebook()
    if notebook is None or "google.colab" in sys.modules or os.environ.get("NBGRADER_EXECUTION"):
        return None
    folder = folder_of(notebook, lesson)
    return lambda symbol, score: remember(folder, lesson, symbol, score)


def _notebook() -> Path | None:
    """The notebook that a person has open here. It may have been renamed meanwhile: only its folder matters."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    # The first is VS Code's, the second is what Jupyter's server tells the kernel at its start.
    for name in (shell.user_ns.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        if isinstance(name, str) and name.endswith(".ipynb") and Path(name).parent.is_dir():
            return Path(name)
    return None


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _write(folder: Path, scores: Scores) -> None:
    """Writes the record; a folder that can't be written to keeps none."""
    text = json.dumps({"version": VERSION, "best": scores}, indent=1, sort_keys=True) + "\n"
    with contextlib.suppress(OSError):
        write_whole(folder / FILE, text)

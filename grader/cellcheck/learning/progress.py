"""How far a learner is: the best score of each exercise, in one small file in the folder of the lessons.

Beside the scores it says when an exercise was first solved, how many answers to it were wrong (one hint each; the same
one counts once, however often and by whatever it is checked), where the learner went on with the course's own answer,
and what came of it "again, without help".

It never stands in the way of a check. Where the file can't be read or written, there is no record, and that is all.
"""

import ast
import contextlib
import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from cellcheck.files import write_whole
from cellcheck.syntax import syntax_tree

FILE = ".course-progress.json"
VERSION = 1
MAX_BYTES = 2**20

PASSED, OURS = "passed", "ours"
WRONG = frozenset({"partial", "failed", "error", "timeout", "memory", "crashed"})
"""What `check` calls an answer that isn't right, and no blank either."""

KEPT = 100
"""How many wrong answers to an exercise are known again."""

Scores = dict[str, dict[str, float]]
"""Per lesson, the best score of each exercise that earned one."""
Days = dict[str, dict[str, date]]


@dataclass(frozen=True)
class Record:
    """All that is recorded; each by lesson, then by symbol."""

    best: Scores = field(default_factory=dict)
    solved: Days = field(default_factory=dict)
    """When an answer first had full marks."""
    wrong: dict[str, dict[str, int]] = field(default_factory=dict)
    """How many answers were wrong."""
    tried: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """What tells those answers apart; nothing can be read from it."""
    ours: Days = field(default_factory=dict)
    """When the learner first went on with the course's own answer."""
    again: Scores = field(default_factory=dict)
    """The best score of another try, without help; 0 where it earned nothing."""
    again_on: Days = field(default_factory=dict)
    """When that try was last checked."""


def read(folder: Path) -> Scores:
    """The best scores; nothing, where there is no record or none that can be read."""
    return record(folder).best


def record(folder: Path) -> Record:
    """What is recorded in a folder; nothing, where there is no record or none that can be read."""
    try:
        path = folder / FILE
        if path.stat().st_size > MAX_BYTES:
            return Record()
        content = json.loads(path.read_text("utf-8"))
        if content["version"] != VERSION:
            return Record()
        return Record(
            {
                lesson: {symbol: float(score) for symbol, score in best.items() if _is_score(score)}
                for lesson, best in content["best"].items()
            },
            _read(content, "solved", _day),
            _read(content, "wrong", _count),
            _read(content, "tried", _marks),
            _read(content, "ours", _day),
            _read(content, "again", lambda score: float(score) if _is_score(score) else 0.0),
            _read(content, "again_on", _day),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Record()


def remember(folder: Path, lesson: str, symbol: str, score: float) -> None:
    """Keeps the score if it is the best one yet."""
    known = record(folder)
    best = known.best.setdefault(lesson, {})
    if score > best.get(symbol, 0.0):
        best[symbol] = score
        _write(folder, known)


def note(folder: Path, lesson: str, symbol: str, score: float, status: str, answer: str = "") -> None:
    """Takes down what came of a check.

    Args:
        folder: where the record stands.
        lesson: the exercise's lesson.
        symbol: the exercise.
        score: what the answer earned.
        status: a verdict's, or `OURS`.
        answer: the text of the answer's cell. A wrong one counts once; without a text, each time.
    """
    if status not in (PASSED, OURS, *WRONG):
        return
    known = record(folder)
    if status != OURS:  # it was taken out again, and an answer of one's own checked
        known.ours.get(lesson, {}).pop(symbol, None)
    if status == OURS:
        known.ours.setdefault(lesson, {}).setdefault(symbol, date.today())
    elif status == PASSED:
        known.solved.setdefault(lesson, {}).setdefault(symbol, date.today())
    elif status in WRONG:
        tried = known.tried.setdefault(lesson, {}).setdefault(symbol, [])
        mark = _mark(answer)
        if mark not in tried:
            wrong = known.wrong.setdefault(lesson, {})
            wrong[symbol] = wrong.get(symbol, 0) + 1
            tried[:] = [*tried, *([mark] if answer else [])][-KEPT:]
    if score > 0 and status != OURS:
        best = known.best.setdefault(lesson, {})
        best[symbol] = max(score, best.get(symbol, 0.0))
    _write(folder, known)


def note_again(folder: Path, lesson: str, symbol: str, score: float, status: str) -> None:
    """Takes down what came of another try, without help. Nothing else of the record changes."""
    if status != PASSED and status not in WRONG:
        return
    known = record(folder)
    again = known.again.setdefault(lesson, {})
    again[symbol] = max(score, again.get(symbol, 0.0))
    known.again_on.setdefault(lesson, {})[symbol] = date.today()
    _write(folder, known)


def forget(folder: Path, lesson: str, symbols: Iterable[str]) -> None:
    """Drops what is known of these exercises: their answers were put away. That ours was looked at stays."""
    known = record(folder)
    tables: list[dict[str, dict[str, Any]]] = [
        *(known.best, known.solved, known.wrong, known.tried, known.again, known.again_on)
    ]
    parts = [part.get(lesson, {}) for part in tables]
    if [part.pop(symbol) for symbol in symbols for part in parts if symbol in part]:
        _write(folder, known)


def folder_of(notebook: Path, lesson: str) -> Path:
    """Where the record of a notebook stands: in the folder that holds the lessons' folders, else beside it."""
    folder = notebook.parent
    return folder.parent if folder.name == lesson else folder


def recorder(lesson: str, *, again: bool = False) -> Callable[[str, float, str, str], None] | None:
    """What `check` calls with a symbol, its score, its status and its text; None where nothing is recorded.

    Recorded is what a person does in Jupyter or VS Code. Grading, validating and building notebooks is not. `again` is
    for a notebook with another try, which stands one folder deeper.
    """
    notebook = _notebook()
    if notebook is None or "google.colab" in sys.modules or os.environ.get("NBGRADER_EXECUTION"):
        return None
    folder = notebook.parent.parent if again else folder_of(notebook, lesson)
    if again:
        return lambda symbol, score, status, _: note_again(folder, lesson, symbol, score, status)
    return lambda symbol, score, status, answer: note(folder, lesson, symbol, score, status, answer)


def _notebook() -> Path | None:
    """The notebook that a person has open here. It may have been renamed meanwhile: only its folder matters."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    # The first is VS Code's, the second is what Jupyter's server tells the kernel at its start.
    for name in (shell.user_ns.get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        if isinstance(name, str) and name.endswith(".ipynb") and Path(name).parent.is_dir():
            return Path(name)
    if sys.platform == "emscripten":  # in a browser nobody tells, but the notebooks are where the kernel is
        return Path.cwd() / "notebook.ipynb"
    return None


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 10**6 else None


def _marks(value: Any) -> list[str] | None:
    return [mark for mark in value if isinstance(mark, str)][-KEPT:] if isinstance(value, list) else None


def _mark(answer: str) -> str:
    """Tells answers apart that differ by more than blanks and comments. Of what isn't Python, only the blanks go."""
    try:
        bare = ast.dump(syntax_tree(answer))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        bare = " ".join(answer.split())
    return hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()[:12]


_Read = TypeVar("_Read")


def _read(content: Mapping[str, Any], part: str, one: Callable[[Any], _Read | None]) -> dict[str, dict[str, _Read]]:
    """A part of the record that an older version may not have written, or that somebody has spoilt."""
    entries: dict[str, dict[str, _Read]] = {}
    lessons = content.get(part)
    for lesson, symbols in lessons.items() if isinstance(lessons, dict) else ():
        for symbol, value in symbols.items() if isinstance(symbols, dict) else ():
            if (read_value := one(value)) is not None:
                entries.setdefault(lesson, {})[symbol] = read_value
    return entries


def _write(folder: Path, known: Record) -> None:
    """Writes the record, what is empty left out; a folder that can't be written to keeps none."""
    parts = {each.name: getattr(known, each.name) for each in fields(known)}
    parts["tried"] = {lesson: {s: m for s, m in marks.items() if m} for lesson, marks in known.tried.items()}
    parts = {name: part for name, part in parts.items() if name == "best" or any(part.values())}
    content = {"version": VERSION, **parts}
    text = json.dumps(content, indent=1, sort_keys=True, default=date.isoformat) + "\n"
    with contextlib.suppress(OSError):
        write_whole(folder / FILE, text)

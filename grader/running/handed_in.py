"""What was handed in: which file is which of a plain assignment's notebooks, and what lies beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.running.assignment import Assignment
from grader.running.cells import Cells
from grader.running.intake import Unreadable, read_file
from grader.running.reader import read_apart

MAX_NOTEBOOKS = 20  # looked at in one submission
MAX_OTHER_FILES = 200
MAX_OTHER_BYTES = 2**25  # of all of them together: half of what a submission may write


def handed_in(handed: Path | bytes, assignment: Assignment) -> tuple[dict[str, bytes | Unreadable], Assignment]:
    """The notebooks of a submission by name, and what they are notebooks of.

    A folder is a whole submission. A file, or the bytes of one, is one notebook: nobody asks for the others.

    Raises:
        Unreadable: for a link, and for a file that is none of the assignment's notebooks.
    """
    if isinstance(handed, Path) and handed.is_dir() and not handed.is_symlink():
        chosen = choose(handed, assignment)
        return {name: _read(file) for name, file in chosen.items()}, assignment
    data = read_file(handed) if isinstance(handed, Path) else handed
    name = title_of(data, handed.stem if isinstance(handed, Path) else "", assignment)
    return {name: data}, replace(assignment, notebooks={name: assignment.notebooks[name]})


def title_of(data: bytes, called: str, assignment: Assignment) -> str:
    """Which of the assignment's notebooks a file is, which is `called` so.

    Raises:
        Unreadable: when it is none of them.
    """
    name = called if called in assignment.notebooks else _which(data, assignment, assignment.notebooks)
    if name is None and len(assignment.notebooks) == 1:
        (name,) = assignment.notebooks
    if name is None:
        raise Unreadable(f"This isn't one of the notebooks of {assignment.name}: {', '.join(assignment.notebooks)}.")
    return name


def is_untouched(data: bytes, source: Cells) -> bool:
    """Whether no answer was begun in a plain notebook.

    Raises:
        Unreadable: when it is not a notebook.
    """
    cells = {cell["grade_id"]: cell["source"].strip() for cell in read_apart("cells", data)}
    answers = [name for name, cell in source.items() if cell.answer and not cell.task]
    return bool(answers) and all(cells.get(name) == source[name].source.strip() for name in answers)


def choose(folder: Path, assignment: Assignment) -> dict[str, Path]:
    """Which file of a submission's folder is which notebook: by its name, else by the cells in it."""
    there = sorted(folder.glob("*.ipynb"))[:MAX_NOTEBOOKS]
    found = {path.stem: path for path in there if path.stem in assignment.notebooks}
    others = [path for path in there if path.stem not in found]
    for path in others:
        missing = [name for name in assignment.notebooks if name not in found]
        data = _read(path) if missing else Unreadable("")
        name = None if isinstance(data, Unreadable) else _which(data, assignment, missing)
        if name is not None:
            found[name] = path
    missing = [name for name in assignment.notebooks if name not in found]
    if len(missing) == len(there) == 1 and not assignment.several:  # there is only one that it can be
        found[missing[0]] = there[0]
    return found


def _which(data: bytes, assignment: Assignment, names: Iterable[str]) -> str | None:
    """Which of these notebooks shares most cells with this one, if any does."""
    try:
        there = {cell["grade_id"] for cell in read_apart("cells", data)}
    except Unreadable:
        return None
    shared = {name: len(there & set(assignment.notebooks[name])) for name in names}
    best = max(shared, key=lambda name: shared[name], default=None)
    return best if best is not None and shared[best] else None


def other_files(submission: Path) -> dict[str, bytes]:
    """What was handed in with a notebook, by path: modules that it imports, data that it reads."""
    found: dict[str, bytes] = {}
    folder = submission if submission.is_dir() else submission.parent
    left = MAX_OTHER_BYTES
    if submission.is_symlink() or folder.is_symlink() or not folder.is_dir():
        return found
    for path in sorted(folder.rglob("*"))[: 20 * MAX_OTHER_FILES]:
        inside = path.relative_to(folder)
        if path.suffix == ".ipynb" or inside.as_posix() == "timestamp.txt" or not path.is_file():
            continue
        linked = any((folder / part).is_symlink() for part in [inside, *inside.parents][:-1])
        if linked or path.stat().st_size > left or len(found) == MAX_OTHER_FILES:
            continue
        with contextlib.suppress(OSError):
            found[inside.as_posix()] = path.read_bytes()
            left -= len(found[inside.as_posix()])
    return found


def is_notebook(data: bytes) -> bool:
    """Whether it can be read as one."""
    try:
        read_apart("cells", data)
    except Unreadable:
        return False
    return True


def _read(path: Path) -> bytes | Unreadable:
    try:
        return read_file(path)
    except Unreadable as error:
        return error

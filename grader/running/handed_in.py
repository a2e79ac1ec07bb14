"""What was handed in of a plain assignment: which file is which of its notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from grader.running.assignment import Assignment
from grader.running.intake import Unreadable, read_file
from grader.running.reader import read_apart

MAX_NOTEBOOKS = 20  # looked at in one submission


def handed_in(path: Path, assignment: Assignment) -> tuple[dict[str, bytes | Unreadable], Assignment]:
    """The notebooks of a submission by name, and what they are notebooks of.

    A folder is a whole submission. A file is one notebook: nobody asks for the others.

    Raises:
        Unreadable: for a link, and for a file that is none of the assignment's notebooks.
    """
    if path.is_dir() and not path.is_symlink():
        chosen = choose(path, assignment)
        return {name: _read(file) for name, file in chosen.items()}, assignment
    data = read_file(path)
    name = path.stem if path.stem in assignment.notebooks else _which(data, assignment, assignment.notebooks)
    if name is None and len(assignment.notebooks) == 1:
        (name,) = assignment.notebooks
    if name is None:
        raise Unreadable(f"This is none of the notebooks of {assignment.name}: {', '.join(assignment.notebooks)}.")
    return {name: data}, replace(assignment, notebooks={name: assignment.notebooks[name]})


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
    if len(missing) == len(assignment.notebooks) == len(there) == 1:  # there is only one that it can be
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

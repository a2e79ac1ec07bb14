"""What was handed in: which file is which of an assignment's notebooks, and what lies beside them."""

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from cellcheck.errors import GraderError
from cellcheck.plain import harmless
from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import Cells
from cellcheck.running.intake import Unreadable, as_released, read_file
from cellcheck.running.listing import files_below
from cellcheck.running.reading_apart import read_apart

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
        chosen, _ = choose(handed, assignment)
        return {name: _read(file) for name, file in chosen.items()}, assignment
    data = read_file(handed) if isinstance(handed, Path) else handed
    name = title_of(data, handed.stem if isinstance(handed, Path) else "", assignment)
    return {name: data}, assignment.only({name})


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


def has_cells_of(data: bytes, assignment: Assignment, title: str) -> bool:
    """Whether there is anything of one of the assignment's notebooks in a file."""
    return _which(data, assignment, [title]) is not None


def is_untouched(data: bytes, source: Cells) -> bool:
    """Whether no answer was begun in a plain notebook.

    Raises:
        Unreadable: when it is not a notebook.
    """
    cells = {cell["grade_id"]: cell["source"].strip() for cell in read_apart("cells", data)}
    answers = [name for name, cell in source.items() if cell.answer and not cell.task]
    return bool(answers) and all(cells.get(name) == source[name].source.strip() for name in answers)


def choose(folder: Path, assignment: Assignment) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Which file of a submission's folder is which notebook, and what to say about the choice.

    It is the one of that name, unless it is of no use and what is in another one fits.
    """
    try:
        there = sorted(folder.glob("*.ipynb"))
    except OSError:  # whoever reads a notebook will say why that can't be done
        return {title: folder / f"{title}.ipynb" for title in assignment.notebooks}, ()
    by_title = {path.stem: path for path in there if path.stem in assignment.notebooks}
    others = [p for p in there if p.stem not in by_title and p.stem not in assignment.ungraded][:MAX_NOTEBOOKS]
    repairs, left = [], []
    wanted = [title for title in assignment.notebooks if others and not _is_one(by_title.get(title), assignment, title)]
    for path in others:
        title = _which(_read(path), assignment, wanted)
        if title is None:
            left.append(path)
        else:
            by_title[title] = path
            wanted.remove(title)
            repairs.append(f"The notebook was called {harmless(path.name)}; it was treated as {title}.ipynb.")
    if not by_title and len(left) == 1 and not assignment.several:  # there is only one that it can be
        (title,) = assignment.notebooks
        by_title[title] = left.pop()
    if left:
        names = ", ".join(harmless(path.name) for path in left)
        repairs.append(f"There was more than one notebook; {names} was left out.")
    return by_title, tuple(repairs)


def _is_one(path: Path | None, assignment: Assignment, title: str) -> bool:
    return path is not None and _which(_read(path), assignment, [title]) is not None


def _which(data: bytes | Unreadable, assignment: Assignment, titles: Iterable[str]) -> str | None:
    """Which of these notebooks a file is by what is in it: one of the lesson, or the one that shares most cells."""
    if isinstance(data, Unreadable):
        return None
    shared: dict[str, int] = {}
    for title in titles:
        try:
            cells, _ = as_released(data, assignment, title)
        except GraderError:
            continue
        source = assignment.notebooks[title]
        shared[title] = sum(not cell.put_back and cell.grade_id in source for cell in cells)
    best = max(shared, key=lambda title: shared[title], default=None)
    return best if best is not None and shared[best] else None


def other_files(submission: Path) -> dict[str, bytes]:
    """What was handed in with a notebook, by path: modules that it imports, data that it reads."""
    files: dict[str, bytes] = {}
    folder = submission if submission.is_dir() else submission.parent
    left = MAX_OTHER_BYTES
    if submission.is_symlink() or folder.is_symlink() or not folder.is_dir():
        return files
    for path in files_below(folder).files:
        inside = path.relative_to(folder).as_posix()
        if path.suffix == ".ipynb" or inside == "timestamp.txt" or len(files) == MAX_OTHER_FILES:
            continue
        with contextlib.suppress(OSError):
            if path.stat().st_size <= left:
                files[inside] = path.read_bytes()
                left -= len(files[inside])
    return files


def readable(notebooks: Mapping[str, bytes | Unreadable]) -> dict[str, bytes]:
    """Those that can be read as notebooks."""
    paths = {}
    for title, data in notebooks.items():
        with contextlib.suppress(Unreadable):
            if isinstance(data, bytes):
                read_apart("cells", data)
                paths[title] = data
    return paths


def _read(path: Path) -> bytes | Unreadable:
    try:
        return read_file(path)
    except Unreadable as error:
        return error

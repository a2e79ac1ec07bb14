"""What was handed in: which file is which of an assignment's notebooks, and what lies beside them."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from cellcheck.plain import harmless
from cellcheck.running.assignment import Assignment
from cellcheck.running.intake import Unreadable, read_file
from cellcheck.running.listing import files_below
from cellcheck.running.reading_apart import read_apart
from cellcheck.running.recognise import best_fit, has_cells_of, is_blank, title_of

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


def choose(folder: Path, assignment: Assignment) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Which file of a submission's folder is which notebook, and what to say about the choice.

    It is the one of that name, unless it is blank, or of no use, and another one that fits is better.
    """
    try:
        there = sorted(folder.glob("*.ipynb"))
    except OSError:  # whoever reads a notebook will say why that can't be done
        return {title: folder / f"{title}.ipynb" for title in assignment.notebooks}, ()
    by_title = {path.stem: path for path in there if path.stem in assignment.notebooks}
    others = [p for p in there if p.stem not in by_title and p.stem not in assignment.ungraded][:MAX_NOTEBOOKS]
    fits = {path: _fits(path, assignment) for path in others}
    repairs, left = [], []
    for title in assignment.notebooks:
        named, copies = by_title.get(title), [path for path in others if fits[path] == title]
        if not copies:
            continue
        candidates = [*([named] if named is not None else []), *copies]
        best = max(candidates, key=lambda path: worth(path, assignment, title))  # of equals, the first
        by_title[title] = best
        left += [path for path in copies if path != best]
        if named is not None and best != named and worth(named, assignment, title) == BLANK:
            repairs.append(f"{harmless(named.name)} is blank; {harmless(best.name)} was graded.")
        elif best != named:
            repairs.append(f"The notebook was called {harmless(best.name)}; it was treated as {title}.ipynb.")
    strangers = [path for path in others if fits[path] is None]
    if not by_title and len(strangers) == 1 and not assignment.several:  # there is only one that it can be
        (title,) = assignment.notebooks
        by_title[title] = strangers.pop()
    if assignment.several and strangers:
        repairs.append(f"{_left_out(strangers)}: none of the notebooks of {assignment.name}.")
        strangers = []
    if left := sorted(left + strangers):
        repairs.append(f"There was more than one notebook; {_left_out(left)}.")
    return by_title, tuple(repairs)


def _left_out(paths: Sequence[Path]) -> str:
    return f"{', '.join(harmless(path.name) for path in paths)} {'was' if len(paths) == 1 else 'were'} left out"


OF_NO_USE, BLANK, WORK = range(3)
"""What a file is worth as a certain notebook."""


def worth(path: Path, assignment: Assignment, title: str) -> int:
    """Whether a file is of use as a certain notebook, and whether anything was written into it."""
    data = _read(path)
    if isinstance(data, Unreadable) or not has_cells_of(data, assignment, title):
        return OF_NO_USE
    if best_fit(data, path.stem, assignment) not in (None, title):  # it has another one's name
        return OF_NO_USE
    return BLANK if is_blank(data, assignment, title) else WORK


def _fits(path: Path, assignment: Assignment) -> str | None:
    data = _read(path)
    return None if isinstance(data, Unreadable) else best_fit(data, path.stem, assignment)


def other_files(submission: Path) -> dict[str, bytes]:
    """What was handed in with a notebook, by path: modules that it imports, data that it reads."""
    files: dict[str, bytes] = {}
    for inside, path in _others(submission)[0].items():
        with contextlib.suppress(OSError):
            files[inside] = path.read_bytes()
    return files


def left_out(submission: Path) -> tuple[str, ...]:
    """What to say of the files that are too many, too large, or too deep to be there when it is graded."""
    _, left, whole = _others(submission)
    names = [
        f"{harmless(inside)} ({size >> 20} MB)" if size >> 20 else harmless(inside) for inside, size in left.items()
    ]
    names = names[:3] + ([f"{len(names) - 3} more files"] if len(names) > 3 else [])
    names += [] if whole else ["whatever lies deeper, or behind a thousand files"]
    most = f"at most {MAX_OTHER_FILES} files with {MAX_OTHER_BYTES >> 20} MB in all are there when it is graded"
    return (f"Left out, since {most}: {', '.join(names)}.",) if names else ()


def _others(submission: Path) -> tuple[dict[str, Path], dict[str, int], bool]:
    """The files beside a submission's notebooks that count, the sizes of those that don't, and whether that is all."""
    counting: dict[str, Path] = {}
    left: dict[str, int] = {}
    folder = submission if submission.is_dir() else submission.parent
    if submission.is_symlink() or folder.is_symlink() or not folder.is_dir():
        return counting, left, True
    there, room = files_below(folder), MAX_OTHER_BYTES
    for path in there.files:
        inside = path.relative_to(folder).as_posix()
        if path.suffix == ".ipynb" or inside == "timestamp.txt":
            continue
        with contextlib.suppress(OSError):
            size = path.stat().st_size
            if size > room or len(counting) == MAX_OTHER_FILES:
                left[inside] = size
            else:
                counting[inside] = path
                room -= size
    return counting, left, there.whole


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

"""An entry's files as bytes: read by `submit()` where they are made, and by the grader where they are scored.

No link is followed, and a size is looked at before anything is read.
"""

import os
import stat
from pathlib import Path

from cellcheck.authoring.contest import Allowance, Contest

MAX_HEADER = 2**20
"""Bytes: the names and shapes in a file of weights."""
_BYTES_EACH = 8
"""Of a number, at most: float64."""


class EntryRefused(Exception):
    """An entry that gets no place; the message is one sentence that says why, and what to do about it."""


def most_bytes(allowance: Allowance) -> int:
    """How large a file of weights may be."""
    return _BYTES_EACH * allowance.parameters + MAX_HEADER + 8


def files_of(folder: Path, contest: Contest) -> dict[str, bytes]:
    """The code and, if there are any, the weights in an entry's folder, by their names.

    Raises:
        Refused: when one may not be read, or there is no code.
    """
    code = read(folder / contest.code, contest.allowance.text_bytes)
    if code is None:
        raise EntryRefused(f"There is no {contest.code} in {folder.name}/.")
    weights = read(folder / contest.weights, most_bytes(contest.allowance))
    return {contest.code: code} | ({contest.weights: weights} if weights is not None else {})


def read(path: Path, most: int) -> bytes | None:
    """A file's bytes; None where there is none.

    Raises:
        Refused: when it is none that may be read, or larger than `most`.
    """
    try:
        # A link is not followed, and a pipe is not waited for.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "is a link" if path.is_symlink() else f"can't be read ({error.strerror})"
        raise EntryRefused(f"{path.name} {why}: hand in the file itself.") from None
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise EntryRefused(f"{path.name} is not a file: hand in the file itself.")
        data = file.read(most + 1) if status.st_size <= most else b""
    if max(status.st_size, len(data)) > most:
        size = max(status.st_size, len(data))
        raise EntryRefused(f"{path.name} has {size:,} bytes, and at most {most:,} are accepted: make it smaller.")
    return data

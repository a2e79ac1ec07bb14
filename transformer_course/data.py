"""The small texts that come with the course: found from any working folder, in the repository and installed."""

from functools import cache
from importlib.resources import files
from pathlib import Path

_PACKAGE = Path(str(files("transformer_course")))
_PLACES = (_PACKAGE / "data", _PACKAGE.parent / "data")
"""In the installed package, and in the repository, beside it."""


def data_file(name: str) -> Path:
    """Where the file `name` of the folder `data/` lies on this machine.

    >>> data_file("moby_dick.txt").name
    'moby_dick.txt'

    Raises:
        FileNotFoundError: when the course was copied without its data; the message says
            what to do.
    """
    for place in _PLACES:
        if (place / name).is_file():
            return place / name
    raise FileNotFoundError(
        f"The course's data file {name!r} is missing. It stands in the folder data/ of the course's "
        "repository, beside transformer_course/: copy that folder too, or install the course with pip."
    )


@cache
def moby_dick() -> str:
    """Chapters 1 to 22 of Herman Melville's novel, from 1851.

    >>> moby_dick()[:39]
    'CHAPTER 1. Loomings.\\n\\nCall me Ishmael. '
    """
    return data_file("moby_dick.txt").read_text(encoding="utf-8")

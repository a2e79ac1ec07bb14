"""The small texts that come with the course: found from any working folder, in the repository and installed."""

from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

DISTRIBUTION = "transformers-cell-by-cell"
_IN_REPOSITORY = Path(__file__).resolve().parents[1] / "data"


def data_file(name: str) -> Path:
    """Where the file `name` of the folder `data/` lies on this machine.

    >>> data_file("moby_dick.txt").name
    'moby_dick.txt'

    Raises:
        FileNotFoundError: when the course was copied without its data; the message says
            what to do.
    """
    if (_IN_REPOSITORY / name).is_file():
        return _IN_REPOSITORY / name
    installed = _installed(name)
    if installed is None:
        raise FileNotFoundError(
            f"The course's data file {name!r} is missing. It stands in the folder data/ of the course's "
            "repository, beside course/: copy that folder too, or install the course with pip."
        )
    return installed


@cache
def moby_dick() -> str:
    """Chapters 1 to 22 of Herman Melville's novel, from 1851.

    >>> moby_dick()[:39]
    'CHAPTER 1. Loomings.\\n\\nCall me Ishmael. '
    """
    return data_file("moby_dick.txt").read_text(encoding="utf-8")


def _installed(name: str) -> Path | None:
    """The file as pip installed it: pip wrote down where it put everything."""
    try:
        listed = files(DISTRIBUTION) or []
    except PackageNotFoundError:
        return None
    for file in listed:
        path = Path(str(file.locate()))
        if file.parts[-2:] == (DISTRIBUTION, name) and path.is_file():
            return path
    return None

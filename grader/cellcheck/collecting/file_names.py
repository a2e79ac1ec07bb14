"""What a download's files are called, and which of them are worth reading, before anything is read."""

import unicodedata
import zipfile
from datetime import UTC, datetime

from cellcheck.plain import hides
from cellcheck.running.intake import MAX_BYTES

MAX_OTHER = 2**20
MAX_WEIGHTS = 16 * 2**20
MAX_METADATA = 16 * 2**20
MAX_DEPTH = 30
MAX_PART = 255
"""Bytes of a file's name: more than that no file system takes."""
METADATA = "submission_metadata.yml"
DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(1, 10))})
NOTEBOOK, MAYBE_NOTEBOOK = (".ipynb", ".ipynb.txt", ".ipynb.json"), (".json",)
"""Browsers and mail programs add an ending of their own, or take a notebook for the JSON that it is."""
WEIGHTS = ".safetensors"
"""What a model has learnt, in an entry to a contest."""
_PASSED_OVER = frozenset({"thumbs.db", "desktop.ini"})


def nfc(text: str) -> str:
    """The text as most systems write it: macOS takes accents apart."""
    return unicodedata.normalize("NFC", text)


def is_zip(name: str) -> bool:
    """Whether a file is to be looked into."""
    return name.lower().endswith(".zip")


def is_notebook(name: str) -> bool:
    """Whether a file is meant to be a notebook."""
    return name.lower().endswith(NOTEBOOK)


def limit_of(name: str) -> int | None:
    """How large a file may be, in bytes; None for one that is of no interest."""
    if name == METADATA:
        return MAX_METADATA
    if name.lower().endswith(NOTEBOOK + MAYBE_NOTEBOOK):
        return MAX_BYTES
    if name.lower().endswith(WEIGHTS):
        return MAX_WEIGHTS
    return None if name.lower() in _PASSED_OVER else MAX_OTHER


def hidden(parts: tuple[str, ...]) -> bool:
    """What systems leave behind: `.ipynb_checkpoints`, `__MACOSX`, `.DS_Store`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def entry_name(info: zipfile.ZipInfo) -> str:
    """An entry's name; macOS writes UTF-8 into zip files without saying so."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def inner_parts(name: str) -> tuple[str, ...]:
    """The folders and the file that an entry's name means.

    Raises:
        ValueError: for a name that leaves its folder or means something else elsewhere; says what it does.
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part != "."]
    if len(parts) > MAX_DEPTH:
        raise ValueError(f"is nested deeper than {MAX_DEPTH} folders")
    if any(len(part.encode("utf-8", "surrogatepass")) > MAX_PART for part in parts):
        raise ValueError(f"is longer than {MAX_PART} bytes")
    parts = [nfc(part) for part in parts]
    if not parts or not parts[0] or ":" in parts[0]:
        raise ValueError("is an absolute one")
    if ".." in parts:
        raise ValueError("points out of its folder")
    if any(not part or not part.strip(" .") for part in parts):
        raise ValueError("has an empty part")
    if any(hides(letter) for part in parts for letter in part):
        raise ValueError("has letters that can't be seen")
    if any(part.split(".")[0].strip().lower() in DEVICES for part in parts):
        raise ValueError("is a device's on Windows")
    return tuple(parts)


def when(info: zipfile.ZipInfo) -> float:
    """When an entry was written, if a zip file's times, which know no zone, were UTC."""
    try:
        return datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0

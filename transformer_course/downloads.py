"""Public files that the course may use but not pass on: fetched once, checked, and kept in the user's cache.

`data/downloads.json` says where each file comes from and what its sha256 is. Set the environment variable
`COURSE_MIRROR` to a folder that holds the same files under the same names, and they are read from there.
"""

import hashlib
import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from transformer_course.data import data_file
from transformer_course.progress import Progress

MIRROR = "COURSE_MIRROR"
_CHUNK = 1 << 16
_PATIENCE = 30.0
"""Seconds without a single byte before a download counts as broken."""


class NotAvailable(OSError):
    """A file could not be had. The message says in one sentence what to do."""


@dataclass(frozen=True)
class Listed:
    """What `data/downloads.json` says of a file."""

    url: str
    bytes: int
    sha256: str
    terms: str


@cache
def listed() -> dict[str, Listed]:
    """Every file that can be downloaded, by its name.

    >>> listed()["multi30k/val.en.gz"].bytes
    21650
    """
    return {name: Listed(**entry) for name, entry in json.loads(data_file("downloads.json").read_text()).items()}


def downloaded(name: str) -> Path:
    """Where the file `name` is on this machine; it is downloaded if it isn't here yet.

    A download that broke off goes on where it stopped. A file whose sha256 is wrong is
    never returned.

    Raises:
        NotAvailable: when there is no way to get the file.
    """
    entry = listed()[name]
    mirror = os.environ.get(MIRROR)
    if mirror:
        return _from_mirror(Path(mirror) / name, entry)
    path = cache_folder() / name
    if not (path.is_file() and _sha256(path) == entry.sha256):
        path.parent.mkdir(parents=True, exist_ok=True)
        _download(name, entry, path)
    return path


def cache_folder() -> Path:
    """Where downloads are kept: the user's cache folder, or what XDG_CACHE_HOME names."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "transformers-cell-by-cell"


def _from_mirror(path: Path, entry: Listed) -> Path:
    if not path.is_file():
        raise NotAvailable(f"{MIRROR} names a folder that has no file {path}: put it there, or unset {MIRROR}.")
    if _sha256(path) != entry.sha256:
        raise NotAvailable(f"{path} is not the file that the course was written for (its sha256 differs): replace it.")
    return path


def _download(name: str, entry: Listed, path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.part")
    try:
        _fetch(name, entry, unfinished)
    except (urllib.error.URLError, OSError) as problem:
        reason = getattr(problem, "reason", problem)
        raise NotAvailable(
            f"{name} can't be downloaded ({reason}): run this again with a network and it goes on where it stopped, "
            f"or set {MIRROR} to a folder that has the file."
        ) from None
    if _sha256(unfinished) != entry.sha256:
        unfinished.unlink()
        raise NotAvailable(
            f"What came from {entry.url} is not the file that the course was written for (its sha256 differs): "
            f"try again, or set {MIRROR} to a folder that has the right file."
        )
    os.replace(unfinished, path)


def _fetch(name: str, entry: Listed, unfinished: Path) -> None:
    """Bring `unfinished` up to the full size; what is there already is not fetched
    again.
    """
    have = unfinished.stat().st_size if unfinished.exists() else 0
    if have >= entry.bytes:
        return  # complete, or wrong: its sha256 tells
    request = urllib.request.Request(entry.url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
        resumed = answer.status == 206  # a server that doesn't know ranges sends everything, with status 200
        with unfinished.open("ab" if resumed else "wb") as file:
            _copy(answer, file, name, entry.bytes, have if resumed else 0)


def _copy(answer: IO[bytes], file: IO[bytes], name: str, size: int, have: int) -> None:
    with Progress(total=size, initial=have, desc=name, unit="B", unit_scale=True) as bar:
        while chunk := answer.read(_CHUNK):
            file.write(chunk)
            bar.update(len(chunk))
            have += len(chunk)
    if have < size:
        raise OSError(f"the connection broke after {have:,} of {size:,} bytes")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

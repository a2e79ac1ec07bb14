"""Reading downloads: folders, zip files, zip files in zip files. Nothing is ever unpacked to where an entry says.

Whoever hands in may choose names, sizes and links; so sizes are limited before anything is read, links are not
followed, and a name that points out of its folder is not looked at.
"""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from grader.errors import GraderError
from grader.running.intake import MAX_BYTES

MAX_TOTAL = 500 * 2**20
MAX_ENTRIES = 10_000
MAX_OTHER = 2**20
MAX_ZIP = 100 * 2**20
MAX_INSIDE = 1_000
MAX_DIRECTORY = 4 * 2**20
MAX_RATIO = 200
RATIO_FROM = 2**20
"""Smaller entries may be packed as well as they like."""
METADATA = "submission_metadata.yml"
DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{i}" for name in ("com", "lpt") for i in range(1, 10))})


class TooMuch(GraderError):
    """A download that is larger than any class; the message says which limit."""


@dataclass(frozen=True)
class Doubt:
    """Something that was not collected, and why."""

    where: str
    why: str


@dataclass(frozen=True)
class Found:
    """A file of a download."""

    parts: tuple[str, ...]
    """Where it stood: folders and zip files in the download, then its own name."""
    data: bytes
    modified: float
    """What the file or the zip says about when it was written: no proof, but an order."""
    holder: str = ""
    """The name of the zip file that was asked for, without its ending; "" for a folder."""

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.parts[-1]

    @property
    def shown(self) -> str:
        """Where it stood, for a person."""
        return "/".join(self.parts)


@dataclass
class Reader:
    """Reads downloads, and keeps count of what it has read."""

    doubts: list[Doubt] = field(default_factory=list)
    entries: int = 0
    total: int = 0

    def read(self, path: Path) -> list[Found]:
        """The notebooks, small files and notes of a download.

        Raises:
            GraderError: when there is no such download, or it is too large.
        """
        if path.is_symlink():
            raise GraderError(f"{path} is a link: name what it points to.")
        try:
            if path.is_dir():
                return list(self._folder(path))
            if not path.is_file():
                raise GraderError(f"There is no {path}.")
            return list(self._file(path, (path.name,), holder=path))
        except OSError as error:
            raise GraderError(f"{error.filename or path} can't be read: {error.strerror}.") from error

    def _folder(self, root: Path) -> Iterator[Found]:
        for folder, folders, files in os.walk(root):
            for name in sorted([*folders, *files]):
                path = Path(folder) / name
                parts = tuple(nfc(part) for part in path.relative_to(root).parts)
                if path.is_symlink():
                    self._doubt(parts, "It is a link: ask for the file itself.")
                elif name in files and not hidden(parts):
                    yield from self._file(path, parts)
            folders[:] = sorted(name for name in folders if not hidden((name,)))

    def _file(self, path: Path, parts: tuple[str, ...], holder: Path | None = None) -> Iterator[Found]:
        self._count()
        if not path.is_file():  # a pipe or a device would be waited for
            self._doubt(parts, "It is not a file.")
            return
        size, modified = path.stat().st_size, path.stat().st_mtime
        if is_zip(parts[-1]):
            # The zip that was asked for is not part of the names; one that lies in a folder is.
            inside = () if holder else parts
            yield from self._zip(path, inside, 0, path.stem if holder else "", parts)
            return
        limit = limit_of(parts[-1])
        if limit is None:
            return
        if size > limit:
            self._too_large(parts, size, limit)
            return
        self._spend(size)
        yield Found(parts, path.read_bytes(), modified)

    def _zip(
        self, source: Path | bytes, parts: tuple[str, ...], depth: int, holder: str, shown: tuple[str, ...]
    ) -> Iterator[Found]:
        try:
            opened = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
            with opened as raw, _archive(raw) as archive:
                infos = archive.infolist()
                # One learner's zip file must not use up what there is for a class.
                if depth and (len(infos) > MAX_INSIDE or sum(info.file_size for info in infos) > MAX_ZIP):
                    raise TooMuch(f"It holds more than {MAX_INSIDE:,} files or {MAX_ZIP // 2**20} MB: ask for less.")
                self._count(len(infos))
                for info in infos:
                    yield from self._entry(archive, info, parts, depth, holder)
        except TooMuch as error:
            if not depth:
                raise
            self._doubt(shown, str(error))
        except zipfile.BadZipFile:
            self._doubt(shown, "It is no zip file that can be read: ask for it again.")
        except (NotImplementedError, RuntimeError, ValueError, zlib.error, EOFError) as error:
            self._doubt(shown, f"It can't be unpacked: {error}.")

    def _entry(
        self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, parts: tuple[str, ...], depth: int, holder: str
    ) -> Iterator[Found]:
        if info.is_dir():
            return
        try:
            inside = inner_parts(entry_name(info))
        except ValueError as error:
            self._doubt((*parts, info.filename[:200]), f"Its name {error}: it was left out.")
            return
        where = (*parts, *inside)
        if hidden(inside):
            return
        mode = info.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            self._doubt(where, "It is a link or no file: it was left out.")
            return
        limit = MAX_ZIP if is_zip(where[-1]) else limit_of(where[-1])
        if limit is None:
            return
        if info.file_size > limit:
            self._too_large(where, info.file_size, limit)
        elif info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
            self._doubt(where, f"It unpacks to more than {MAX_RATIO} times its size: it was left out.")
        elif is_zip(where[-1]) and depth > 0:
            self._doubt(where, "It is a zip file in a zip file in a zip file: unpack it, and collect that.")
        else:
            try:
                with archive.open(info) as file:
                    data = file.read(limit + 1)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError, OSError) as error:
                self._doubt(where, f"It can't be unpacked: {error}.")
                return
            self._spend(len(data))
            if len(data) > limit:
                self._too_large(where, len(data), limit)
            elif is_zip(where[-1]):
                yield from self._zip(data, where, depth + 1, holder, where)
            else:
                yield Found(where, data, when(info), holder)

    def _count(self, more: int = 1) -> None:
        self.entries += more
        if self.entries > MAX_ENTRIES:
            raise TooMuch(f"There are more than {MAX_ENTRIES:,} files in it: collect one lesson at a time.")

    def _spend(self, size: int) -> None:
        self.total += size
        if self.total > MAX_TOTAL:
            raise TooMuch(f"It holds more than {MAX_TOTAL // 2**20} MB: collect one lesson, or part of it, at a time.")

    def _too_large(self, parts: tuple[str, ...], size: int, limit: int) -> None:
        why = "Ask for it with its outputs cleared." if parts[-1].endswith(".ipynb") else "It was left out."
        self._doubt(parts, f"It has {size / 2**20:.0f} MB, and at most {limit // 2**20} MB are taken. {why}")

    def _doubt(self, parts: tuple[str, ...], why: str) -> None:
        self.doubts.append(Doubt("/".join(parts), why))


def _archive(raw: IO[bytes]) -> zipfile.ZipFile:
    """A zip file, whose table of contents is not larger than a class's: opening it reads all of that.

    Raises:
        TooMuch: when it is.
        zipfile.BadZipFile: when it is no zip file.
    """
    end = getattr(zipfile, "_EndRecData")(raw)  # noqa: B009 (private, and the only way to ask before reading)
    if end is not None and end[5] > MAX_DIRECTORY:
        raise TooMuch(f"There are more than {MAX_ENTRIES:,} files in it: collect one lesson at a time.")
    return zipfile.ZipFile(raw)


def nfc(text: str) -> str:
    """The text as most systems write it: macOS takes accents apart."""
    return unicodedata.normalize("NFC", text)


def is_zip(name: str) -> bool:
    """Whether a file is to be looked into."""
    return name.lower().endswith(".zip")


def limit_of(name: str) -> int | None:
    """How large a file may be; None for one that is of no interest."""
    if name.lower().endswith(".ipynb") or name == METADATA:
        return MAX_BYTES
    return None if name.lower() in ("thumbs.db", "timestamp.txt", "desktop.ini") else MAX_OTHER


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
    parts = [nfc(part) for part in name.replace("\\", "/").split("/") if part != "."]
    if not parts or not parts[0] or ":" in parts[0]:
        raise ValueError("is an absolute one")
    if ".." in parts:
        raise ValueError("points out of its folder")
    if any(not part or not part.strip(" .") for part in parts):
        raise ValueError("has an empty part")
    if any(unicodedata.category(letter).startswith("C") for part in parts for letter in part):
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

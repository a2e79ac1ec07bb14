"""Reading downloads: folders, zip files, zip files in zip files. Nothing is ever unpacked to where an entry says.

Whoever hands in may choose names, sizes and links; so sizes are limited before anything is read, links are not
followed, and a name that points out of its folder is not looked at. Each owner in a download has a budget of their
own, and what can't be read is passed on with the reason: it costs its owner, and nobody else.
"""

import io
import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cellcheck.collecting.file_names import MAX_DEPTH, entry_name, hidden, inner_parts, is_zip, limit_of, nfc, when
from cellcheck.collecting.names import label
from cellcheck.errors import GraderError

MAX_FILES = 1_000
MAX_SIZE = 100 * 2**20
"""What one owner may hand in, unpacked."""
MAX_TOTAL_FILES = 10_000
MAX_TOTAL = 2 * 2**30
"""What a zip file may hold that no platform made, and where it can't be said what is whose."""
MAX_DIRECTORY = 64 * 2**20
"""The table of contents of a download; that of a learner's zip file has a share of it for each file they may have."""
MAX_RATIO = 200
RATIO_FROM = 2**20
"""Smaller entries may be packed as well as they like."""


class TooMuch(GraderError):
    """A download that is larger than any class; the message says which limit."""


@dataclass(frozen=True)
class Doubt:
    """Something that was not collected, and why."""

    where: str
    why: str
    students: tuple[str, ...] = ()
    """Who has nothing that can be graded for that reason, as far as that is known."""


@dataclass(frozen=True)
class Found:
    """A file of a download, or one that can't be read and the reason."""

    parts: tuple[str, ...]
    """Where it stood: folders and zip files in the download, then its own name."""
    path: Path | None = None
    """Where its bytes lie now; None for one that has a problem."""
    modified: float = 0.0
    """What the file or the zip says about when it was written: no proof, but an order."""
    holder: str = ""
    """The name of the zip file that was asked for, without its ending; "" for a folder."""
    problem: str = ""
    """Why it was not read."""

    @property
    def data(self) -> bytes:
        """Its bytes, which are not kept in memory: a class's notebooks can be large."""
        return b"" if self.path is None else self.path.read_bytes()

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.parts[-1]

    @property
    def shown(self) -> str:
        """Where it stood, for a person."""
        return "/".join(self.parts)


@dataclass
class _Budget:
    """What is left for one owner."""

    files: int
    size: int
    exceeded: bool = False


@dataclass
class DownloadReader:
    """Reads downloads, and keeps what it unpacks in the folder `spool`."""

    spool: Path
    _budgets: dict[object, _Budget] = field(default_factory=dict)
    _unpacked: int = 0

    def read(self, path: Path) -> list[Found]:
        """The files of a download that are worth a look; those that can't be read have a problem.

        Raises:
            GraderError: when there is no such download, or it is too large.
        """
        self._budgets = {}
        try:
            if path.is_symlink():
                raise GraderError(f"{path} is a link: name what it points to.")
            if path.is_dir():
                return list(self._folder(path))
            if not path.is_file():
                raise GraderError(f"There is no {path}.")
            return list(self._file(path, (nfc(path.name),), holder=path))
        except OSError as error:
            raise GraderError(f"{error.filename or path} can't be read: {error.strerror}.") from error

    def _folder(self, root: Path) -> Iterator[Found]:
        unreadable: list[OSError] = []
        for folder, folders, files in os.walk(root, onerror=unreadable.append):
            inside = tuple(nfc(part) for part in Path(folder).relative_to(root).parts)
            if len(inside) == MAX_DEPTH and folders:
                yield Found(
                    (*inside, folders[0]), problem=f"It is nested deeper than {MAX_DEPTH} folders: it was left out."
                )
                folders.clear()
            links = {name for name in folders if Path(folder, name).is_symlink()}
            for name in sorted([*links, *files]):
                path, parts = Path(folder, name), (*inside, nfc(name))
                if path.is_symlink():
                    yield Found(parts, problem="It is a link: ask for the file itself.")
                elif not hidden((name,)):
                    try:
                        yield from self._file(path, parts)
                    except OSError as error:
                        yield Found(parts, problem=f"It can't be read: {error.strerror}.")
            folders[:] = sorted(name for name in folders if not hidden((name,)) and name not in links)
        for problem in unreadable:
            if Path(str(problem.filename)) == root:
                raise problem
            parts = tuple(nfc(part) for part in Path(str(problem.filename)).relative_to(root).parts)
            yield Found(parts, problem=f"It can't be read: {problem.strerror}.")

    def _file(self, path: Path, parts: tuple[str, ...], holder: Path | None = None) -> Iterator[Found]:
        limit = None if is_zip(parts[-1]) else limit_of(parts[-1])
        if limit is None and not is_zip(parts[-1]):
            return
        if not path.is_file():  # a pipe or a device would be waited for
            yield Found(parts, problem="It is not a file.")
        elif limit is None:
            # The zip that was asked for is not part of the names; one that lies in a folder is.
            yield from self._zip(path, () if holder else parts, path.stem if holder else "", parts)
        else:
            status = path.stat()
            if status.st_size > limit:
                yield Found(parts, problem=_too_large(parts[-1], status.st_size, limit))
            elif (over := self._over(parts, status.st_size, unpacked=False)) is None:
                path.open("rb").close()  # rather than when it is needed
                yield Found(parts, path, status.st_mtime)
            else:
                yield from over

    def _zip(
        self, source: Path | bytes, parts: tuple[str, ...], holder: str, shown: tuple[str, ...]
    ) -> Iterator[Found]:
        """The entries of a zip file: of a download that was asked for, where `parts` is empty, or of a learner's."""
        try:
            with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as raw:
                archive = _archive(raw, of_a_learner=bool(parts))
                infos = archive.infolist()
                if parts and (len(infos) > MAX_FILES or sum(info.file_size for info in infos) > MAX_SIZE):
                    raise TooMuch(_ask_for_less())
                for info in infos:
                    yield from self._entry(archive, info, parts, holder)
        except TooMuch as error:
            if not parts:
                raise
            yield Found(shown, holder=holder, problem=str(error))
        except (OSError, GraderError):
            raise
        except Exception:  # damaged on purpose, it makes zipfile raise nearly anything
            yield Found(shown, holder=holder, problem="It is not a zip file that can be read: ask for it again.")

    def _entry(
        self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, parts: tuple[str, ...], holder: str
    ) -> Iterator[Found]:
        if info.is_dir():
            return
        try:
            inside = inner_parts(entry_name(info))
        except ValueError as error:
            where = (*parts, entry_name(info))
            over = self._over(where, 0)
            yield from (
                over
                if over is not None
                else [Found(where, holder=holder, problem=f"Its name {error}: it was left out.")]
            )
            return
        where = (*parts, *inside)
        limit = MAX_SIZE if is_zip(where[-1]) else limit_of(where[-1])
        if hidden(inside) or limit is None:
            return
        over = self._over(where, info.file_size)
        if over is not None:
            yield from over
            return
        problem, data = _unpack(archive, info, where[-1], limit, nested=bool(parts))
        if problem:
            yield Found(where, holder=holder, problem=problem)
        elif is_zip(where[-1]):
            yield from self._zip(data, where, holder, where)
        else:
            self._unpacked += 1
            unpacked = self.spool / str(self._unpacked)
            try:
                unpacked.write_bytes(data)
            except OSError as error:
                raise GraderError(f"The download can't be unpacked in {self.spool}: {error.strerror}.") from error
            yield Found(where, unpacked, when(info), holder)

    def _over(self, parts: tuple[str, ...], size: int, *, unpacked: bool = True) -> list[Found] | None:
        """None when one more file is within its owner's budget; else what there is to say about that.

        Raises:
            TooMuch: where nobody knows whose it is, and there is too much of it.
        """
        labelled = label(parts)
        owner: object = labelled.owner.key if labelled is not None and labelled.owner is not None else parts[0]
        shares = [self._budgets.setdefault(owner, _Budget(MAX_FILES, MAX_SIZE))]
        if labelled is None and unpacked:
            everything = self._budgets.setdefault(None, _Budget(MAX_TOTAL_FILES, MAX_TOTAL))
            if everything.files < 1 or everything.size < size:
                raise TooMuch(
                    f"It holds more than {MAX_TOTAL_FILES:,} files or {MAX_TOTAL // 2**20:,} MB: "
                    "collect a part of it at a time."
                )
            shares.append(everything)
        share = shares[0]
        if share.files < 1 or share.size < size:
            first, share.exceeded = not share.exceeded, True
            return [Found(parts, problem=_ask_for_less("this and the rest of it were left out"))] if first else []
        for each in shares:
            each.files, each.size = each.files - 1, each.size - size
        return None


def _unpack(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, limit: int, *, nested: bool
) -> tuple[str, bytes]:
    """What is wrong with an entry, or else its bytes."""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "It is a link, or not a file: it was left out.", b""
    if info.file_size > limit:
        return _too_large(name, info.file_size, limit), b""
    if info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
        return f"It unpacks to more than {MAX_RATIO} times its size: it was left out.", b""
    if is_zip(name) and nested:
        return "It is a zip file in a zip file in a zip file: unpack it, and collect that.", b""
    if info.flag_bits & 1:
        return "It can't be unpacked: it is protected by a password.", b""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "It can't be unpacked: it is not compressed in the ordinary way (Deflate).", b""
    try:
        with archive.open(info) as file:
            data = file.read(limit + 1)
    except Exception as error:  # damaged on purpose, it makes zipfile raise nearly anything
        return f"It can't be unpacked: {error or type(error).__name__}.", b""
    return (_too_large(name, len(data), limit), b"") if len(data) > limit else ("", data)


def _ask_for_less(rest: str = "") -> str:
    end = f"{rest}; ask for less" if rest else "ask for less"
    return f"There are more than {MAX_FILES:,} files or {MAX_SIZE // 2**20} MB of one learner: {end}."


def _too_large(name: str, size: int, limit: int) -> str:
    why = "Ask for it with its outputs cleared." if name.endswith(".ipynb") else "It was left out."
    return f"It has {size / 2**20:.0f} MB, and at most {limit // 2**20} MB are accepted. {why}"


def _archive(raw: IO[bytes], *, of_a_learner: bool) -> zipfile.ZipFile:
    """A zip file, whose table of contents is not larger than a class's: opening it reads all of that.

    Raises:
        TooMuch: when it is.
        zipfile.BadZipFile: when it isn't a zip file.
    """
    end = getattr(zipfile, "_EndRecData")(raw)  # noqa: B009 (private, and the only way to ask before reading)
    if end is not None and of_a_learner and end[5] > MAX_FILES * 400:
        raise TooMuch(_ask_for_less())
    if end is not None and end[5] > MAX_DIRECTORY:
        raise TooMuch(f"Its table of contents has more than {MAX_DIRECTORY // 2**20} MB: collect a part at a time.")
    return zipfile.ZipFile(raw)

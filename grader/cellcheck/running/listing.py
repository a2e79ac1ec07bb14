"""What lies in a folder that somebody handed in: looked at in one place, and only so far.

A learner may hand in a thousand folders within each other, a hundred thousand files, or one larger than the disk.
`collect` sees to most of that, but files come into `submitted/` by other ways, too.
"""

import fnmatch
import heapq
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

MAX_FILES = 1000
MAX_FOLDERS = 500
MAX_DEPTH = 20
MAX_LOOKED_AT = 50_000
"""Names in one folder; those that come first in the alphabet are taken of them."""


@dataclass(frozen=True)
class Listing:
    """The files below a folder, in the order of their paths. No links, and nothing behind one."""

    files: tuple[Path, ...]
    whole: bool
    """Whether there is nothing else."""


def files_below(folder: Path, ignored: Collection[str] = ()) -> Listing:
    """The files below a folder, but for those whose name, or whose folder's, fits one of the `ignored` patterns."""
    if folder.is_symlink() or not folder.is_dir():
        return Listing((), True)
    looking = _Looking(ignored)
    files = list(islice(looking.below(folder, 0), MAX_FILES + 1))
    return Listing(tuple(sorted(files[:MAX_FILES])), looking.whole and len(files) <= MAX_FILES)


class _Looking:
    def __init__(self, ignored: Collection[str]) -> None:
        self._ignored = ignored
        self._folders = 0
        self.whole = True

    def below(self, folder: Path, depth: int) -> Iterator[Path]:
        """The files of a folder, and then those of the folders in it."""
        self._folders += 1
        if depth > MAX_DEPTH or self._folders > MAX_FOLDERS:
            self.whole = False
            return
        entries = self._entries(folder)
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from self.below(Path(entry.path), depth + 1)

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as there:
                seen = islice(there, MAX_LOOKED_AT + 1)
                wanted = (entry for entry in seen if not any(fnmatch.fnmatch(entry.name, one) for one in self._ignored))
                entries = heapq.nsmallest(MAX_LOOKED_AT + 1, wanted, key=lambda entry: entry.name)
        except OSError:  # grading says what can't be read
            self.whole = False
            return []
        self.whole = self.whole and len(entries) <= MAX_LOOKED_AT
        return entries[:MAX_LOOKED_AT]

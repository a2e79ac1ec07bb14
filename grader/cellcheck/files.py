"""Files that are there whole or not at all: after an error, after a kill, and after a power cut."""

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Writes a file in one step: what was there stays until all of the new content is on the disk.

    The content is written beside `path` first. What a kill has left there gives way, and two who write the same file
    at the same time never mix their content.

    Args:
        path: the file. Its folder must be there.
        content: all of it; a text becomes UTF-8.
        mode: its permissions, if not those that a new file usually gets.

    Raises:
        OSError: when it can't be written; what was there stays, and no half file is left.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        with fresh.open("xb") as file:
            file.write(data)
            file.flush()
            keep(file.fileno())
        if mode is not None:
            fresh.chmod(mode)
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    _keep_names(path.parent)


def remove_folder(folder: Path) -> None:
    """Removes a folder with all that is in it, however deep: what lies within is moved up before it is looked into.

    Raises:
        OSError: when something can't be removed.
    """
    inside, number, mark = [folder], 0, secrets.token_hex(8)  # a name that nothing in there has
    while inside:
        here = inside.pop()
        for entry in list(os.scandir(here)):
            if entry.is_dir(follow_symlinks=False):
                number += 1
                inside.append(folder / f".removed-{mark}-{number}")
                os.rename(entry.path, inside[-1])
            else:
                os.unlink(entry.path)
        if here != folder:
            here.rmdir()
    folder.rmdir()


def keep(file: int) -> None:
    """Waits until an open file is on the disk, where a power cut can't take it any more."""
    os.fsync(file)


def _keep_names(folder: Path) -> None:
    """Waits until a folder's list of files is on the disk. Windows and some network drives offer no way to do so."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            keep(opened)
        finally:
            os.close(opened)

"""Folders that appear whole or not at all, one grader at a time, and a sentence for what can't be written."""

import contextlib
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from cellcheck.errors import GraderError

_FOR_EVERYBODY = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE}


class Halt(GraderError):
    """Nothing more can be written, for anybody: the run stops. What is graded stays."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}. What has been graded is kept: fix that, then continue with --resume.")


def unwritten(error: OSError, path: Path) -> GraderError:
    """The error for what can't be written: a `Halt` where the next learner would fare no better."""
    reason = f"{error.filename or path} can't be written: {error.strerror or error}"
    return Halt(reason) if error.errno in _FOR_EVERYBODY else GraderError(f"{reason}.")


@contextlib.contextmanager
def fresh_folder(final: Path) -> Iterator[Path]:
    """An empty folder to fill; it takes the place of `final` at the end, unless something goes wrong.

    Raises:
        OSError: when it can't. What was there stays, and what a failure left is cleared away: it would take up room.
    """
    fresh, old = (final.with_name(f".{final.name}.{state}") for state in ("new", "old"))
    for left in (fresh, old):  # by a kill
        _remove(left)
    try:
        fresh.mkdir(parents=True)
        yield fresh
        with contextlib.suppress(FileNotFoundError):
            final.rename(old)
        fresh.rename(final)
    except BaseException:
        _remove(fresh)
        with contextlib.suppress(PermissionError):  # what went wrong is what the other error says
            if old.exists() and not final.exists():
                old.rename(final)
        raise
    _remove(old)


def _remove(folder: Path) -> None:
    """Removes a folder if there is one, as far as that is possible: also one that nobody may look into."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Holds a lock, so that no other grader writes to the same gradebook. It ends with the process, however that ends.

    Raises:
        GraderError: when another grader holds it, or it can't be made.
    """
    held = FileLock(lock)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held.acquire(blocking=False)
    except Timeout:
        raise GraderError(
            f"Another grader is writing to this gradebook (it holds {lock}). Run this again when it is done."
        ) from None
    except OSError as error:
        raise unwritten(error, lock) from error
    try:
        yield
    finally:
        held.release()

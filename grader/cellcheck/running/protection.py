"""Which protections against a submission's code this machine lacks, and what is done about it before grading."""

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from cellcheck.errors import GraderError, MissingProtection
from cellcheck.running.setting import Setting
from cellcheck.running.zygotes import borrowed
from cellcheck.sandbox.walls import NAMES


def missing_walls(setting: Setting) -> dict[str, str]:
    """The protections that this machine lacks, with the reasons. Starts the process that grading needs anyway.

    Raises:
        GraderError: when it does not start.
    """
    with borrowed(setting) as zygote:
        return zygote.missing


@contextmanager
def walled_in_meanwhile(setting: Setting) -> Iterator[None]:
    """Has the process that grading needs get ready while something else is done. What stops it comes up later."""
    with ThreadPoolExecutor(1) as other:
        other.submit(missing_walls, setting)
        yield


def check_walls(setting: Setting, required: bool, further: int = 0) -> None:
    """Warns with `MissingProtection` of what this machine lacks.

    The warning points at whoever called the caller, or at somebody so many calls further out.

    Raises:
        GraderError: when something is lacking and all of it is required.
    """
    missing = missing_walls(setting)
    if missing and required:
        raise GraderError(f"{say_missing(missing)} Nothing was graded, since all protections are required.")
    if missing:
        warnings.warn(say_missing(missing), MissingProtection, stacklevel=3 + further)


def say_missing(missing: dict[str, str]) -> str:
    """One sentence about what is missing."""
    listed = ", ".join(f"{name} ({NAMES[name]})" for name in missing)
    return f"This machine lacks protections: {listed}. cellcheck doctor says why."

"""Which protections against a submission's code this machine lacks, and what is done about it before grading."""

from __future__ import annotations

import warnings

from grader.errors import GraderError, MissingProtection
from grader.running.setting import Setting
from grader.running.zygotes import borrowed
from grader.sandbox.walls import NAMES


def missing_walls(setting: Setting) -> dict[str, str]:
    """The protections that this machine lacks, with the reasons. Starts the process that grading needs anyway.

    Raises:
        GraderError: when it does not start.
    """
    with borrowed(setting) as zygote:
        return zygote.missing


def check_walls(setting: Setting, required: bool) -> None:
    """Warns with `MissingProtection` of what this machine lacks. The warning points at whoever called the caller.

    Raises:
        GraderError: when something is lacking and all of it is required.
    """
    missing = missing_walls(setting)
    if missing and required:
        raise GraderError(f"{say_missing(missing)} Nothing was graded, since all protections are required.")
    if missing:
        warnings.warn(say_missing(missing), MissingProtection, stacklevel=3)


def say_missing(missing: dict[str, str]) -> str:
    """One sentence about what is missing."""
    listed = ", ".join(f"{name} ({NAMES[name]})" for name in missing)
    return f"This machine lacks protections: {listed}. grader doctor says why."

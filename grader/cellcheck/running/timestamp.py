"""When something was handed in: nbgrader's exchange notes it beside the notebooks, in `timestamp.txt`."""

import re
from datetime import datetime
from pathlib import Path

from nbgrader import utils

TIMESTAMP = "timestamp.txt"
_MOST = 100  # bytes
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?([A-Za-z]+(/[A-Za-z_]+){0,2}|[+-]\d\d:?\d\d))?")
"""A time as nbgrader writes it, and as people do: "2026-11-26 20:34:47.123456 UTC"."""


def timestamp(submission: Path) -> datetime | None:
    """When nbgrader collected the submission, in UTC; None where its note is missing or isn't a date."""
    return time_noted(submission / TIMESTAMP)


def time_noted(note: Path) -> datetime | None:
    """The time in a file of nbgrader's, in UTC and, as nbgrader has it, without a zone; None where there is none.

    A learner can write the note: what isn't short, and of this form, is read by nobody.
    """
    if note.is_symlink() or not note.is_file():
        return None
    try:
        with note.open("rb") as file:
            text = file.read(_MOST + 1).decode("utf-8")
        if len(text) > _MOST or not _TIME.fullmatch(text.strip()):
            return None
        time: datetime = utils.parse_utc(text.strip())
    except (ValueError, OverflowError, OSError):
        return None
    return time

"""Which code it is that judges: a digest that is the same wherever the same files are."""

import hashlib
import importlib
from collections.abc import Iterable
from pathlib import Path

from cellcheck.syllabus import find_lesson, library_of, load_lesson


def packages_of(lesson: str | None) -> tuple[str, ...]:
    """The packages that a lesson's exercises are made of: the library, and the lessons themselves.

    Raises:
        GraderError: when there is no such lesson.
    """
    if lesson is None:
        return ()
    syllabus, name = find_lesson(lesson)
    return (*library_of(load_lesson(name)), syllabus.package)


def digest_of(packages: Iterable[str]) -> str:
    """A digest of the modules in these packages, wherever they are installed."""
    summed = hashlib.sha256()
    for package in sorted(set(packages)):
        folder = Path(str(importlib.import_module(package).__file__)).parent
        # A lesson's text, "01_my_topic.py", is prose.
        for path in sorted(folder.rglob("[!0-9]*.py")):
            where = f"{package}/{path.relative_to(folder).as_posix()}"
            summed.update(where.encode() + hashlib.sha256(path.read_bytes()).digest())
    return summed.hexdigest()

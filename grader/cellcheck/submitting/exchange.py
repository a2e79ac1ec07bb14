"""Submitting by nbgrader's exchange, where the class has one and this machine sees it."""

import contextlib
import importlib.util
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellcheck.syllabus import CONFIGURATION


class ExchangeRefused(Exception):
    """The exchange did not take it; the message says why."""


@dataclass(frozen=True)
class ExchangeReceipt:
    """What the exchange was given, or had been given before."""

    time: str
    already: bool = False


def by_exchange(
    notebook: Path, lesson: str, data: bytes, others: Mapping[str, bytes] | None = None
) -> ExchangeReceipt | None:
    """Submits the notebook's folder, as `nbgrader submit` does. None where there is no exchange to submit to.

    `others` are those of its files that count beside the notebook: one that has changed is submitted again.

    Raises:
        Refused: when there is one, and it does not take it.
    """
    if os.name == "nt" or importlib.util.find_spec("nbgrader") is None:
        return None
    # On a JupyterHub the course's settings stand in Jupyter's own folders, not in the learner's.
    course = _folder_around(notebook) or notebook.resolve().parent
    step = _submit_step(course)
    if step is None:
        return None
    folder = notebook.parent
    if folder.name != lesson:
        raise ExchangeRefused(f"it wants the notebook in a folder called {lesson}, and this one is in {folder.name}")
    holder = folder.parent
    if getattr(step, "path_includes_course", False):
        if holder.name != step.coursedir.course_id:
            raise ExchangeRefused(f"it wants the lesson's folder in one called {step.coursedir.course_id}")
        holder = holder.parent
    step.coursedir.assignment_id = lesson
    step.assignment_dir = str(holder)
    earlier = _same_as_before(step, lesson, {notebook.name: data, **(others or {})})
    if earlier is not None:
        return ExchangeReceipt(earlier, already=True)
    return ExchangeReceipt(_start(step, course))


def _folder_around(notebook: Path) -> Path | None:
    """The nbgrader course that a notebook stands in: the folder upwards that holds `nbgrader_config.py`."""
    return next((folder for folder in notebook.resolve().parents if (folder / CONFIGURATION).is_file()), None)


def _submit_step(course: Path) -> Any:
    """nbgrader's step, set up as this course wants it; None where there is no course, or no exchange."""
    from nbgrader.apps import NbGrader
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeFactory
    from nbgrader.exchange.default import ExchangeSubmit

    with contextlib.chdir(course):
        app = NbGrader()
        app.log.setLevel(logging.CRITICAL)
        app.load_config_file()
    app.config.CourseDirectory.root = str(course)
    step = ExchangeFactory(config=app.config).Submit(
        coursedir=CourseDirectory(config=app.config), authenticator=Authenticator(config=app.config), config=app.config
    )
    step.log = logging.Logger("cellcheck.exchange", logging.CRITICAL)
    if not step.coursedir.course_id:
        return None
    if isinstance(step, ExchangeSubmit) and not Path(step.root).is_dir():
        return None
    return step


def _same_as_before(step: Any, lesson: str, files: Mapping[str, bytes]) -> str | None:
    """When the very same files were submitted, if it was the last time. nbgrader keeps a copy for the learner."""
    from nbgrader.utils import get_username

    if not getattr(step, "cache", ""):
        return None
    cache = Path(step.cache) / step.coursedir.course_id
    start = f"{get_username()}+{lesson}+"
    copies = sorted(path for path in cache.glob("*") if path.name.startswith(start)) if cache.is_dir() else []
    if not copies:
        return None
    for name, data in files.items():
        kept_file = copies[-1] / name
        if not kept_file.is_file() or kept_file.read_bytes() != data:
            return None
    return str(copies[-1].name.removeprefix(start))


def _start(step: Any, course: Path) -> str:
    from nbgrader.exchange import ExchangeError

    try:
        with contextlib.chdir(course):
            step.start()
    except (ExchangeError, OSError, RuntimeError) as error:
        raise ExchangeRefused(str(error).splitlines()[0] if str(error) else type(error).__name__) from error
    return str(step.timestamp)

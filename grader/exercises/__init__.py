"""What is asked, what is right, and which mistakes people make: one folder a lesson."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

from grader.exercises.spec import Lesson


class UnknownLesson(Exception):
    """No lesson has that name; the message says which there are."""


@cache
def lesson_names() -> tuple[str, ...]:
    """The lessons that exist, in order: every folder here that is called `lesson_NN` names one."""
    folders = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("lesson_"))
    return tuple(_load(folder).name for folder in folders)


def load_lesson(name: str) -> Lesson:
    """The lesson called `name` ("01_pytorch_basics"; its number alone will do).

    Raises:
        UnknownLesson: when there is none.
    """
    for known in lesson_names():
        if name in (known, known.split("_")[0]):
            return _load(f"lesson_{known.split('_')[0]}")
    raise UnknownLesson(f"There is no lesson {name!r}. These exist: {', '.join(lesson_names())}.")


@cache
def _load(folder: str) -> Lesson:
    return cast(Lesson, importlib.import_module(f"{__name__}.{folder}").LESSON)

"""What an instructor decides: `class.toml`.

title = "Transformers, autumn 2026"

[[assignments]]
lesson = "01_first_steps"
due = 2026-12-01T23:59:00+01:00     # without it there is no deadline
grace_minutes = 15                  # as good as on time
penalty_per_day = 0.1               # of the points, for each day begun
closes = 2026-12-08T23:59:00+01:00  # later there is nothing to hand in to
counts = "best"                     # or "last", or "chosen" by the learner
attempts_per_day = 10
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from cellcheck.errors import GraderError
from cellcheck.syllabus import find_lesson

Counts = Literal["best", "last", "chosen"]
COUNTS = ("best", "last", "chosen")
FILE = "class.toml"


@dataclass(frozen=True)
class Rules:
    """How an assignment is handed in. Times are seconds since 1970, in UTC."""

    lesson: str
    title: str
    due: float | None = None
    grace_minutes: int = 0
    penalty_per_day: float = 0.0
    closes: float | None = None
    counts: Counts = "best"
    attempts_per_day: int = 20


@dataclass(frozen=True)
class Settings:
    """A class, as its instructor describes it."""

    title: str
    assignments: Mapping[str, Rules]
    """By lesson, in the file's order."""


def read(path: Path) -> Settings:
    """Reads `class.toml`.

    Raises:
        GraderError: when it can't be read, or says something that can't be meant; the sentence says what.
    """
    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise GraderError(
            f"There is no {path}: it says which lessons are handed in, and until when. cellcheck serve --new makes one."
        ) from error
    except OSError as error:
        raise GraderError(f"{path} can't be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GraderError(f"{path} is not TOML: {error}.") from error
    unknown = [key for key in written if key not in ("title", "assignments")]
    if unknown:
        raise GraderError(f"{path} knows no {unknown[0]!r}: it has a title, and [[assignments]].")
    title, entries = written.get("title"), written.get("assignments")
    if not isinstance(title, str) or not title:
        raise GraderError(f'{path} has no title: add a line such as title = "Transformers, autumn".')
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise GraderError(f'{path} has no assignments: add [[assignments]], and below it lesson = "01".')
    rules = [_rules(path, entry) for entry in entries]
    twice = [each.lesson for place, each in enumerate(rules) if each.lesson in {r.lesson for r in rules[:place]}]
    if twice:
        raise GraderError(f"{path} has two assignments for {twice[0]}: take one of them out.")
    return Settings(title, {each.lesson: each for each in rules})


def _rules(path: Path, entry: Mapping[str, Any]) -> Rules:
    names = [field.name for field in fields(Rules) if field.name != "title"]
    name = entry.get("lesson", "?")
    for key in entry:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            asked = f" Did you mean {near[0]}?" if near else f" There are {', '.join(names)}."
            raise GraderError(f"{path}, assignment {name}: there is no {key}.{asked}")
    if not isinstance(entry.get("lesson"), str):
        raise GraderError(f'{path}: an assignment has no lesson. Add a line such as lesson = "01".')
    syllabus, lesson = find_lesson(entry["lesson"])
    read: dict[str, Any] = {"lesson": lesson, "title": _title(syllabus.head(lesson).title, lesson)}
    for key, value in entry.items():
        if key != "lesson":
            read[key] = _value(f"{path}, assignment {lesson}", key, value)
    rules = Rules(**read)
    if rules.due is not None and rules.closes is not None and rules.closes < rules.due:
        raise GraderError(f"{path}, assignment {lesson}: it closes before it is due.")
    if rules.penalty_per_day and rules.due is None:
        raise GraderError(f"{path}, assignment {lesson}: a penalty needs a due date.")
    return rules


def _title(title: str, lesson: str) -> str:
    return f"Lesson {int(lesson.split('_')[0])}: {title}"


def _value(where: str, key: str, value: Any) -> Any:
    if key in ("due", "closes"):
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise GraderError(f"{where}: {key} should be a time with its zone, as in 2026-12-01T23:59:00+01:00.")
        return value.timestamp()
    if key == "counts":
        if value not in COUNTS:
            raise GraderError(f"{where}: counts should be one of {', '.join(COUNTS)}, not {value!r}.")
        return value
    if key == "penalty_per_day":
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise GraderError(f"{where}: penalty_per_day should be a share from 0 to 1, as in 0.1.")
        return float(value)
    if type(value) is not int or value < (0 if key == "grace_minutes" else 1):
        raise GraderError(f"{where}: {key} should be a whole number, as in 10.")
    return value

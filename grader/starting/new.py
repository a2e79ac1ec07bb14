"""Fills the templates in. A path in them is filled in too: `{{library}}/{{topic}}.py.jinja`."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from grader.errors import GraderError
from grader.repository import Repository
from grader.syllabus import course_around, library_of, load_lesson

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".jinja"
FIRST = "01_first_steps"
_FIRST_SYMBOL = "initials"
"""The exercise that a new lesson begins with."""
_COURSE = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_LESSON = re.compile(r"(?P<number>\d\d+)_(?P<topic>[a-z][a-z0-9]*(?:_[a-z0-9]+)*)")


@dataclass(frozen=True)
class Made:
    """What was made, and where to begin."""

    root: Path
    lesson: str
    edit_first: tuple[Path, ...]
    """The text that learners read, the answers, how one is tried, and what goes wrong in it."""


def new_course(folder: Path) -> Made:
    """A course with one lesson, in a folder that is not there yet; the folder's name becomes the course's.

    Raises:
        GraderError: for a bad name, a folder that is there, or inside another course.
    """
    folder = folder.resolve()
    name = folder.name
    if _COURSE.fullmatch(name) is None:
        raise GraderError(
            f"{name!r} can't be a course's name: use lower-case letters, digits and hyphens, as in my-course."
        )
    if folder.exists():
        raise GraderError(f"{folder} exists already, and nothing was changed: name a new folder.")
    around = course_around(folder.parent)
    if around is not None:
        raise GraderError(f"{folder} would lie inside the course {around.root}: make it somewhere else.")
    package = name.replace("-", "_")
    for taken in (package, f"{package}_lessons"):
        if taken in sys.stdlib_module_names or importlib.util.find_spec(taken) is not None:
            raise GraderError(f"Python has something called {taken} already: give the course another name.")
    words = {
        "name": name.replace("_", "-"),
        "package": package,
        "title": _title(package),
        "library": package,
        "lessons": f"{package}_lessons",
        "grader": _requirement(),
    } | _words(FIRST)
    files = _filled("course", words) | _filled("lesson", words)
    _write(folder, files)
    return _made(folder, words)


def new_lesson(name: str, start: Path | None = None) -> Made:
    """A lesson in the course around `start` (the working folder unless given).

    Raises:
        GraderError: for a bad name, a number that is taken, or where there is no course.
    """
    repository = Repository.find(start)
    found = _LESSON.fullmatch(name)
    if found is None:
        raise GraderError(
            f"{name!r} can't be a lesson's name: use a number of two digits and a topic in lower-case letters, "
            "as in 02_my_topic."
        )
    names = repository.names()
    number, topic = found["number"], found["topic"]
    free = f"{max(int(known.split('_')[0]) for known in names) + 1:02}"
    for known in names:
        if known.split("_")[0] == number:
            raise GraderError(f"Lesson {number} is there already, as {known}: {free}_{topic} would be free.")
    words = {"library": library_of(load_lesson(names[0]))[0], "lessons": repository.package} | _words(name)
    _write(repository.root, _filled("lesson", words))
    return _made(repository.root, words)


def _words(lesson: str) -> dict[str, str]:
    number, topic = lesson.split("_", maxsplit=1)
    return {
        "lesson": lesson,
        "number": number,
        "count": str(int(number)),
        "topic": topic,
        "lesson_title": _title(topic),
    }


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _requirement() -> str:
    """What pip needs to be told to bring the grader: the version that runs here, from where it says it comes."""
    (script,) = entry_points(group="console_scripts", name="grader")
    assert script.dist is not None
    urls = dict(url.split(", ", maxsplit=1) for url in script.dist.metadata.get_all("Project-URL") or [])
    where = f" @ git+{urls['Repository']}@v{script.dist.version}" if "Repository" in urls else ""
    return f"{script.dist.name}{where}"


def _filled(template: str, words: Mapping[str, str]) -> dict[str, str]:
    """The files of a template, by their paths."""
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    top = TEMPLATES / template
    return {
        environment.from_string(path.relative_to(top).as_posix().removesuffix(SUFFIX)).render(words): (
            environment.from_string(path.read_text("utf-8")).render(words)
        )
        for path in sorted(top.rglob(f"*{SUFFIX}"))
    }


def _write(root: Path, files: Mapping[str, str]) -> None:
    """Writes them all, or none where one of them is there."""
    for name in files:
        if (root / name).exists():
            raise GraderError(f"{root / name} exists already, and nothing was changed: take another name.")
    for name, text in files.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise GraderError(f"{path} can't be written: {error.strerror}.") from error


def _made(root: Path, words: Mapping[str, str]) -> Made:
    place = Path(words["lessons"]) / f"lesson_{words['number']}"
    edit_first = (
        place / f"{words['lesson']}.py",
        Path(words["library"]) / f"{words['topic']}.py",
        *(place / f"{_FIRST_SYMBOL}{ending}" for ending in (".py", ".md")),
    )
    return Made(root, words["lesson"], edit_first)

"""Fills the templates in. A path in them is filled in too: `{{library}}/{{topic}}.py.jinja`."""

import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from cellcheck.syllabus import FOLDER, course_around, library_of, load_lesson

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".jinja"
FIRST = "01_first_steps"
_FIRST_SYMBOL = "initials"
"""The exercise that a new lesson begins with."""
_COURSE = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_LESSON = re.compile(r"(?P<number>\d\d+)_(?P<topic>[a-z][a-z0-9]*(?:_[a-z0-9]+)*)")


@dataclass(frozen=True)
class NewLesson:
    """What was made, and where to begin."""

    root: Path
    lesson: str
    edit_first: tuple[Path, ...]
    """The text that learners read, the answers, how one is tried, and what goes wrong in it."""


def new_course(folder: Path) -> NewLesson:
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
    if package in sys.stdlib_module_names or importlib.util.find_spec(package) is not None:
        raise GraderError(f"Python has something called {package} already: give the course another name.")
    words = {
        "name": name.replace("_", "-"),
        "package": package,
        "title": _title(package),
        "library": package,
        "lessons": f"{package}.{FOLDER}",
        "folder": f"{package}/{FOLDER}",
        "engine": _requirement(),
    } | _words(FIRST)
    files = _filled("course", words) | _filled("lesson", words)
    _write(folder, files)
    return _made(folder, words)


def new_lesson(name: str, start: Path | None = None) -> NewLesson:
    """A lesson in the course around `start` (the working folder unless given).

    Raises:
        GraderError: for a bad name, a number that is taken, or where there is no course.
    """
    repository = Repository.find(start)
    match = _LESSON.fullmatch(name)
    if match is None:
        raise GraderError(
            f"{name!r} can't be a lesson's name: use a number of two digits and a topic in lower-case letters, "
            "as in 02_my_topic."
        )
    names = repository.names()
    number, topic = match["number"], match["topic"]
    free = f"{max(int(other.split('_')[0]) for other in names) + 1:02}"
    for other in names:
        if other.split("_")[0] == number:
            raise GraderError(f"Lesson {number} is there already, as {other}: {free}_{topic} would be free.")
    words = {
        "library": library_of(load_lesson(names[0]))[0],
        "folder": repository.folder.relative_to(repository.root).as_posix(),
    } | _words(name)
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
    """What pip needs to be told to bring the grader: the version that runs here, and its corrections."""
    (script,) = entry_points(group="console_scripts", name="cellcheck")
    assert script.dist is not None
    major, minor = map(int, script.dist.version.split(".")[:2])
    return f"{script.dist.name}>={major}.{minor},<{major}.{minor + 1}"


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


def _made(root: Path, words: Mapping[str, str]) -> NewLesson:
    place = Path(words["folder"]) / f"lesson_{words['number']}"
    edit_first = (
        place / f"{words['lesson']}.py",
        Path(words["library"]) / f"{words['topic']}.py",
        *(place / f"{_FIRST_SYMBOL}{ending}" for ending in (".py", ".md")),
    )
    return NewLesson(root, words["lesson"], edit_first)

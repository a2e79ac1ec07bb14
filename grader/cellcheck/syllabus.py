"""Which lessons there are, and where they are kept. The engine knows lessons through this module alone.

A course is a Python package with a folder of lessons in it, a package too. The course has any name; one that is to be
installed needs a name that no other course has.

    my_course/lessons/
        __init__.py             may set TITLE, the course's name, and TAGLINE, what it is about
        lesson_01/
            __init__.py         empty: the probes travel to the learner's process, and must not bring in anything else
            01_some_topic.py    the text; its name is the lesson's, and it says what is in it: `cellcheck.lesson_text`
            some_symbol.py      for each exercise: TRIAL, a `cellcheck.authoring.Trial`, says how it is tried
            some_symbol.md      for each exercise: all that knows answers; see `cellcheck.authoring.catalogue`
            probes.py           optional: PROBES, per symbol how it is called on a case; else with its inputs in order
            experiments.py      optional: what the notebook's longer cells run
            pictures.py         optional: functions that draw the pictures in the prose
            demo.py             optional: LEARNERS, a class to try the grader out on
            contest.py          optional: CONTEST, an open task for which learners hand in models

It is found through the variable CELLCHECK_LESSONS (`cellcheck --lessons FOLDER` sets it), else around the working
folder (beside `nbgrader_config.py`), else as an installed package that names its folder in the entry-point group
`cellcheck.lessons`.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cellcheck.authoring.catalogue import exercise_of
from cellcheck.authoring.spec import Aspect, Exercise, Lesson, Trial
from cellcheck.errors import GraderError
from cellcheck.lesson_text import Announcement, Head, LessonText
from cellcheck.lines import last_line, written
from cellcheck.travelling import file_of, refuse_answers

if TYPE_CHECKING:
    from cellcheck.authoring.calls import Probe

VARIABLE = "CELLCHECK_LESSONS"
GROUP = "cellcheck.lessons"
FOLDER = "lessons"
"""What a folder of lessons is called inside its course's package."""
CONFIGURATION = "nbgrader_config.py"
NOTEBOOKS = "notebooks"
BINDING = """\
import cellcheck
check = cellcheck.checks("{lesson}", made_for="{edition}")
submit = cellcheck.submit

{imports}"""
"""What a notebook's set-up cell does, whatever else it does to get there."""
EXPERIMENT = "experiment"
"""The tag of cells to play with: they never run for a mark."""
_TEXT = re.compile(r"(?P<number>\d\d+)_\w+")


class UnknownLesson(GraderError, LookupError):
    """No lesson has that name; the message says which there are."""


class MissingPackage(GraderError):
    """A lesson needs a package that is not installed; the message says which lesson, and which package."""

    def __init__(self, lesson: str, package: str, place: tuple[Path, int] | None) -> None:
        # It may be a slip of the pen, and somebody else may have published what that names.
        there = sys.stdlib_module_names.union(module.name for module in iter_modules())
        near = [] if package in there else get_close_matches(package, there, n=1, cutoff=0.8)
        super().__init__(
            f"{written(place, f'Lesson {lesson}')}, imports {package}, and there is no such package here. "
            f"Did you mean {near[0]}?"
            if near
            else f"Lesson {lesson} needs {package}, which isn't installed in this Python, {sys.executable}. If another "
            f"one has it, choose that as the kernel; else install it: {sys.executable} -m pip install {package}"
        )
        self.package = package


@dataclass(frozen=True)
class Syllabus:
    """The lessons of one course: a package in a folder."""

    folder: Path
    distribution: str | None = None
    """The installed distribution that brought it; None where it is a folder of somebody's own."""

    @cached_property  # asked for each file that a lesson's code reaches
    def root(self) -> Path:
        """The folder that the course's package stands in: of a course that is not installed, its repository."""
        return self.folder.parents[self.package.count(".")]

    @cached_property
    def package(self) -> str:
        """The name that the lessons are imported by ("my_course.lessons")."""
        names, folder = [self.folder.name], self.folder.parent
        while (folder / "__init__.py").is_file():
            names.insert(0, folder.name)
            folder = folder.parent
        return ".".join(names)

    @property
    def title(self) -> str:
        """What the course is called."""
        return str(getattr(self._import(self.package), "TITLE", self.distribution or self.root.name))

    @property
    def tagline(self) -> str:
        """What the course is about, in half a sentence; may be empty."""
        return str(getattr(self._import(self.package), "TAGLINE", ""))

    @property
    def preview(self) -> tuple[str, list[list[str]]] | None:
        """What the finished course can do, if it says so: a caption, and a table whose first row is its head.

        They stand in `preview.csv` beside the lessons; the caption is its first line, behind a "# ".
        """
        path = self.folder / "preview.csv"
        if not path.is_file():
            return None
        caption, *lines = path.read_text("utf-8").splitlines()
        return caption.removeprefix("# "), list(csv.reader(lines))

    @property
    def version(self) -> str:
        """The course's version, as its package or its pyproject.toml has it; "unknown" where neither says."""
        try:
            if self.distribution is not None:
                return version(self.distribution)
            return str(self.project["version"])
        except (PackageNotFoundError, GraderError, KeyError):
            return "unknown"

    @property
    def edition(self) -> str:
        """The version as far as notebooks depend on it ("1.2" of "1.2.3"): they carry it, and meet it again."""
        return ".".join(self.version.split(".")[:2])

    @property
    def project(self) -> dict[str, Any]:
        """What the course's `pyproject.toml` tells pip; nothing where it doesn't.

        Raises:
            GraderError: when it can't be read.
        """
        return dict(self.settings.get("project", {}))

    @property
    def settings(self) -> dict[str, Any]:
        """All that stands in the course's `pyproject.toml`; nothing where there is none.

        Raises:
            GraderError: when it can't be read.
        """
        path = self.root / "pyproject.toml"
        try:
            return dict(_toml(path.read_text("utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise GraderError(f"{path} can't be read: {error}.") from None

    def names(self) -> tuple[str, ...]:
        """The lessons' names ("01_my_topic"), in order."""
        return tuple(sorted(self._found()))

    def has_lessons(self) -> bool:
        """Whether there is any lesson."""
        return any(True for _ in self._found())

    def called(self, name: str) -> tuple[str, ...]:
        """The lessons that `name` stands for: the one of that name, or else those of that number ("01")."""
        number = name.split("_")[0]
        if not number.isdecimal():
            return ()
        there = tuple(sorted(self._found(number)))
        return (name,) if name in there else there if name == number else ()

    def place(self, name: str) -> Path:
        """The folder of the lesson called `name`."""
        return self.folder / f"lesson_{name.split('_')[0]}"

    def text(self, name: str) -> Path:
        """The lesson's text."""
        return self.place(name) / f"{name}.py"

    def notebook(self, name: str) -> Path:
        """The learner's notebook: nbgrader's release, which an installed course has in its package."""
        package = self.folder.parent
        place = package if (package / NOTEBOOKS).is_dir() else self.root
        return place / NOTEBOOKS / name / f"{name}.ipynb"

    def setup(self, name: str) -> str:
        """The code of the text's set-up cell."""
        return LessonText(self.text(name)).setup

    def head(self, name: str) -> Head:
        """What the lesson is, as the head of its text says it.

        Raises:
            GraderError: when the head is missing or at fault.
        """
        return LessonText(self.text(name)).head(self.names())

    def announced(self, name: str) -> tuple[Announcement, ...]:
        """The exercises that the text announces, in their order.

        Raises:
            GraderError: when it announces one wrongly.
        """
        return LessonText(self.text(name)).exercises

    def hints(self, name: str, symbol: str) -> tuple[str, ...]:
        """The hints above an exercise, in their order; none where the course came without its texts."""
        text = self.text(name)
        return LessonText(text).hints(symbol) if text.is_file() else ()

    def module(self, name: str, part: str) -> str:
        """The dotted name of a part of a lesson ("my_course.lessons.lesson_01.probes")."""
        return f"{self.package}.{self.place(name).name}.{part}"

    def has(self, name: str, part: str) -> bool:
        """Whether the lesson has that part."""
        return any((self.place(name) / place).is_file() for place in (f"{part}.py", f"{part}/__init__.py"))

    def part(self, name: str, part: str) -> ModuleType:
        """A part of a lesson, imported.

        Raises:
            MissingPackage: when it needs a package that is not installed.
            GraderError: when it is missing, or can't be imported.
        """
        if not self.has(name, part):
            raise GraderError(f"Lesson {name} has no {part}.py in {self.place(name)}.")
        return self._imported(self.module(name, part), name, part)

    def _imported(self, module: str, name: str, part: str) -> ModuleType:
        """A module that a part of a lesson is, or asks for."""
        try:
            return self._import(module)
        except GraderError:
            raise
        except (Exception, SystemExit) as error:
            package = error.name if isinstance(error, ModuleNotFoundError) else None
            if package and "." not in package and file_of(package, self.root) is None:
                raise MissingPackage(name, package, last_line(error, self.root)) from error
            raise GraderError(self._say_failure(error, name, part)) from error

    def lesson(self, name: str) -> Lesson:
        """The lesson called `name`: the exercises of its text, in their order.

        Raises:
            GraderError: when one is not described, or wrongly.
        """
        return Lesson(exercises=tuple(self.exercise(name, each.symbol) for each in self.announced(name)), name=name)

    def exercise(self, name: str, symbol: str) -> Exercise:
        """One exercise of the lesson called `name`.

        Raises:
            GraderError: when it is not described, or wrongly.
        """
        path = self.place(name) / f"{symbol}.py"
        if not path.is_file():
            raise GraderError(
                f"{self.text(name)} names the exercise {symbol}, and {path} is missing: say there how it is tried, and "
                f"in {symbol}.md what goes wrong."
            )
        trial = getattr(self.part(name, symbol), "TRIAL", None)
        if not isinstance(trial, Trial):
            raise GraderError(
                f"{path} should define TRIAL, a cellcheck.authoring.Trial: it says how {symbol} is tried."
            )
        _insist_on_aspects(trial, symbol, path)
        if trial.module:  # what it needs may be missing here
            self._imported(trial.module, name, symbol)
        return exercise_of(trial, path)

    def travelling(self, name: str) -> tuple[str, ...]:
        """The modules of a lesson that say how symbols are called: its probes, and exercises with one of their own."""
        own = [self.module(name, each.symbol) for each in _lesson(self, name).exercises if each.probe is not None]
        return (*([self.module(name, "probes")] if self.has(name, "probes") else []), *own)

    def probes(self, name: str) -> dict[str, Probe]:
        """The probe of each symbol of a lesson: its own, else the one for plain functions.

        Raises:
            GraderError: when one is missing, or they bring an answer along.
        """
        lesson = _lesson(self, name)
        for module in self.travelling(name):
            refuse_answers(module, self.package, self.root, lesson)
        shared: dict[str, Probe] = {}
        if self.has(name, "probes"):
            probes = getattr(self.part(name, "probes"), "PROBES", None)
            if not isinstance(probes, dict):
                raise GraderError(
                    f"The probes in {self.place(name)} should define PROBES, a dict with a probe for each symbol."
                )
            shared = probes
        return {
            each.symbol: each.probe or shared.get(each.symbol) or self._plain(each, name) for each in lesson.exercises
        }

    def _plain(self, exercise: Exercise, name: str) -> Probe:
        from cellcheck.authoring.calls import in_order

        if isinstance(exercise.references[0], type):
            raise GraderError(
                f"{exercise.symbol} is a class, and nothing says how to try it out: "
                f"give it a probe, in its TRIAL or in PROBES of {self.place(name) / 'probes.py'}."
            )
        return in_order

    def _found(self, number: str = "*") -> Iterator[str]:
        """The names of the lessons of a number: each has a text in a folder of that number."""
        for path in self.folder.glob(f"lesson_{number}/[0-9]*_*.py"):
            match = _TEXT.fullmatch(path.stem)
            if match is not None and path.parent.name == f"lesson_{match['number']}":
                yield path.stem

    def _say_failure(self, error: BaseException, name: str, part: str) -> str:
        """Where in the course an import went wrong, and why."""
        if isinstance(error, SyntaxError):
            return f"{error.filename}, line {error.lineno}, is not valid Python: {error.msg}. Correct it there."
        file = self.place(name) / f"{part}.py"
        where = written(last_line(error, self.root), str(file if file.is_file() else self.place(name)))
        return f"{where}, stops with {type(error).__name__}: {error}. Correct it there."

    def _import(self, module: str) -> ModuleType:
        top = self.package.split(".")[0]
        spec = sys.modules.get(top) or importlib.util.find_spec(top)
        if spec is not None and not _leads_to(spec, self.root / top):
            if top in sys.modules:
                raise GraderError(
                    f"Another course's folder called {top!r} is in use already: rename {self.root / top}."
                )
            spec = None
        if spec is None:
            sys.path.insert(0, str(self.root))
            importlib.invalidate_caches()
        return importlib.import_module(module)


@lru_cache(maxsize=8)
def _toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def _leads_to(package: object, folder: Path) -> bool:
    """Whether a package, or the spec of one, stands in this folder."""
    places = getattr(package, "submodule_search_locations", None) or getattr(package, "__path__", None) or ()
    return any(Path(place).resolve() == folder.resolve() for place in places)


def syllabi() -> tuple[Syllabus, ...]:
    """The courses in use here; see the module's docstring for where they are found.

    Raises:
        GraderError: when there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        syllabus = Syllabus(Path(named).resolve())
        if not syllabus.has_lessons():
            raise GraderError(
                f"{named} holds no lessons: it should have folders such as lesson_01/ with a text in each."
            )
        return (syllabus,)
    around = course_around(_working_folder())
    courses = (around,) if around is not None else installed()
    if not courses:
        raise UnknownLesson(
            "There is no course here: go to its folder, install it, or name its folder of lessons, as in "
            "cellcheck --lessons FOLDER."
        )
    return courses


def course_around(start: Path | None) -> Syllabus | None:
    """The course whose folder `start` is in, if it is in one.

    The outermost goes first, so that what lies in a submission never stands in for the course around it.
    """
    if start is None:
        return None
    for folder in reversed((start, *start.parents)):
        if (folder / CONFIGURATION).is_file():
            # Only packages are looked into: a class's folders hold a folder for each learner.
            packages = [path.parent for path in folder.glob("*/__init__.py")]
            inside = [package / FOLDER for package in packages if (package / FOLDER / "__init__.py").is_file()]
            places = [*inside, *packages]
            for place in sorted(places, key=lambda place: (place.name != FOLDER, place.name)):
                if (syllabus := Syllabus(place)).has_lessons():
                    return syllabus
    return None


@cache
def installed() -> tuple[Syllabus, ...]:
    """The courses that are installed as packages, each once."""
    importlib.invalidate_caches()
    courses: dict[Path, Syllabus] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.value):
        spec = importlib.util.find_spec(entry.value)
        for place in map(Path, (spec.submodule_search_locations or []) if spec else []):
            courses.setdefault(place.resolve(), Syllabus(place, entry.dist.name if entry.dist else None))
    return tuple(courses.values())


def lesson_names() -> tuple[str, ...]:
    """The names of all lessons, in order."""
    return tuple(name for syllabus in syllabi() for name in syllabus.names())


def find_lesson(name: str) -> tuple[Syllabus, str]:
    """Where the lesson called `name` stands, and its full name ("01" will do).

    Raises:
        UnknownLesson: when there is none.
        GraderError: when there are several.
    """
    there = [(syllabus, full_name) for syllabus in syllabi() for full_name in syllabus.called(name)]
    called = [(syllabus, full_name) for syllabus, full_name in there if full_name == name]
    names = called or there
    if not names:
        sentence = (
            f"There is no lesson {name!r}. These exist: {', '.join(lesson_names())}. If it is another course's, go to "
            "that course's folder, or install it."
        )
        installed.cache_clear()  # a notebook may install its course, and ask again
        raise UnknownLesson(sentence)
    if len(names) > 1:
        courses = " and ".join(syllabus.title for syllabus, _ in names)
        what = f"name one course's folder of lessons in {VARIABLE}" if called else "give the lesson's whole name"
        raise GraderError(f"{courses} both have a lesson {name!r}: {what}.")
    return names[0]


def load_lesson(name: str) -> Lesson:
    """The lesson called `name` ("01_my_topic"; its number alone will do).

    Raises:
        UnknownLesson: when there is none.
        GraderError: when its folder is at fault.
    """
    return _lesson(*find_lesson(name))


def usable_lessons() -> tuple[dict[str, Lesson], dict[str, list[str]]]:
    """The lessons whose packages are installed, by name; and by missing package, the names of those that need it.

    Raises:
        MissingPackage: when no lesson is left.
        GraderError: when a lesson's folder is at fault.
    """
    usable: dict[str, Lesson] = {}
    needed: dict[str, list[str]] = {}
    for name in lesson_names():
        try:
            usable[name] = load_lesson(name)
        except MissingPackage as error:
            missing = error
            needed.setdefault(error.package, []).append(name)
    if not usable:
        raise missing
    return usable, needed


def load_probes(name: str) -> dict[str, Probe]:
    """The probes of a lesson, by symbol.

    Raises:
        UnknownLesson: when there is none.
        GraderError: when they are missing, or bring an answer along.
    """
    return _probes(*find_lesson(name))


def library_of(lesson: Lesson) -> tuple[str, ...]:
    """The top-level packages that the lesson's references stand in: the library that its learners build."""
    return tuple(sorted({module.split(".")[0] for module in modules_of([lesson])}))


def modules_of(lessons: Iterable[Lesson]) -> list[str]:
    """The modules that the references of these lessons stand in."""
    return sorted({e.references[0].__module__ for lesson in lessons for e in lesson.exercises})


def _insist_on_aspects(trial: Trial, symbol: str, path: Path) -> None:
    """A parenthesis without its comma is no tuple, and whoever reads it next would stop somewhere in the grader."""
    if not isinstance(trial.aspects, Sequence):
        raise GraderError(f"The aspects of {symbol}, in {path}, should be a tuple. One alone needs a comma: (ONE,)")
    for one in trial.aspects:
        if not isinstance(one, Aspect):
            raise GraderError(
                f"The aspects of {symbol}, in {path}, should each be a cellcheck.authoring.Aspect, and one is of type "
                f"{type(one).__name__}."
            )


@cache
def _lesson(syllabus: Syllabus, name: str) -> Lesson:
    return syllabus.lesson(name)


@cache
def _probes(syllabus: Syllabus, name: str) -> dict[str, Probe]:
    return syllabus.probes(name)


def _working_folder() -> Path | None:
    try:
        return Path.cwd().resolve()
    except OSError:  # it was removed
        return None

"""What all commands share: where they speak, and how they read names and write files."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from cellcheck.errors import GraderError, MissingProtection
from cellcheck.plain import visible_lines
from cellcheck.syllabus import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cellcheck.authoring.spec import Lesson
    from cellcheck.gradebook.course import Course
    from cellcheck.running.result import Failure, Result

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="An autograder for courses of notebooks.",
)


class PlainConsole(Console):
    """A console on which no text controls the terminal: escape sequences are rich's own, or they are not sent."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, piece by piece; everything that is printed comes along here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible_lines(segment.text), segment.style)


ASSIGNMENT = "The lesson, such as 01_my_topic, or an assignment of your own."

out = PlainConsole()
err = PlainConsole(stderr=True)


@app.callback()
def everywhere(
    lessons: Annotated[
        Path | None,
        typer.Option(help="The folder of a course's lessons, if it isn't found automatically.", file_okay=False),
    ] = None,
) -> None:
    """What holds for all commands."""
    if lessons is not None:
        # The processes that this one starts must find them too: kernels, and those that run learners' code.
        os.environ[VARIABLE] = str(lessons.resolve())


def known_lesson(name: str) -> Lesson:
    """The lesson of that name.

    Raises:
        GraderError: when there is none.
    """
    from cellcheck.syllabus import load_lesson

    return load_lesson(name)


def known_assignment(name: str) -> tuple[str, Lesson | None]:
    """The full name of a lesson, and the lesson; or that of a plain assignment of the course in the working folder.

    Raises:
        GraderError: when there is neither.
    """
    from cellcheck.gradebook.course import find_assignment

    return find_assignment(Path.cwd(), name)


def say_about_time(course: Course, lesson: str) -> None:
    """Tells whose lateness isn't known, or of whom two records say two things."""
    from cellcheck.lateness import told_about_time

    for line in told_about_time(course, lesson):
        err.print(escape(line), highlight=False, soft_wrap=True)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Prints each missing protection that is warned of meanwhile, as a line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", MissingProtection)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, MissingProtection):
                err.print(escape(str(message)), highlight=False, soft_wrap=True)
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = show
        yield


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes a JSON file.

    Raises:
        GraderError: when it can't be written.
    """
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_results(path: Path, outcomes: Iterable[Result | Failure]) -> None:
    """Writes what `write_json` would of `cellcheck.running.result.to_json`, one outcome at a time.

    Raises:
        GraderError: when it can't be written.
    """
    from cellcheck.running.result import VERSION, Result

    written = 0
    errors: list[str] = []
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write(f'{{\n "version": {VERSION},\n "results": [')
            for outcome in outcomes:
                text = indent(json.dumps(outcome.to_json(), indent=1), "  ")
                if isinstance(outcome, Result):
                    file.write(f"{',' if written else ''}\n{text}")
                    written += 1
                else:
                    errors.append(text)
            file.write("\n ]" if written else "]")
            listed = ",\n".join(errors)
            file.write(f',\n "errors": [\n{listed}\n ]\n}}\n' if errors else ',\n "errors": []\n}\n')
    except OSError as error:
        raise GraderError(f"{path} can't be written: {error.strerror}.") from error


def write_text(path: Path, text: str) -> None:
    """Writes a text file.

    Raises:
        GraderError: when it can't be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GraderError(f"{path} can't be written: {error.strerror}.") from error

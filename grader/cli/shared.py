"""What all commands share: where they speak, and how they read names and write files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from grader.errors import GraderError
from grader.plain import visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.exercises.spec import Lesson

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help='The autograder of "Transformers, cell by cell".',
)


class PlainConsole(Console):
    """A console on which no text controls the terminal: escape sequences are rich's own, or they are not sent."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, piece by piece; everything that is printed comes along here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible_lines(segment.text), segment.style)


out = PlainConsole()
err = PlainConsole(stderr=True)


def known_lesson(name: str) -> Lesson:
    """The lesson of that name.

    Raises:
        GraderError: when there is none.
    """
    from grader.exercises import UnknownLesson, load_lesson

    try:
        return load_lesson(name)
    except UnknownLesson as error:
        raise GraderError(str(error)) from error


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes a JSON file.

    Raises:
        GraderError: when it can't be written.
    """
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a text file.

    Raises:
        GraderError: when it can't be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GraderError(f"{path} can't be written: {error.strerror}.") from error

"""Where in a course's files something stands, so that a sentence about it can say the file and the line."""

import ast
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.travelling import ANSWERS, parsed

_ENGINE = Path(__file__).parent.resolve()


def is_of_the_course(path: Path, root: Path) -> bool:
    """Whether a file below `root` is the course's own: neither the grader's, nor one of an environment kept there."""
    path, root = path.resolve(), root.resolve()
    return (
        path.is_relative_to(root)
        and not path.is_relative_to(_ENGINE)
        and "site-packages" not in path.relative_to(root).parts
    )


def last_line(error: BaseException, root: Path) -> tuple[Path, int] | None:
    """The last of the course's own lines that ran before an error; None where none did."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [(Path(f.filename), f.lineno or 1) for f in frames if is_of_the_course(Path(f.filename), root)]
    return own[-1] if own else None


def line_of(text: str, lesson: Path, *, probes: bool = False) -> tuple[Path, int] | None:
    """The first line of a lesson's folder that has this text as a string: in its probes, or in all but its probes.

    In a file of answers it is a heading.
    """
    for path in sorted(lesson.rglob(f"*{ANSWERS}")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if line.removesuffix(", central") == f"## {text}" and not probes:
                return path, number
    for path in sorted(lesson.rglob("*.py")):
        if probes != is_a_probe(path, lesson):
            continue
        with suppress(GraderError):  # the lesson's text may have magics, which aren't Python
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.Constant) and node.value == text:
                    return path, node.lineno
    return None


def is_a_probe(path: Path, lesson: Path) -> bool:
    """Whether a file of a lesson's folder is one of its probes."""
    return "probes" in path.relative_to(lesson).with_suffix("").parts


def says_how(path: Path) -> bool:
    """Whether a file is an exercise's NAME.py, which says how it is tried and knows no answer."""
    return path.suffix == ".py" and path.with_suffix(ANSWERS).is_file()


def written(place: tuple[Path, int] | None, otherwise: str) -> str:
    """A place as a sentence has it: "/a/course/lesson_01/median.py, line 28"."""
    return otherwise if place is None else f"{place[0]}, line {place[1]}"


def beginning(function: Callable[..., Any]) -> str:
    """Where a function is written down, as far as can be told."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}" if code is not None else "its lesson"


def said(error: BaseException | None) -> str:
    """An error in a sentence: its type, and the first line of what it says."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}{f': {text[0]}' if text else ''}"


@contextmanager
def told(symbol: str, what: str, root: Path, otherwise: str) -> Iterator[None]:
    """Makes a sentence of an error in what an author wrote: `what` of an exercise, such as its "cases".

    Raises:
        GraderError: where there is one.
    """
    try:
        yield
    except GraderError:
        raise
    except Exception as error:
        where = written(last_line(error, root), otherwise)
        raise GraderError(f"{symbol}, {what}: {where}, stops with {said(error)}. Correct it there.") from error

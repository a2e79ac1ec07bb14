"""Nothing leaves the tutor that holds a line of an answer, wherever it may have come from.

The tools read no answers to begin with. This is the second lock: a learner's code runs where the course's own answers
to earlier exercises are loaded, and what it says in an error reaches the client.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cellcheck.sealing import readable, text_of
from cellcheck.syllabus import Syllabus, syllabi
from cellcheck.syntax import syntax_tree

INSTEAD = "(Left out: it holds a line of an answer.)"
LONG = 24
"""Letters, blanks, quotes and commas not counted, from which on a line of an answer is known by itself."""
SHORT = 14
"""The same for a line that returns something: prose has none of those."""

_SOLUTION = re.compile(r"^[ \t]*### BEGIN SOLUTION[^\n]*\n(.*?)^[ \t]*### END SOLUTION", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PUBLIC = ("def ", "async def ", "class ", "@", "import ", "from ", "#", ">>>", "...", "raise NotImplementedError")
_PARAMETERS = re.compile(r"[\w: ,.|\[\]]+,")
"""A line of a long signature, which the notebook shows."""
_BLANK = re.compile(r"\\[nrt]|[\s,'\"`\\]+")
"""What goes unseen: a list of the words of a line, and a text within a text, are known as well."""


def withheld(reply: Any) -> Any:
    """The reply, with a remark in place of each text that holds a line of an answer."""
    if isinstance(reply, str):
        return INSTEAD if gives_away(reply) else reply
    if isinstance(reply, dict):
        return {key: withheld(value) for key, value in reply.items()}
    if isinstance(reply, list | tuple):
        return [withheld(value) for value in reply]
    return reply


def gives_away(text: str) -> bool:
    """Whether a text holds a line of an answer to any exercise of the courses in use."""
    bare = _bare(text)
    begun = [(place, bare[place : place + SHORT]) for place in range(len(bare) - SHORT + 1)]
    return any(
        bare.startswith(line, place)
        for syllabus in syllabi()
        for place, beginning in begun
        for line in _by_their_beginning(syllabus).get(beginning, ())
    )


@cache
def _by_their_beginning(syllabus: Syllabus) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for line in lines_of_answers(syllabus):
        lines.setdefault(line[:SHORT], []).append(line)
    return lines


@cache
def lines_of_answers(syllabus: Syllabus) -> frozenset[str]:
    """The lines of a course's answers that can be told from prose, without their blanks, and that it doesn't show."""
    lines = {line for text in _answers(syllabus) for line in _lines(text)}
    shown = "\n".join(map(_bare, _shown(syllabus)))
    return frozenset(line for line in lines if line not in shown)


def _shown(syllabus: Syllabus) -> Iterator[str]:
    """The docstrings of the course's library, whose examples every learner reads."""
    for path in readable(syllabus.folder.parent):
        if path.suffix == ".py" and not path.is_relative_to(syllabus.folder):
            for node in ast.walk(syntax_tree(text_of(path))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    yield ast.get_docstring(node) or ""


def _answers(syllabus: Syllabus) -> Iterator[str]:
    for path in readable(syllabus.folder.parent):
        if path.suffix == ".py":
            yield from _SOLUTION.findall(text_of(path))
        elif path.suffix == ".md" and _is_catalogue(path, syllabus):
            yield from map(_without_docstrings, _BLOCK.findall(text_of(path)))


def _is_catalogue(path: Path, syllabus: Syllabus) -> bool:
    return path.parent.parent == syllabus.folder and path.parent.name.startswith("lesson_")


def _without_docstrings(code: str) -> str:
    lines: list[str | None] = [*code.splitlines()]
    try:
        tree = syntax_tree(code)
    except SyntaxError:
        return code
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            first = node.body[0]
            size = (first.end_lineno or first.lineno) - first.lineno + 1
            lines[first.lineno - 1 : first.lineno - 1 + size] = [None] * size
    return "\n".join(line for line in lines if line is not None)


def _lines(code: str) -> Iterator[str]:
    """The lines, short ones along with those that follow."""
    lines = [stripped for line in code.splitlines() if (stripped := _without_remark(line).strip())]
    for place, line in enumerate(lines):
        if line.startswith(_PUBLIC) or _PARAMETERS.fullmatch(line):
            continue
        bare = _bare(line)
        if line.startswith("return ") and len(bare) >= SHORT:
            yield bare
        for following in lines[place + 1 :]:
            if len(bare) >= LONG:
                break
            bare += _bare(following)
        if len(bare) >= LONG:
            yield bare


def _without_remark(line: str) -> str:
    return line.partition("  # ")[0]


def _bare(text: str) -> str:
    return _BLANK.sub("", "\n".join(map(_without_remark, text.splitlines())))

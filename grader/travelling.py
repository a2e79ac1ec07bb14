"""What travels to the learner's process brings no answer along: checked whenever a lesson's probes are loaded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.spec import Lesson
from grader.errors import GraderError

SECRET = frozenset({"contents", "exercises", "demo"})
"""The parts of a lesson that know answers, by the names of their modules."""


def refuse_answers(probes: str, root: Path, lesson: Lesson) -> None:
    """Follows the imports of a lesson's probes through the files below `root`.

    Raises:
        GraderError: when they lead to a part of a lesson that knows answers, or to one of this lesson's symbols.
    """
    lessons = probes.split(".")[0]
    answers = {f"{e.references[0].__module__}.{e.symbol}" for e in lesson.exercises}
    known: set[str] = set()
    waiting = [probes]
    while waiting:
        name = waiting.pop()
        path = file_of(name, root)
        if name in known or path is None:
            continue
        known.add(name)
        for found in imported(ast.parse(path.read_text("utf-8"))):
            if found in answers:
                raise GraderError(_sentence(path, root, f"{found}, which the learner is to write"))
            if found.split(".")[0] != lessons:
                continue
            if SECRET & set(found.split(".")):
                raise GraderError(_sentence(path, root, f"{found}, which knows the answers"))
            waiting += [found, found.rpartition(".")[0]]


def file_of(module: str, root: Path) -> Path | None:
    """The file of a module below `root`, if it is there."""
    base = root.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def imported(tree: ast.Module) -> Iterator[str]:
    """All that a module names in its imports, wherever they stand: modules, and names in modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _sentence(path: Path, root: Path, what: str) -> str:
    return f"{path.relative_to(root)} travels to the learner's process, and it imports {what}: take that import out."

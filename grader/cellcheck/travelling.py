"""What travels to the learner's process brings no answer along: checked whenever a lesson's probes are loaded."""

import ast
from collections.abc import Iterator
from pathlib import Path

from cellcheck.authoring.spec import Lesson
from cellcheck.errors import GraderError
from cellcheck.syntax import syntax_tree

SECRET = frozenset({"demo", "patients"})
"""The parts of a lesson that know answers, by the names of their modules."""
ANSWERS = ".md"
"""The ending of files that know answers, and never travel."""


def refuse_answers(probes: str, lessons: str, root: Path, lesson: Lesson) -> None:
    """Follows the imports of a module with probes through the package `lessons`, which stands below `root`.

    Raises:
        GraderError: when they lead to what knows answers: a part of a lesson, a file with answers, one of this lesson's
            symbols.
    """
    answers = sorted(f"{e.references[0].__module__}.{e.symbol}" for e in lesson.exercises)
    modules: set[str] = set()
    waiting = [probes]
    while waiting:
        name = waiting.pop()
        path = file_of(name, root)
        if name in modules or path is None:
            continue
        modules.add(name)
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        tree = parsed(path)
        if any(isinstance(n, ast.Constant) and str(n.value).endswith(ANSWERS) for n in ast.walk(tree)):
            raise GraderError(
                f"{path.relative_to(root)} travels to the learner's process, and it names a file with the ending "
                f"{ANSWERS}, which knows the answers: take that out."
            )
        for imported_name in imported(tree, package):
            leaks = [
                answer
                for answer in answers
                if answer == imported_name or f"{answer.rpartition('.')[0]}.*" == imported_name
            ]
            if leaks:
                raise GraderError(_sentence(path, root, f"{leaks[0]}, which the learner is to write"))
            if not f"{imported_name}.".startswith(f"{lessons}."):
                continue
            if SECRET & set(imported_name.split(".")):
                raise GraderError(_sentence(path, root, f"{imported_name}, which knows the answers"))
            waiting += [imported_name, imported_name.rpartition(".")[0]]


def file_of(module: str, root: Path) -> Path | None:
    """The file of a module below `root`, if it is there."""
    base = root.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def parsed(path: Path, text: str | None = None) -> ast.Module:
    """The syntax tree of a file, or of what is left of its text.

    Raises:
        GraderError: when it isn't Python.
    """
    try:
        return syntax_tree(path.read_text("utf-8") if text is None else text)
    except SyntaxError as error:
        raise GraderError(f"{path}, line {error.lineno}, is not valid Python: {error.msg}. Correct it there.") from None


def imported(tree: ast.Module, package: str = "") -> Iterator[str]:
    """All that a module names in its imports, wherever they stand: modules, and names in modules ("*" for all).

    `package` is what the module's relative imports start from.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _sentence(path: Path, root: Path, what: str) -> str:
    return f"{path.relative_to(root)} travels to the learner's process, and it imports {what}: take that import out."

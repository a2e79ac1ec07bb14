"""What of a text is Otter's: what it calls the things of Otter's, and the statements that set it up and call it."""

import ast
import re
from dataclasses import dataclass, field
from typing import NoReturn

from cellcheck.importing.unknown import Unknown
from cellcheck.syntax import syntax_tree

LEFT_OUT = "the cells in which Otter is set up and called"
_GRADER = "otter.Notebook()"
"""What a notebook's `grader` is."""
_FOR_LEARNERS = {f"{_GRADER}.{name}" for name in ("check_all", "export", "to_pdf", "add_plugin_files")}
"""What does nothing while Otter grades."""
_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
_SUSPECT = re.compile(r"^[ \t]*(?:import|from)[ \t]+otter\b|\botter\.\w|\.check\(", re.MULTILINE)


class OtterNames:
    """What a text calls the things of Otter's: after `from otter import Notebook as N`, N is otter.Notebook."""

    def __init__(self) -> None:
        self._known = {"otter": "otter"}

    def add(self, name: str, what: str) -> None:
        """From here on, a name stands for this thing of Otter's."""
        self._known[name] = what

    def imported(self, where: int | str, statement: ast.stmt) -> bool:
        """Whether a statement imports from Otter; then its names are noted.

        Raises:
            Unknown: when it imports something else as well, or everything.
        """
        if not isinstance(statement, ast.Import | ast.ImportFrom) or not _is_import(statement):
            return False
        if isinstance(statement, ast.ImportFrom):
            if statement.names[0].name == "*":
                raise Unknown.at(where, "everything is imported from Otter: import what is used, by name")
            self._known |= {each.asname or each.name: f"{statement.module}.{each.name}" for each in statement.names}
        else:
            if not all(_is_otters(each.name) for each in statement.names):
                raise Unknown.at(
                    where, "Otter and something else are imported in one line: give Otter a line of its own"
                )
            self._known |= {each.asname: each.name for each in statement.names if each.asname}
        return True

    def of(self, expression: ast.expr) -> str:
        """What Otter calls an expression; nothing for what isn't Otter's."""
        name, dot, rest = ast.unparse(expression).partition(".")
        return f"{self._known[name]}{dot}{rest}" if name in self._known else ""

    def occur_in(self, statement: ast.stmt) -> bool:
        """Whether a statement, or one inside it, uses or imports anything of Otter's."""
        return any(
            (isinstance(node, ast.Name) and node.id in self._known)
            or (isinstance(node, ast.Import | ast.ImportFrom) and _is_import(node))
            for node in ast.walk(statement)
        )


@dataclass(frozen=True)
class Read:
    """What is in a code cell."""

    rest: str
    """Its text without Otter."""
    checks: tuple[str, ...] = ()
    """The questions that are checked there."""
    used: bool = False
    """Whether there was anything of Otter's."""


@dataclass
class Reader:
    """Tells Otter's own statements from the others, cell by cell."""

    _names: OtterNames = field(default_factory=OtterNames)

    def read(self, number: int, source: str) -> Read:
        """What is in a code cell.

        Raises:
            Unknown: when Otter is used in a way that isn't known here.
        """
        try:
            body = syntax_tree(_MAGIC.sub(r"\1pass", source)).body
        except (SyntaxError, ValueError):
            if _SUSPECT.search(source):
                raise Unknown.at(number, "Otter is used, and the cell isn't valid Python") from None
            return Read(source)
        checks: list[str] = []
        otters, others = set[int](), set[int]()
        for statement in body:
            assert statement.end_lineno is not None
            before = len(checks)
            is_otters = self._is_otters(number, statement, checks)
            (otters if is_otters else others).update(range(statement.lineno, statement.end_lineno + 1))
            if before and not is_otters:  # the tests would run below the whole cell
                raise Unknown.at(number, f"something follows the check of {checks[0]}: give it a cell of its own")
        if otters & others:
            raise Unknown.at(
                number, "Otter is called in a line that does something else, too: give it a line of its own"
            )
        rest = [line for place, line in enumerate(source.split("\n"), start=1) if place not in otters]
        bare = all(not line.strip() or line.lstrip().startswith("#") for line in rest)
        return Read("" if otters and bare else "\n".join(rest).strip("\n"), tuple(checks), bool(otters))

    def _is_otters(self, number: int, statement: ast.stmt, checks: list[str]) -> bool:
        """Whether a statement is Otter's and nothing else; adds the question that it checks."""
        if self._names.imported(number, statement):
            return True
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)) if self._makes(function):
                self._names.add(name, _GRADER)
                return True
            case ast.Expr(value=ast.Call(func=function)) if self._makes(function):
                return True
            case (
                ast.Expr(value=ast.Call(func=function, args=[ast.Constant(value=str(question))]))
                | ast.Assign(
                    targets=[ast.Name(id="_")],
                    value=ast.Call(func=function, args=[ast.Constant(value=str(question))]),
                )
            ) if self._names.of(function) == f"{_GRADER}.check":
                checks.append(question)
                return True
            case ast.Expr(value=ast.Call(func=function)) if self._names.of(function) in _FOR_LEARNERS:
                return True
        if self._names.occur_in(statement):
            _refuse(number, statement)
        return False

    def _makes(self, function: ast.expr) -> bool:
        """Whether this makes what is usually called `grader`."""
        name = self._names.of(function)
        return name.startswith("otter.") and name.endswith(".Notebook")


def _refuse(number: int, statement: ast.stmt) -> NoReturn:
    first = ast.unparse(statement).split("\n")[0][:60]
    raise Unknown.at(number, f"Otter is used in a way that isn't known here: {first}")


def _is_import(statement: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and _is_otters(statement.module or "")
    return any(_is_otters(each.name) for each in statement.names)


def _is_otters(module: str) -> bool:
    return module.split(".")[0] == "otter"

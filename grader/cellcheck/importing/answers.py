"""Otter's solution cells: what learners get of them, and what goes between nbgrader's marks.

Otter leaves `nine = ...` of a line `nine = 3 * 3  # SOLUTION`, which says what name is asked for. So this line stays,
above the solution, wherever the solution works below it: one that reads what was there before, such as
`table = table.dropna()`, wouldn't, and there the line becomes a comment.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from cellcheck.importing.marks import solution
from cellcheck.importing.unknown import Unknown
from cellcheck.syntax import syntax_tree

_LINE = re.compile(r"(?P<indent>\s*)(?P<code>.*?)\s*#+ ?SOLUTION")
_BEGIN = re.compile(r"(?P<indent>\s*)# BEGIN SOLUTION")
_IGNORE = re.compile(r"\s*#\s*BEGIN\s*IGNORE\s*", re.IGNORECASE)


@dataclass
class _Region:
    """A solution's lines, as long as nothing stands between them, and the lines that learners get instead."""

    indent: str
    code: list[str] = field(default_factory=list)
    prompt: list[str] = field(default_factory=list)

    def text(self) -> str:
        if not self.code:
            return "\n".join(self.prompt)
        return "\n".join([*_above(self.prompt, self.code), *solution(self.code, self.indent)])

    def unsaid(self) -> list[str]:
        """The lines that learners get as comments, where Otter runs them."""
        above = _above(self.prompt, self.code) if self.code else self.prompt
        return [line.strip() for line, now in zip(self.prompt, above, strict=True) if line != now]


def has_solution(source: str) -> bool:
    """Whether learners get less of a cell than its author wrote."""
    return any(_LINE.match(line) or _BEGIN.match(line) for line in source.split("\n"))


def answer_text(number: int, source: str) -> str:
    """The text of an answer cell of nbgrader's.

    Args:
        number: the cell's, for errors.
        source: Otter's.

    Raises:
        Unknown: when a solution has no end or no beginning.
    """
    return "\n".join(part.text() if isinstance(part, _Region) else part for part in _parts(number, source))


def unsaid(number: int, source: str) -> list[str]:
    """What Otter runs in a blank, and `answer_text` makes a comment of."""
    return [line for part in _parts(number, source) if isinstance(part, _Region) for line in part.unsaid()]


def _parts(number: int, source: str) -> list[str | _Region]:
    parts: list[str | _Region] = []
    lines = iter(source.split("\n"))
    for line in lines:
        bare = line.rstrip()
        if bare.endswith("# END SOLUTION"):
            raise Unknown.at(number, "a solution ends that hasn't begun")
        if bare.endswith("# BEGIN PROMPT"):
            prompt = _until(number, lines, "# END PROMPT")
            _region(parts, _indent("\n".join(prompt))).prompt += prompt
        elif begin := _BEGIN.match(line):
            _region(parts, begin["indent"]).code += _until(number, lines, "# END SOLUTION")
        elif match := _LINE.match(line):
            region = _region(parts, match["indent"])
            region.code.append(match["indent"] + match["code"])
            if not bare.endswith("# SOLUTION NO PROMPT") and (target := _target(match["code"])):
                region.prompt.append(f"{match['indent']}{target} = ...")
        else:
            parts.append(line)
    return parts


def open_text(source: str) -> str:
    """The text of an answer cell without a solution: learners get it as it is, and a stub below it."""
    return "\n".join([source, *solution([])])


def without_ignored(number: int, source: str) -> str:
    """A cell's text without what Otter ignores.

    Raises:
        Unknown: when it doesn't say where that ends.
    """
    lines = []
    remaining = iter(source.split("\n"))
    for line in remaining:
        if line.rstrip().endswith("# IGNORE"):
            continue
        if _IGNORE.match(line):
            _until(number, remaining, "# END IGNORE")
        else:
            lines.append(line)
    return "\n".join(lines)


def _region(parts: list[str | _Region], indent: str) -> _Region:
    """The region that a line belongs to: the one right before it, unless that is further to the right."""
    last = parts[-1] if parts else ""
    if isinstance(last, _Region) and len(last.indent) <= len(indent):
        return last
    parts.append(region := _Region(indent))
    return region


def _until(number: int, lines: Iterator[str], end: str) -> list[str]:
    taken: list[str] = []
    for line in lines:
        if line.rstrip().endswith(end):
            return taken
        taken.append(line)
    raise Unknown.at(number, f"the line {end} is missing")


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def _target(code: str) -> str | None:
    """What a line assigns to."""
    try:
        (statement,) = syntax_tree(code).body
    except (SyntaxError, ValueError):
        return None
    return ast.get_source_segment(code, statement.targets[0]) if isinstance(statement, ast.Assign) else None


def _above(prompt: Sequence[str], code: Sequence[str]) -> list[str]:
    """A prompt's lines, those as comments that would change something for the solution below it."""
    try:
        shown, solved = syntax_tree(dedent("\n".join(prompt))).body, syntax_tree(dedent("\n".join(code))).body
    except SyntaxError:
        return list(map(_commented, prompt))
    lines, old = list(prompt), _read_before(solved)
    for statement in shown:
        runs = not _only_names(statement)
        if runs or _bound(statement) & old:
            last = len(lines) if runs else statement.end_lineno  # what follows builds on what has run
            lines[statement.lineno - 1 : last] = map(_commented, lines[statement.lineno - 1 : last])
    return lines


def _read_before(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that these statements read before they give them to anything."""
    old, new = set[str](), set[str]()
    for statement in statements:
        old |= _read(statement) - new
        new |= _bound(statement)
    return old


def _only_names(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but give things a name."""
    match statement:
        case ast.FunctionDef() | ast.ClassDef() | ast.Pass() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=targets, value=value):
            return _is_literal(value) and all(isinstance(target, ast.Name) for target in targets)
    return False


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _read(statement: ast.stmt) -> set[str]:
    """The names that a statement reads at once; what stands in a function is read when it is called."""
    at_once: list[ast.AST] = [statement]
    if isinstance(statement, ast.FunctionDef):
        at_once = [*statement.decorator_list, statement.args]
    names = {node for part in at_once for node in ast.walk(part) if isinstance(node, ast.Name)}
    changed = {statement.target} if isinstance(statement, ast.AugAssign) else set()
    return {name.id for name in names if isinstance(name.ctx, ast.Load) or name in changed}


def _commented(line: str) -> str:
    bare = line.lstrip()
    return f"{_indent(line)}# {bare}" if bare and not bare.startswith("#") else line

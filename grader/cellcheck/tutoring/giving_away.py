"""Does a reply give the answer away? Its code is put into the learner's, in each way that fits, and checked.

The code in a reply may be a program of somebody else's, so it runs behind the walls that submissions run behind. Only
what is a known right answer, but for names and blanks, is recognised without running it.
"""

import ast
import json
import re
import textwrap
from collections.abc import Iterator
from copy import deepcopy
from functools import cache, lru_cache

from cellcheck.learning.offers import released
from cellcheck.syntax import syntax_tree
from cellcheck.tutoring.tasks import Task, right_answers

MOST = 40
"""How many ways to put a reply's code into the learner's are tried."""
DEEPEST = 100
"""How deep code may nest: no answer comes near it, and Python's own tools for syntax trees can't take much more."""

_FENCED = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_TAG = re.compile(r"</?(?:code|pre|tt)\b[^>]*>", re.IGNORECASE)
_MARKED = re.compile(r"^\s*(?:[->*+]|\d+[.)])\s+|^.*?:\s+(?=return\b)|\*\*", re.MULTILINE)
"""What stands before code in a line of prose, as in lists, quotations and after a colon; and what makes it bold."""
_ASSIGNS = re.compile(r"\s*[\w.\[\]]+(?:, *[\w.\[\]]+)* [-+*/@]?= \S")
_CODE = re.compile(r"[=(\[.]|\breturn\b")


def gives_away(reply: str, task: Task) -> bool:
    """Whether some code in the reply, put where it fits, passes the exercise's check."""
    tried = {_form(task.code)}
    right_forms = _right_forms(task)
    waiting: list[str] = []
    for answer in candidates(reply, task):
        form = _form(answer)
        if form is None or form in tried:
            continue
        if form in right_forms:
            return True
        tried.add(form)
        waiting.append(answer)
    return any(_passes(answer, task.lesson, task.symbol) for answer in waiting[:MOST])


def candidates(reply: str, task: Task) -> Iterator[str]:
    """Whole answers that can be made of the reply's code: those that replace most come first."""
    for snippet in snippets(reply):
        tree = _parsed(snippet)
        if tree is None or not tree.body or _only_mentions(tree, task):
            continue
        if any(_defines(node, task.symbol) for node in tree.body):
            yield snippet
            continue
        yield from _as_methods(tree, task)
        yield from _as_body(tree, task)
        if len(tree.body) == 1:
            yield from _as_line(snippet.strip(), tree.body[0], task)
            yield from _as_arguments(tree.body[0], task)


def _only_mentions(tree: ast.Module, task: Task) -> bool:
    """Whether it is names of things from elsewhere and no more, such as `torch.randint`: those answer nothing."""
    return all(
        isinstance(node, ast.Expr) and (root := _root(node.value)) is not None and root not in _own_names(task.code)
        for node in tree.body
    )


def _root(node: ast.expr) -> str | None:
    """What a dotted name begins with."""
    if not isinstance(node, ast.Attribute):
        return None
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


@lru_cache(maxsize=64)
def _own_names(code: str) -> frozenset[str]:
    """The parameters and variables in some code."""
    nodes = list(ast.walk(syntax_tree(code)))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return frozenset(stored | {node.arg for node in nodes if isinstance(node, ast.arg)})


def _defines(node: ast.stmt, symbol: str) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == symbol for target in node.targets)
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == symbol


def snippets(reply: str) -> Iterator[str]:
    """The code in a reply: fenced blocks, each of their lines, code within sentences, and lines that are code.

    What comes in pieces is put together, too: all blocks, all code within sentences, and all lines.
    """
    seen: set[str] = set()
    reply = _TAG.sub("`", reply)
    fenced = _FENCED.findall(reply)
    blocks = [textwrap.dedent(block).strip("\n") for block in fenced]
    rest = _FENCED.sub("\n", reply)
    inline = _INLINE.findall(rest)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    prose = _INLINE.sub(" ", rest)
    for text in (prose, _MARKED.sub("", prose)):
        lines += [line.strip() for line in text.splitlines() if _is_code(line) or _ASSIGNS.match(line)]
    joined = "\n".join(line for line in rest.splitlines() if _is_code(line))
    pieces = (
        textwrap.dedent("".join(fenced)).strip("\n"),
        textwrap.dedent(joined),
        "\n".join(filter(_CODE.search, inline)),
    )
    for snippet in (*blocks, *pieces, *inline, *lines):
        snippet = re.sub(r"^(?:>>> |\.\.\. |[-+] )", "", snippet, flags=re.MULTILINE)
        if snippet not in seen and _CODE.search(snippet) and _uses_a_name(snippet):
            seen.add(snippet)
            yield snippet


def _uses_a_name(snippet: str) -> bool:
    """Whether it is code that depends on something: a list of expected numbers does not."""
    tree = _parsed(snippet)
    return tree is not None and any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) for node in ast.walk(tree)
    )


def _is_code(line: str) -> bool:
    return line.startswith(("    ", "\t", "def ", "class ", "return ", "import ", "from ")) and bool(line.strip())


def _as_methods(tree: ast.Module, task: Task) -> Iterator[str]:
    """Functions that take the place of the learner's of the same names, in a class or beside it."""
    given = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    mine = syntax_tree(task.code)
    changed = False
    for holder in ast.walk(mine):
        body = getattr(holder, "body", None)
        for place, node in enumerate(body if isinstance(body, list) else []):
            if isinstance(node, ast.FunctionDef) and node.name in given:
                body[place] = given[node.name]  # type: ignore[index]
                changed = True
    if changed:
        yield ast.unparse(mine)


def _as_body(tree: ast.Module, task: Task) -> Iterator[str]:
    """Statements as the whole body of a function, the learner's or one of their methods."""
    statements = deepcopy(tree.body)
    last = statements[-1]
    if isinstance(last, ast.Expr):
        statements[-1] = ast.copy_location(ast.Return(last.value), last)
    mine = syntax_tree(task.code)
    for node in [each for each in ast.walk(mine) if isinstance(each, ast.FunctionDef)]:
        before, node.body = node.body, statements
        yield ast.unparse(ast.fix_missing_locations(mine))
        node.body = before


def _as_line(snippet: str, node: ast.stmt, task: Task) -> Iterator[str]:
    """One statement, or one expression, in place of each of the learner's lines."""
    lines = task.code.splitlines()
    for place, line in enumerate(lines):
        bare = line.strip()
        if not bare or bare.startswith(("def ", "class ", "@", "#", '"')):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        texts = [snippet]
        if isinstance(node, ast.Expr):
            texts = [f"return {snippet}"] if bare.startswith("return ") else []
            if (target := re.match(r"[\w., ]+ =(?= )", bare)) is not None:
                texts.append(f"{target[0]} {snippet}")
        elif not _fits(node, bare):
            continue
        for text in texts:
            yield "\n".join([*lines[:place], indent + text, *lines[place + 1 :]])


def _fits(node: ast.stmt, line: str) -> bool:
    """Whether a statement may take a line's place: an assignment that of one to the same name, a return a return's."""
    if isinstance(node, ast.Assign):
        return line.startswith(ast.unparse(node.targets[0]))
    return not isinstance(node, ast.Return) or line.startswith("return")


def _as_arguments(node: ast.stmt, task: Task) -> Iterator[str]:
    """A call's arguments in place of those of the learner's calls of the same name."""
    call = node.value if isinstance(node, ast.Expr | ast.Assign | ast.Return) else None
    if not isinstance(call, ast.Call):
        return
    mine = syntax_tree(task.code)
    for other in [each for each in ast.walk(mine) if isinstance(each, ast.Call)]:
        if _called(other) == _called(call):
            before = other.args, other.keywords
            other.args, other.keywords = call.args, call.keywords
            yield ast.unparse(mine)
            other.args, other.keywords = before


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


@lru_cache(maxsize=1000)
def _passes(answer: str, lesson: str, symbol: str) -> bool:
    """Whether an answer passes on the notebook's own cases, in a process of its own, judged in another one."""
    from cellcheck.api import get_ready
    from cellcheck.running.grade import passes

    get_ready(1)
    notebook = json.loads(released()[lesson].read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == symbol:
            cell["source"] = answer
    return passes(json.dumps(notebook).encode(), lesson, symbol)


def _right_forms(task: Task) -> frozenset[str]:
    return _known(task.lesson, task.symbol, tuple(right_answers(task.exercise)))


@cache
def _known(lesson: str, symbol: str, texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form for text in texts if (form := _form(text)) is not None)


def _form(code: str) -> str | None:
    """The code's syntax without blanks, comments, docstrings and annotations; None where it isn't Python."""
    tree = _parsed(code)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1:
                node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(tree)


def _parsed(code: str) -> ast.Module | None:
    try:
        tree = syntax_tree(textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return None if level else tree

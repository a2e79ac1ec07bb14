"""Automatic mutants of a right answer: one small change each, made from its syntax tree.

Strings, annotations, decorators and default values are left alone: a changed message isn't a mistake, and a default is
part of the signature.
"""

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cellcheck.syntax import syntax_tree

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_CALLS = {"sum": "mean", "mean": "sum", "max": "min", "min": "max", "argmax": "argmin", "tril": "triu", "all": "any"}
_AXES = ("dim", "axis")


@dataclass(frozen=True)
class Mutant:
    """One changed answer. `change` is the line before and after, and names it among the equivalent ones."""

    change: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """All mutants of a function or class, given its source; none twice."""
    tree = syntax_tree(textwrap.dedent(source))
    by_source: dict[str, Mutant] = {}
    for before, after, mutated in _all(tree):
        text = ast.unparse(mutated)
        if text not in by_source and text != ast.unparse(tree):
            by_source[text] = Mutant(f"{before} -> {after}", text)
    return list(by_source.values())


def _all(tree: ast.Module) -> Iterator[tuple[str, str, ast.Module]]:
    for path in _places(tree):
        node = _at(tree, path)
        for change in _changes(node):
            mutated = copy.deepcopy(tree)
            owner = _at(mutated, path[:-1])
            changed = change(copy.deepcopy(node))
            _put(owner, path[-1], changed)
            ast.fix_missing_locations(mutated)
            statement = _statement(tree, path)
            yield _line(_at(tree, statement)), _line(_at(mutated, statement)), mutated


# A place in a tree: the field's name, and the index where the field is a list.
Step = tuple[str, int | None]


def _places(tree: ast.AST) -> Iterator[tuple[Step, ...]]:
    """Every place that may be changed, from the top down."""

    def walk(node: ast.AST, path: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "defaults", "kw_defaults", "bases", "type_params"):
                continue
            children = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, child in children:
                if isinstance(child, ast.AST):
                    step = (*path, (name, index))
                    yield step
                    yield from walk(child, step)

    yield from walk(tree, ())


def _at(tree: ast.AST, path: tuple[Step, ...]) -> ast.AST:
    node = tree
    for name, index in path:
        value = getattr(node, name)
        node = value if index is None else value[index]
    return node


def _put(owner: ast.AST, step: Step, changed: ast.AST) -> None:
    name, index = step
    if index is None:
        setattr(owner, name, changed)
    else:
        getattr(owner, name)[index] = changed


def _statement(tree: ast.AST, path: tuple[Step, ...]) -> tuple[Step, ...]:
    """The innermost statement around a place."""
    for end in range(len(path), 0, -1):
        if isinstance(_at(tree, path[:end]), ast.stmt):
            return path[:end]
    return path[:1]


def _line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0] if not isinstance(node, ast.Pass) else "(dropped)"


Change = Callable[[ast.AST], ast.AST]


def _changes(node: ast.AST) -> Iterator[Change]:
    """The ways in which a node can be changed. Each gets a copy of the node, and returns what stands there then."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATORS:
        yield _with(op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for other in _COMPARISONS.get(type(node.ops[0]), ()):
            yield _with(ops=[other(), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp):
        yield _with(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield lambda copied: copied.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif _can_be_dropped(node):
        yield lambda _: ast.Pass()


def _constants(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield _with(value=not value)
    elif isinstance(value, int):
        yield _with(value=value + 1)
    elif isinstance(value, float):
        yield _with(value=value * 2 + 0.5)


def _calls(node: ast.Call) -> Iterator[Change]:
    if isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS:
        other = ast.Attribute(node.func.value, _CALLS[node.func.attr], ast.Load())
        yield _with(func=other)
    for index, keyword in enumerate(node.keywords):
        if keyword.arg in _AXES:
            yield _with(keywords=[k for i, k in enumerate(node.keywords) if i != index])


def _can_be_dropped(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))
    return isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.Raise | ast.If | ast.For | ast.While)


def _with(**fields: object) -> Change:
    def change(copied: ast.AST) -> ast.AST:
        for name, value in fields.items():
            setattr(copied, name, value)
        return copied

    return change

"""Whether what was run is in the saved file. A kernel can't save a document; it can notice that nobody did."""

import ast
import re
from collections.abc import Iterable
from typing import Any

from cellcheck.running.plain_cells import parse, source_of
from cellcheck.syntax import syntax_tree


def not_in_the_file(history: Iterable[str], data: bytes) -> list[str]:
    """The names whose newest definition, of those that were run, is not in the notebook's file.

    Args:
        history: the text of all cells that were run, in order.
        data: the file.

    Raises:
        Unreadable: when it is not a notebook.
    """
    saved = {_comparable(source_of(cell)) for cell in parse(data) if isinstance(cell, dict)}
    newest: dict[str, str] = {}
    for source in history:
        for name in definitions(source):
            newest[name] = source
    return [name for name, source in newest.items() if _comparable(source) not in saved]


def definitions(source: str) -> list[str]:
    """The functions and classes that a cell defines at its top level.

    >>> definitions("def f():\\n    def g(): ...\\nclass A: ...\\nx = 1")
    ['f', 'A']
    """
    try:
        body: list[Any] = syntax_tree(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # magics, or an attempt that does not parse
        return re.findall(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", source, re.MULTILINE)
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def _comparable(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().splitlines())

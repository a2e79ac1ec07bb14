"""Python's syntax tree of a text, for several threads at once."""

import ast
import os
import threading

# Python 3.11 and 3.12 count the depth of the tree that they build in one place for all threads: where two build a
# tree at the same time, one of them can end in "SystemError: AST constructor recursion depth mismatch".
# A thread that is building another tree while this process forks would leave the lock shut in the child: so a fork
# waits for it.
_ONE_AT_A_TIME = threading.RLock()
if hasattr(os, "register_at_fork"):  # not in a browser
    os.register_at_fork(
        before=_ONE_AT_A_TIME.acquire,
        after_in_parent=_ONE_AT_A_TIME.release,
        after_in_child=_ONE_AT_A_TIME.release,
    )


def syntax_tree(text: str | bytes) -> ast.Module:
    """What `ast.parse` gives, and its errors.

    Raises:
        SyntaxError: `text` isn't Python.
        ValueError: `text` holds null characters.
        RecursionError, MemoryError: it is nested too deeply.
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text)

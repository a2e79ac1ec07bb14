"""Python's syntax trees, in several threads."""

import ast
import gc
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from cellcheck.syntax import syntax_tree

ENGINE = Path(__file__).parents[1] / "grader" / "cellcheck"
LONG = "\n".join(f"def f{number}(x):\n    return [x + {number}, (x, [x, (x, x)])]" for number in range(200))


@contextmanager
def turns_in_a_hurry() -> Iterator[None]:
    """Threads take turns wherever Python lets them: also while a tree is built, when its collector calls somebody."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    gc.callbacks.append(_any_python)
    try:
        yield
    finally:
        gc.callbacks.remove(_any_python)
        sys.setswitchinterval(usual)


def _any_python(phase: str, info: dict[str, int]) -> None:
    for _ in range(1000):
        pass


def test_trees_are_built_in_many_threads() -> None:
    """With `ast.parse` itself, Python 3.11 ends in "AST constructor recursion depth mismatch"."""
    with turns_in_a_hurry(), ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(syntax_tree, [LONG] * 40))
    assert {ast.dump(tree) for tree in trees} == {ast.dump(ast.parse(LONG))}


def test_a_child_builds_trees_whatever_the_parents_threads_do() -> None:
    with turns_in_a_hurry(), ThreadPoolExecutor(4) as threads:
        busy = [threads.submit(syntax_tree, LONG) for _ in range(40)]
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(ast.dump(syntax_tree("1 + 1")) != ast.dump(ast.parse("1 + 1")))
            assert os.waitpid(child, 0)[1] == 0
        for each in busy:
            each.result()


def test_nobody_else_builds_a_tree() -> None:
    files = [path for path in ENGINE.rglob("*.py") if "ast.parse(" in path.read_text("utf-8")]
    assert files == [ENGINE / "syntax.py"]

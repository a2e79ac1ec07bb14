"""Puts faults into a copy of the product, one at a time, and asks the tests nearest to each whether they see it.

    python -m tests.faults [--count 30] [--seed 0] [--jobs 2] [MODULE ...]

A fault is one small change to one line: a comparison turned round, a condition denied, a number that is one more, a
call left out, a result that is None. Which ones are tried depends on the seed and on the product alone, so a suite can
be compared with what it was: run this before and after. Some faults change nothing that anybody could see; a person
reads what nobody saw. Of the tests, those are run that import the module, or else its importers. With --whole, the
others are asked about what these don't see, up to the first that does; that takes as long as `make test` for each.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tests import quick

ROOT = Path(__file__).parents[1]
PRODUCT = ("grader/cellcheck", "transformer_course")
NOT_PRODUCT = re.compile(r"/lessons/lesson_|/demo/|__main__")
"""The lessons' own faults are their mistakes, and `tests/marks/` knows what each of them earns."""
MOST = 8  # files of tests for each fault
PATIENCE = 3600  # seconds; whoever loops without end is noticed, too
_TURNED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


@dataclass(frozen=True)
class Fault:
    """`path` with `after` where `before` stands, from character `start` on."""

    path: str
    line: int
    start: int
    before: str
    after: str

    def put_into(self, folder: Path) -> str:
        """Changes the file, and returns what it was."""
        source = (folder / self.path).read_text("utf-8")
        changed = source[: self.start] + self.after + source[self.start + len(self.before) :]
        (folder / self.path).write_text(changed, "utf-8")
        return source

    def __str__(self) -> str:
        short = [" ".join(text.split())[:60] for text in (self.before, self.after)]
        return f"{self.path}:{self.line}  {short[0]}  ->  {short[1]}"


def faults_of(path: str, source: str) -> list[Fault]:
    """All that this module knows to break in a file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    quiet = {id(node) for outer in ast.walk(tree) for node in _never_run(outer)}

    def fault(node: ast.expr | ast.stmt, after: str) -> Fault:
        before = ast.get_source_segment(source, node) or ""
        line = source.splitlines()[node.lineno - 1]
        start = starts[node.lineno - 1] + len(line.encode()[: node.col_offset].decode())  # offsets count bytes
        return Fault(path, node.lineno, start, before, after)

    def code(node: ast.expr) -> str:
        return ast.get_source_segment(source, node) or ""

    faults = []
    for node in ast.walk(tree):
        if id(node) in quiet:
            continue
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                faults.append(fault(node, f"({code(left)} {_TURNED[type(operator)]} {code(right)})"))
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                faults.append(fault(test, f"(not ({code(test)}))"))
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                faults.append(fault(node, str(value + 1)))
            case ast.Return(value=ast.expr()):
                faults.append(fault(node, "return None"))
            case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign():
                faults.append(fault(node, "pass"))
    return faults


def _never_run(node: ast.AST) -> Iterator[ast.AST]:
    """What stands only for a type checker, or where a person runs a file."""
    annotations = [getattr(node, name, None) for name in ("annotation", "returns")]
    if isinstance(node, ast.If) and re.search("TYPE_CHECKING|__main__", ast.unparse(node.test)):
        annotations.append(node)
    for annotation in annotations:
        if isinstance(annotation, ast.AST):
            yield from ast.walk(annotation)


def drawn(count: int, seed: int, modules: Sequence[str] = ()) -> list[Fault]:
    """So many faults, no two in one file."""
    paths = list(modules) or [
        str(path.relative_to(ROOT))
        for package in PRODUCT
        for path in sorted((ROOT / package).rglob("*.py"))
        if not NOT_PRODUCT.search(str(path))
    ]
    chance = random.Random(seed)
    chance.shuffle(paths)
    faults: list[Fault] = []
    while paths and len(faults) < count:
        path = paths.pop()
        there = faults_of(path, (ROOT / path).read_text("utf-8"))
        faults += chance.sample(there, min(count if modules else 1, len(there)))
    return faults[:count]


def tests_of(path: str) -> list[str]:
    """The nearest tests of a module, and where there are none, those of its importers."""
    near: list[str] = []
    known, importers = {path}, [path]
    while importers and not near:
        near = quick.nearest(importers)
        importers = [module for module in quick.importers(importers) if module not in known]
        known.update(importers)
    return near[:MOST]


def copy_to(folder: Path) -> None:
    """What git knows of the tree, as it stands."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)  # some tests ask git what belongs to the tree
    subprocess.run(["git", "add", "--all"], cwd=folder, check=True)


def failing(folder: Path, tests: Sequence[str]) -> str | None:
    """The first test that fails there, if one does."""
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{folder / 'grader'}", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as temporary:
        command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-rfE", *tests]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env={**environment, "TMPDIR": temporary},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "never ends"
    if done.returncode == 0:
        return None
    failure = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failure[1] if failure else f"exit code {done.returncode}"


def tried(faults: Sequence[Fault], jobs: int, whole: bool = False) -> Iterator[tuple[Fault, str | None]]:
    """Each fault, and the test that sees it."""
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as temporary:
        folders = [Path(temporary, str(job)) for job in range(jobs)]
        for folder in folders:
            copy_to(folder)

        def one(fault: Fault) -> tuple[Fault, str | None]:
            folder = folders.pop()
            try:
                source = fault.put_into(folder)
                near = tests_of(fault.path)
                test = failing(folder, near) if near else None
                if test is None and whole:
                    test = failing(folder, ["tests"])
                (folder / fault.path).write_text(source, "utf-8")
                if test and failing(folder, [test.partition("::")[0]]):
                    return fault, None  # it fails without the fault, too
                return fault, test
            finally:
                folders.append(folder)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(one, faults)


def main(
    modules: Annotated[list[str] | None, typer.Argument()] = None,
    count: Annotated[int, typer.Option(help="How many faults")] = 30,
    seed: Annotated[int, typer.Option(help="Which ones")] = 0,
    jobs: Annotated[int, typer.Option(help="At once")] = 2,
    whole: Annotated[bool, typer.Option("--whole", help="Ask all tests, where the nearest see nothing")] = False,
) -> None:
    """Prints each fault with the test that saw it."""
    faults, seen = drawn(count, seed, modules or ()), 0
    for number, (fault, test) in enumerate(tried(faults, jobs, whole), 1):
        seen += test is not None
        typer.echo(f"{number}/{len(faults)}  {fault}\n      {test or 'NOBODY SEES IT'}")
    typer.echo(f"{seen} of {len(faults)} faults were seen.")


if __name__ == "__main__":
    typer.run(main)

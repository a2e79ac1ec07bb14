"""How much room there is around each number that a lesson claims, on this processor and on an old one.

    python -m tests.margins [LESSON ...] [--long] [--rows 40]

The claims are tried twice: as this processor computes, and without its newer instructions. Every comparison of numbers
in them is recorded, and printed with what was measured and the room that is left as a share of the limit, the narrowest
first. A claim with hardly any room holds here by luck, and is better told as a range.

As a plugin of pytest (`-p tests.margins`), this module does the recording.
"""

import argparse
import ast
import json
import operator
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from cellcheck.syllabus import find_lesson
from tests.processors import as_an_old_one

ROOT = Path(__file__).parents[1]
RECORDER = "__compared__"
OPERATORS: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Comparison(NamedTuple):
    """A comparison of two numbers in an assert, as it came out once."""

    place: str
    text: str
    smaller: float
    larger: float
    measured: float
    limit: float

    @property
    def room(self) -> float:
        """By how much it holds, as a share of the limit; below zero where it doesn't."""
        return (self.larger - self.smaller) / (abs(self.limit) or 1.0)


# --- the plugin: claims are compiled so that their comparisons are recorded


class _Recorded(ast.NodeTransformer):
    """Turns `a < b <= c` within an assert into a call that compares them and records it."""

    def __init__(self, path: Path) -> None:
        self.place = str(path.relative_to(ROOT / "tests" / "lessons"))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        text = ast.unparse(node)
        self.generic_visit(node)
        if not all(type(op) in OPERATORS for op in node.ops):
            return node
        signs: list[ast.expr] = [ast.Constant(OPERATORS[type(op)]) for op in node.ops]
        limits = [isinstance(side, ast.Constant) for side in (node.left, *node.comparators)]
        about = [ast.Constant(f"{self.place}:{node.lineno}"), ast.Constant(text), ast.Constant(limits[0])]
        sides = ast.Tuple([node.left, *node.comparators], ast.Load())
        arguments: list[ast.expr] = [*about, ast.Tuple(signs, ast.Load()), sides]
        return ast.copy_location(ast.Call(ast.Name(RECORDER, ast.Load()), arguments, []), node)


class _Claims(ast.NodeTransformer):
    def __init__(self, path: Path) -> None:
        self.inside = _Recorded(path)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = self.inside.visit(node.test)
        return node


class _Loader(SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        tree = _Claims(Path(path)).visit(ast.parse(data))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> Any:  # what is compiled without the recorder must not be taken instead
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name.startswith("tests.lessons.lesson_") else None
        if spec is None or spec.origin is None or not Path(spec.origin).name.startswith("test_"):
            return None
        spec.loader = _Loader(name, spec.origin)
        return spec


class _Recorder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.comparisons: list[Comparison] = []

    def compared(self, place: str, text: str, limit_first: bool, signs: Sequence[str], sides: Sequence[Any]) -> Any:
        result: Any = True
        for index, (sign, left, right) in enumerate(zip(signs, sides, sides[1:], strict=False)):
            result = COMPARE[sign](left, right)
            numbers = _numbers(left, right)
            if numbers is not None:
                smaller, larger = numbers if sign[0] == "<" else numbers[::-1]
                measured, limit = numbers[::-1] if limit_first and index == 0 else numbers
                self.comparisons.append(Comparison(place, text, smaller, larger, measured, limit))
            if index < len(signs) - 1 and not result:
                break
        return result

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        with self.path.open("a", encoding="utf-8") as file:  # each worker adds its own
            file.write("".join(json.dumps(comparison) + "\n" for comparison in self.comparisons))


def _numbers(left: Any, right: Any) -> tuple[float, float] | None:
    """Both as floats; None where they are no single numbers, or are counts of something."""
    if isinstance(left, int) and isinstance(right, int):
        return None
    try:
        return float(left), float(right)
    except (TypeError, ValueError, RuntimeError):
        return None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--margins-to", type=Path, help="add every comparison in the claims of lessons to this file")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.margins_to is not None:
        recorder = _Recorder(config.option.margins_to)
        config.pluginmanager.register(recorder)
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
        vars(__import__("builtins"))[RECORDER] = recorder.compared


# --- the command


def main(arguments: Sequence[str]) -> int:
    """Prints the table; 1 where a claim fails on one of the processors."""
    parser = argparse.ArgumentParser(prog="python -m tests.margins", description="The room around each claim.")
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="01, ...; all without it")
    parser.add_argument("--long", action="store_true", help="on all seeds")
    parser.add_argument("--rows", type=int, default=40, help="how many to print")
    options = parser.parse_args(arguments)
    folders = [f"tests/lessons/lesson_{find_lesson(lesson)[1][:2]}" for lesson in options.lessons]
    processors = {"this": {}, "old": as_an_old_one()}
    runs = {name: _run(folders or ["tests/lessons"], processor, options.long) for name, processor in processors.items()}
    rows = sorted(_rows({name: comparisons for name, (_, comparisons) in runs.items()}), key=lambda row: row[0])
    for _, line in rows[: options.rows]:
        print(line)
    print(f"{len(rows)} comparisons; the {min(len(rows), options.rows)} with the least room are shown.")
    return max(code for code, _ in runs.values())


def _run(folders: Sequence[str], processor: Mapping[str, str], every_seed: bool) -> tuple[int, list[Comparison]]:
    with tempfile.NamedTemporaryFile() as file:
        command = [sys.executable, "-m", "pytest", "-p", "tests.margins", "--margins-to", file.name, *folders]
        command += ["-k", "test_claims", "--numprocesses", "2", *(["--long"] if every_seed else [])]
        environment = {**os.environ, **processor, "OMP_NUM_THREADS": "1"}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        return code, [Comparison(*json.loads(line)) for line in Path(file.name).read_text("utf-8").splitlines()]


def _rows(runs: Mapping[str, Iterable[Comparison]]) -> Iterator[tuple[float, str]]:
    by_claim: dict[tuple[str, str], dict[str, list[Comparison]]] = defaultdict(lambda: defaultdict(list))
    for processor, comparisons in runs.items():
        for comparison in comparisons:
            by_claim[comparison.place, comparison.text][processor].append(comparison)
    for (place, text), by_processor in by_claim.items():
        room = min(comparison.room for comparisons in by_processor.values() for comparison in comparisons)
        spans = [f"{processor}: {_span(comparisons)}" for processor, comparisons in by_processor.items()]
        yield room, f"{room:7.1%}  {place}  {text}  {'; '.join(spans)}"


def _span(comparisons: Sequence[Comparison]) -> str:
    values = [comparison.measured for comparison in comparisons]
    low, high = f"{min(values):.4g}", f"{max(values):.4g}"
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

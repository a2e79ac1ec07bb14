"""What a lesson's outputs and pictures come from, as digests.

What a cell puts out and how a picture's edges are smoothed may differ from processor to processor. So neither is ever
compared with another one: what both were made from is.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from cellcheck.building.pictures import attached
from cellcheck.repository import Repository
from cellcheck.syntax import syntax_tree
from cellcheck.travelling import file_of, imported, parsed

_PICTURES = "pictures"
_DOWNLOADS = "downloads.json"
_ENGINE = frozenset({"cellcheck"})


def made_from(repository: Repository, lesson: str, solution: NotebookNode | None) -> dict[str, str]:
    """Digests of what a lesson's `solution` comes from: "executed" for its outputs, "drawn" for its pictures.

    What was executed are the modules of the repository that the lesson's text reaches, and what was drawn are those
    that its pictures reach, each with the data that they name. The pictures themselves are part of "drawn". Of the text
    it is only what its set-up cell imports: the notebook's other cells are compared one by one.
    """
    text = repository.text(lesson)
    executed = _digest(repository, _reached(repository, text), leaving_out=text)
    executed.update(repository.setup(lesson).encode())
    pictures = attached(solution) if solution else {}
    file = file_of(repository.module(lesson, _PICTURES), repository.root) if pictures else None
    drawn = _digest(repository, _reached(repository, file, leaving_out=_ENGINE) if file else {})
    drawn.update(json.dumps(pictures, sort_keys=True).encode())
    return {"executed": executed.hexdigest(), "drawn": drawn.hexdigest()}


def downloads_of(repository: Repository, lesson: str) -> list[str]:
    """The files in the course's list of downloads that a lesson's code names, in full or with stars."""
    path = repository.root / "data" / _DOWNLOADS
    if not path.is_file():
        return []
    named = frozenset().union(*_reached(repository, repository.text(lesson)).values())
    named = frozenset(text for text in named if "/" in text)  # each stands in a folder, and a cell may say f"f{i}"
    return [name for name in json.loads(path.read_text("utf-8")) if _is_named(name, named)]


def _digest(
    repository: Repository, reached: Mapping[Path, frozenset[str]], leaving_out: Path | None = None
) -> hashlib._Hash:
    digest = hashlib.sha256()
    named = frozenset().union(*reached.values())
    for path in sorted({*reached, *_named(repository, named)} - {leaving_out}):
        digest.update(path.relative_to(repository.root).as_posix().encode())
        digest.update(_content(path, named))
    return digest


def _named(repository: Repository, texts: frozenset[str]) -> Iterator[Path]:
    """The data files and tables that texts in the code name, in full or with stars for parts of the name."""
    data = repository.root / "data"
    files = {path.relative_to(data).as_posix(): path for path in data.rglob("*") if path.is_file()}
    tables = {
        f"{path.parts[-3].removeprefix('lesson_')}_{path.stem}": path  # as `measured("04_lengths")` names it
        for path in repository.folder.glob("lesson_*/tables/*.csv")
    }
    for name, path in (files | tables).items():
        if path.suffix != ".md" and _is_named(name, texts):
            yield path


def _is_named(name: str, texts: frozenset[str]) -> bool:
    # Without a letter before the dot, as in "*.csv" or "0*", it is no name.
    patterns = (text for text in texts if "*" in text and any(map(str.isalpha, text.partition(".")[0])))
    return name in texts or any(fnmatchcase(name, pattern) for pattern in patterns)


def _content(path: Path, named: frozenset[str]) -> bytes:
    """What counts of a file: code without comments; of the list of downloads, the folders that are named."""
    if path.suffix == ".py":
        return code_of(path.read_text("utf-8"))
    if path.name != _DOWNLOADS:
        return path.read_bytes()
    listed = json.loads(path.read_text("utf-8"))
    folders = {name.partition("/")[0] for name in named if "/" in name}
    return json.dumps({name: entry for name, entry in listed.items() if name.partition("/")[0] in folders}).encode()


def _reached(
    repository: Repository, start: Path, leaving_out: frozenset[str] = frozenset({_PICTURES, *_ENGINE})
) -> dict[Path, frozenset[str]]:
    """The file and the modules of the repository that it reaches by its imports, each with the strings in it.

    No cell runs pictures: they stand in the prose. And the engine changes no output.
    """
    here = {path.stem for path in repository.root.iterdir()}
    reached: dict[Path, frozenset[str]] = {}
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        if path.suffix != ".py":
            reached[path] = frozenset()
            continue
        package = ".".join(path.parent.relative_to(repository.root).parts)
        imports, reached[path] = _imports_and_strings(path, path.read_text("utf-8"), package)
        names = {part for name in imports for part in (name, name.rpartition(".")[0])}
        names = {name for name in names if name.partition(".")[0] in here and not leaving_out & set(name.split("."))}
        waiting += [file for name in names if (file := file_of(name, repository.root)) is not None]
    return reached


@cache  # the lessons reach the same library
def _imports_and_strings(path: Path, text: str, package: str) -> tuple[frozenset[str], frozenset[str]]:
    lines = text.splitlines(keepends=True)
    tree = parsed(path, "".join(line for line in lines if not line.lstrip().startswith(("%", "!"))))
    return frozenset(imported(tree, package)), frozenset(_texts(tree))


def _texts(tree: ast.Module) -> Iterator[str]:
    """All texts in a module. An f-string has stars for what it fills in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)


@cache
def code_of(source: str) -> bytes:
    """What Python runs of a module: its text without comments and docstrings.

    Texts are compared, not syntax trees, which every version of Python writes in its own way.
    """
    lines: list[str | None] = list(source.splitlines())
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and _documented(node):
            docstring = node.body[0]
            last = docstring.end_lineno or docstring.lineno
            lines[docstring.lineno - 1 : last] = [None] * (last - docstring.lineno + 1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row, column = token.start
        line = lines[row - 1] if token.type == tokenize.COMMENT else None
        if line is not None:
            lines[row - 1] = line[:column].rstrip() or None
    return "\n".join(line for line in lines if line is not None).encode()


def _documented(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the body begins with a docstring that has its lines to itself."""
    first = node.body[0] if node.body else None
    return (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
        and first.lineno > getattr(node, "lineno", 0)
    )

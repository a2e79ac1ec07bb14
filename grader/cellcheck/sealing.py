"""A course without its answers in sight: its files have blanks, and one sealed file beside them has what was there.

An assistant that searches a learner's folder, or the installed package, finds nothing to read. Lessons and checks work
as before: Python gets a module's text from the sealed file when it is imported. It is an envelope, not a safe, and
whoever is set on opening it can. See docs/assistants.md.
"""

import ast
import base64
import importlib.abc
import importlib.machinery
import importlib.util
import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType

from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.syntax import syntax_tree

FILE = "answers.sealed"
"""The sealed file, at the top of the course's package."""
VIRTUAL = ".sealed"
"""The ending that the path of a sealed module has: there is no such file, so that its text is never read from disk."""
CATALOGUE = "Sealed: this file names right and wrong answers. See docs/assistants.md.\n"

_SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION[^\n]*\n.*?^[ \t]*### END SOLUTION[^\n]*$", re.MULTILINE | re.DOTALL
)
_HOOK = """
# The answers of this course are sealed.
from cellcheck.sealing import open_sealed as _open_sealed

_open_sealed(__path__[0], __name__)

"""


def readable(package: Path) -> Iterator[Path]:
    """The Python and Markdown files of a course's package."""
    return (path for path in sorted(package.rglob("*")) if path.suffix in (".py", ".md") and path.is_file())


def text_of(path: Path) -> str:
    """The text of a course's file, from the sealed file where there is one."""
    for folder in path.parents:
        if _is_open(folder):
            sealed = _contents(folder / FILE, (folder / FILE).stat().st_mtime_ns)
            name = path.relative_to(folder).as_posix()
            if name in sealed:
                return sealed[name]
            break
        if not (folder / "__init__.py").is_file():
            break
    return path.read_text("utf-8")


def seal(package: Path, lessons: Path) -> int:
    """Takes the answers out of the files of an installed course's package. One that is sealed already stays so.

    The sealed file comes first, then the package's own file, which goes by it, then one blank after the other. Whenever
    it is interrupted, the course works, and the next time goes on from there.

    Args:
        package: its folder.
        lessons: the folder of its lessons.

    Returns:
        How many files were blanked.

    Raises:
        GraderError: in a repository, where the answers lie about anyway, or where nothing can be written.
    """
    opened = package / "__init__.py"
    begun = _is_open(package)
    if not begun and ((package.parent / "solutions").is_dir() or (package.parent / ".git").exists()):
        raise GraderError(
            f"{package.parent} is a copy of the repository, with solutions and all. Sealed is an installed course: "
            "pip install it into an environment of its own, and run this there."
        )
    texts = {path: text_of(path) for path in readable(package)}
    blanked = {path: blank for path, text in texts.items() if (blank := _blank(path, text, lessons)) != text}
    left = [path for path, blank in blanked.items() if path.read_text("utf-8") != blank]
    try:
        if not begun:
            contents = {path.relative_to(package).as_posix(): texts[path] for path in blanked}
            write_whole(package / FILE, _closed(contents))
            write_whole(opened, _opening(opened.read_text("utf-8")))
        for path in left:
            write_whole(path, blanked[path])
        for path in blanked:
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink()
    except OSError as error:
        raise GraderError(f"{package} can't be written to: {error.strerror}.") from None
    return len(left)


def _blank(path: Path, text: str, lessons: Path) -> str:
    """What stays in a file of which the answers are taken out."""
    if path.suffix == ".md":
        return CATALOGUE if path.parent.parent == lessons else text
    return _SOLUTION.sub(r"\1raise NotImplementedError()", text)


def _is_open(package: Path) -> bool:
    """Whether the package's texts come from the sealed file.

    As long as its own file doesn't say so, all answers are where they were: sealing was interrupted, or the course was
    installed again on top of a sealed one, whose file is no good any more.
    """
    return (package / FILE).is_file() and _HOOK in (package / "__init__.py").read_text("utf-8")


def source_of(package: Path, module: str, symbol: str) -> str:
    """One symbol's text: what a learner sees who goes on with ours.

    Raises:
        GraderError: when it isn't there.
    """
    path = package.joinpath(*module.split(".")[1:]).with_suffix(".py")
    path = path if path.is_file() else path.with_suffix("") / "__init__.py"
    text = text_of(path)
    for node in syntax_tree(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == symbol:
            return (ast.get_source_segment(text, node) or "") + "\n"
    raise GraderError(f"There is no {symbol} in {module}.")


def open_sealed(package: str, name: str) -> None:
    """From now on, a sealed module is imported from the sealed file. The package calls this itself."""
    finder = _SealedFinder(Path(package), name)
    if finder not in sys.meta_path:
        # Before what looks at files, and behind all else: where submissions run, blanks go first.
        places = [i for i, other in enumerate(sys.meta_path) if other is importlib.machinery.PathFinder]
        sys.meta_path.insert(places[0] if places else len(sys.meta_path), finder)


def _opening(start: str) -> str:
    """A package's own file, which opens the sealed one before it imports anything."""
    last = 0
    for node in syntax_tree(start).body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        last = node.end_lineno or 0
    lines = start.splitlines(keepends=True)
    return "".join(lines[:last]) + _HOOK + "".join(lines[last:])


class _SealedFinder(importlib.abc.MetaPathFinder):
    def __init__(self, package: Path, name: str) -> None:
        self.package = package
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SealedFinder) and (other.package, other.name) == (self.package, self.name)

    def __hash__(self) -> int:
        return hash((self.package, self.name))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(f"{self.name}."):
            return None
        base = "/".join(fullname.split(".")[1:])
        for name in (f"{base}.py", f"{base}/__init__.py"):
            if name in _contents(self.package / FILE, 0):
                loader = _SealedLoader(self.package / name, name)
                places = [str((self.package / name).parent)] if name.endswith("__init__.py") else None
                return importlib.util.spec_from_file_location(
                    fullname, loader.path, loader=loader, submodule_search_locations=places
                )
        return None


class _SealedLoader(importlib.abc.InspectLoader):
    def __init__(self, path: Path, name: str) -> None:
        self.path = f"{path}{VIRTUAL}"
        self._text = _contents(Path(str(path)[: -len(name)]) / FILE, 0)[name]
        self._package = name.endswith("__init__.py")

    def get_source(self, fullname: str) -> str:
        return self._text

    def get_filename(self, fullname: str) -> str:
        return self.path

    def is_package(self, fullname: str) -> bool:
        return self._package

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._text, self.path, "exec", dont_inherit=True)


@lru_cache(maxsize=8)
def _contents(file: Path, _changed: int) -> Mapping[str, str]:
    contents: dict[str, str] = json.loads(zlib.decompress(base64.b85decode(file.read_bytes())))
    return contents


def _closed(contents: Mapping[str, str]) -> bytes:
    return base64.b85encode(zlib.compress(json.dumps(contents).encode(), 9))

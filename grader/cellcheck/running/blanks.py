"""In the learner's process the course's library has this lesson's symbols blanked, as the learner got them.

The blank of a symbol is what nbgrader makes of it for the release, so both come from one text.
"""

import importlib.abc
import importlib.machinery
import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

_SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?^[ \t]*### END SOLUTION[^\n]*$", re.MULTILINE | re.DOTALL)


def sources(lesson_references: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Per symbol, the module it stands in and its source. Made in the parent, from the course's own objects."""
    return {
        symbol: {"module": reference.__module__, "source": inspect.getsource(reference)}
        for symbol, reference in lesson_references.items()
    }


def blank(source: str) -> str:
    """The source with each solution replaced by a `NotImplementedError`."""
    return _SOLUTION.sub(r"\1raise NotImplementedError()", source)


class _BlankingLoader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return compile(blank(text), path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname: str) -> CodeType:
        """Compiles anew each time: a cached file would hold the solutions."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Blanker(importlib.abc.MetaPathFinder):
    def __init__(self, modules: frozenset[str]) -> None:
        self.modules = modules

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self.modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        spec.loader = _BlankingLoader(fullname, spec.origin)
        return spec


def blank_modules(modules: Sequence[str]) -> None:
    """From now on, importing one of these modules of the course gives it with blanks."""
    for name in modules:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Blanker(frozenset(modules)))


def restore(module: str, source: str, symbol: str, packages: Sequence[str]) -> Any:
    """Runs a symbol's own text in its module, now that the learner has answered for it; returns the symbol.

    Other modules of these packages that have imported the blank get the symbol too.
    """
    namespace = vars(importlib.import_module(module))
    blanked = namespace.get(symbol)
    exec(compile(source, f"<{module}.{symbol}>", "exec"), namespace)
    if blanked is not None:
        within = tuple(f"{package}." for package in packages)
        for name in [name for name in list(sys.modules) if f"{name}.".startswith(within)]:
            # Not by `getattr`: a module takes its time to say that it has no such name.
            names = getattr(sys.modules[name], "__dict__", {})
            if names.get(symbol) is blanked:
                names[symbol] = namespace[symbol]
    return namespace[symbol]

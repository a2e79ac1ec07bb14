"""A package that isn't there, under its name: a course's modules can be imported, and what needs it says so.

Many a module of a course says `torch.Tensor` somewhere, and has functions that do without. In a browser there is no
PyTorch, and a lesson's part that needs none should open all the same. The set-up cell of such a part calls `stand_in`.
"""

from __future__ import annotations

import sys
from collections.abc import MutableSequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

NAMES = {"torch": "PyTorch"}
"""What people call a package."""


class NotHere(ImportError):
    """Something needs a package that isn't there. A notebook shows it as its one sentence."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Absent(type):
    """Whatever is asked of the package: a class, as for an annotation or a base; it does nothing but say so."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(f"{cls.__module__}.{name}" if isinstance(cls, Absent) else name)

    def __call__(cls, *_: Any, **__: Any) -> Any:
        package = next((base.__module__ for base in cls.__mro__ if "package" in vars(base)), cls.__module__)
        raise NotHere(_sentence(package.partition(".")[0]))

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __instancecheck__(cls, instance: object) -> bool:
        return cls in type(instance).__mro__


def _absent(name: str) -> Any:
    return Absent(name.rpartition(".")[2], (), {"__module__": name, "package": True})


def _sentence(package: str) -> str:
    called = NAMES.get(package, package)
    return f"This needs {called}, which isn't here in the browser: open the lesson in Colab, or on your own machine."


class AbsentModule(ModuleType):
    """The package, or a module of it. It has no file, by which one can tell."""

    __path__: MutableSequence[str] = []  # noqa: RUF012

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return sys.modules.get(f"{self.__name__}.{name}") or _absent(f"{self.__name__}.{name}")


class _Finder:
    """Finds the packages of these names, and what is in them, when nobody else has."""

    def __init__(self, packages: frozenset[str]) -> None:
        self.packages = packages

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self.packages else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def stand_in(*packages: str) -> None:
    """From now on, importing one of these packages brings a stand-in for it, unless it is there."""
    missing = frozenset(name for name in packages if name not in sys.modules and PathFinder.find_spec(name) is None)
    if missing:
        sys.meta_path.append(_Finder(missing))


def is_absent(value: Any) -> bool:
    """Whether it comes from such a package; a class that is built on one of its classes doesn't."""
    return isinstance(value, AbsentModule) or (type(value) is Absent and "package" in vars(value))

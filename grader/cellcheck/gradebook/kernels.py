"""The kernels that source notebooks name. Submissions run in the Python that cellcheck is installed in, in no other.

A kernel may be another environment's, with the packages that a course needs. That is said before anything is graded,
and where a package is missing here, nothing is: everybody would get 0.
"""

import sys
from collections.abc import Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from cellcheck.errors import GraderError
from cellcheck.gradebook.source_notebooks import parsed
from cellcheck.running.assignment import Assignment
from cellcheck.running.plain_cells import imported

_USUAL = ("", "python3")
"""What JupyterLab calls the kernel of the environment that it runs in."""


def insist_on_python(path: Path, metadata: Mapping[str, Any]) -> None:
    """Refuses notebooks in other languages.

    Raises:
        GraderError: when the notebook at `path` says that it is in one.
    """
    language = _said(metadata, "language_info", "name") or _said(metadata, "kernelspec", "language")
    if language and not language.lower().startswith(("python", "ipython")):
        raise GraderError(
            f"{path} is a notebook in {language}, and only Python is graded here: grade it with nbgrader autograde."
        )


def other_kernels(folder: Path, assignment: Assignment) -> list[str]:
    """A sentence for each kernel that the notebooks in a folder name, and that isn't this Python's.

    Raises:
        GraderError: when there is one, and a package that locked cells import is missing here.
    """
    others = {name: where for name in _kernels(folder) if (where := _interpreter(name)) != sys.executable}
    if not others:
        return []
    called = " and ".join(f"{name} ({where or 'which is not installed here'})" for name, where in others.items())
    if missing := _missing(folder, assignment):
        raise GraderError(
            f"Nothing was graded: the notebooks of {assignment.name} name the kernel {called}, but submissions run in "
            f"{sys.executable}, which has no {' and no '.join(missing)}. Install that there, or cellcheck in the other "
            "environment, and grade again."
        )
    return [f"The notebooks name the kernel {called}. Submissions run in {sys.executable}."]


def _kernels(folder: Path) -> list[str]:
    """The names of all but the usual kernel."""
    names = {_said(parsed(path).get("metadata"), "kernelspec", "name") for path in folder.glob("*.ipynb")}
    return sorted(names.difference(_USUAL))


def _said(metadata: Any, section: str, name: str) -> str:
    part = metadata.get(section) if isinstance(metadata, Mapping) else None
    value = part.get(name) if isinstance(part, Mapping) else None
    return value if isinstance(value, str) else ""


def _interpreter(kernel: str) -> str:
    """What a kernel is started with; empty where it isn't installed."""
    try:
        command = KernelSpecManager().get_kernel_spec(kernel).argv
    except (NoSuchKernel, OSError, ValueError):
        return ""
    # Jupyter starts a bare `python` as the one that it runs in itself.
    bare = ("python", f"python{sys.version_info[0]}", "python{}.{}".format(*sys.version_info[:2]))
    ours = bool(command) and (command[0] in bare or Path(command[0]).parent == Path(sys.executable).parent)
    return sys.executable if ours else (command or [""])[0]


def _missing(folder: Path, assignment: Assignment) -> list[str]:
    """The packages that locked cells import, and that aren't installed here."""
    own = {Path(file).parts[0].removesuffix(".py") for file in assignment.files}
    needed = {
        name
        for cells in assignment.notebooks.values()
        for cell in cells.values()
        if cell.locked and cell.cell_type == "code"
        for name in imported(cell.source)
    }
    course = {str(folder), str(folder.parent.parent)}  # nbgrader's plugins lie there, and no learner sees it
    places = [place for place in sys.path if place not in course]
    # An editable installation may bring a finder of its own. Python's own one for files looks in the course, too.
    others = [finder for finder in sys.meta_path if finder is not PathFinder and hasattr(finder, "find_spec")]
    return sorted(
        name
        for name in needed - sys.stdlib_module_names - own
        if PathFinder.find_spec(name, places) is None
        and not any(finder.find_spec(name, None) is not None for finder in others)
    )

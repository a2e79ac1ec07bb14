"""From an assignment of Otter-Grader's to one of nbgrader's, with equal marks."""

import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode, reader, v4
from nbformat.validator import normalize
from traitlets.config import Config as Settings

from cellcheck.errors import GraderError
from cellcheck.gradebook.folders import fresh_folder, unwritten
from cellcheck.gradebook.kernels import insist_on_python
from cellcheck.importing import master, student
from cellcheck.importing.config import Config
from cellcheck.importing.converted import Converted
from cellcheck.importing.marks import BEGIN_HIDDEN, BEGIN_SOLUTION, END_HIDDEN, END_SOLUTION
from cellcheck.importing.unknown import Unknown

_DELIMITERS = {
    ("ClearSolutions", "begin_solution_delimeter"): BEGIN_SOLUTION,
    ("ClearSolutions", "end_solution_delimeter"): END_SOLUTION,
    ("ClearHiddenTests", "begin_test_delimeter"): BEGIN_HIDDEN,
    ("ClearHiddenTests", "end_test_delimeter"): END_HIDDEN,
}
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class Imported:
    """An assignment that isn't written yet."""

    name: str
    """The notebook's, without ".ipynb", as nbgrader takes it."""
    notebook: NotebookNode
    files: dict[Path, Path]
    """What the notebook needs beside it: where it will be, in the folder, and where it is."""
    tested: float
    """Points that tests give."""
    by_hand: float
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    def write(self, folder: Path) -> None:
        """Makes the folder, with everything in it or not at all.

        Raises:
            GraderError: when it is there already, or can't be written.
        """
        if folder.exists():
            raise GraderError(f"{folder} is there already, and nothing was changed: name another folder with --into.")
        try:
            with fresh_folder(folder) as fresh:
                nbformat.write(self.notebook, fresh / f"{self.name}.ipynb")
                for place, file in self.files.items():
                    (fresh / place).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, fresh / place)
        except OSError as error:
            raise unwritten(error, folder) from error


def read(path: Path) -> Imported:
    """What an assignment of Otter's becomes.

    Args:
        path: a master notebook; or a learner's, whose tests are in a folder `tests` beside it, or in its metadata.

    Raises:
        GraderError: when it can't be read, or is none of Otter's.
        Unknown: for what isn't known here, and would change marks.
    """
    if path.suffix != ".ipynb":
        raise Unknown(
            f"Nothing was written: {path} isn't a notebook (.ipynb), and R Markdown and Quarto aren't known here."
        )
    with warnings.catch_warnings(
        action="ignore"
    ):  # of cells without ids, and of code that is only moved from here to there
        notebook = _read(path)
        try:
            insist_on_python(path, notebook.metadata)
        except GraderError:
            raise Unknown(f"Nothing was written: {path} isn't in Python, and nothing else is graded here.") from None
        try:
            return _converted(path, notebook)
        except (RecursionError, MemoryError):
            raise Unknown(f"Nothing was written: {path} has code that is nested too deeply to be read.") from None


def _read(path: Path) -> NotebookNode:
    """The notebook in a file.

    Raises:
        GraderError: when there is none, or it isn't as the format wants it.
    """
    try:
        _, notebook = normalize(nbformat.convert(reader.reads(path.read_text("utf-8-sig")), 4))
        nbformat.validate(notebook)
        json.dumps(notebook, ensure_ascii=False).encode()  # half a character can be read, and never be written
    except Exception as error:  # nbformat raises errors of many kinds
        why = str(error).strip() or "it isn't a notebook"
        raise GraderError(f"{path} can't be read: {why.splitlines()[0].rstrip('.')[:200]}.") from error
    return notebook


def _converted(path: Path, notebook: NotebookNode) -> Imported:
    config, into = Config(path.parent), Converted()
    if master.is_master(notebook):
        master.convert(notebook, config, into)
    else:
        tests = student.tests_of(path, notebook)
        if not tests:
            raise GraderError(
                f"{path} isn't an assignment of Otter's: it has no # BEGIN QUESTION, and there are no tests in its "
                "metadata or in a folder tests beside it."
            )
        student.convert(notebook, tests, into)
        into.notes += _others(path)
    metadata = {key: value for key, value in notebook.metadata.items() if key != "otter"}
    return Imported(
        re.sub(r"[^\w-]+", "_", path.stem),
        v4.new_notebook(cells=into.cells, metadata={"kernelspec": _KERNEL, **metadata}),
        dict(_files(path, config)),
        into.tested,
        into.by_hand,
        tuple(sorted(config.left_out | into.left_out)),
        tuple(into.notes),
    )


def insist_on_usual_delimiters(settings: Settings) -> None:
    """Makes sure that a course takes nbgrader's usual lines for those around solutions and hidden tests.

    Raises:
        GraderError: when it takes others: what is between the usual ones would be shown to learners.
    """
    for (section, name), written in _DELIMITERS.items():
        if settings[section].get(name, written) not in written:
            raise GraderError(
                f"nbgrader_config.py sets c.{section}.{name}, and an import writes nbgrader's own ({written}): import "
                "where that isn't set, and change these lines by hand."
            )


def _files(notebook: Path, config: Config) -> Iterator[tuple[Path, Path]]:
    """The files that a master notebook names, those in named folders among them. Nothing outside of its folder is one.

    Raises:
        Unknown: when one isn't there, or lies elsewhere.
    """
    folder = Path(os.path.abspath(config.folder))
    for named in config.files:
        top = Path(os.path.normpath(folder / named))
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if folder not in path.parents or not path.resolve().is_relative_to(folder.resolve()):
                raise Unknown(f"Nothing was written: {named}, which files names, isn't in the notebook's folder.")
            if not path.exists():
                raise Unknown(f"Nothing was written: {named}, which files names, isn't there.")
            if path.is_file() and path.samefile(notebook):
                raise Unknown(
                    f"Nothing was written: {named}, which files names, holds the notebook with its solutions."
                )
            if path.is_file():
                yield path.relative_to(folder), path


def _others(path: Path) -> list[str]:
    """A sentence about the files beside a learner's notebook: nothing says which of them it needs."""
    names = sorted(
        other.name
        for other in path.parent.iterdir()
        if other != path and other.name != "tests" and not other.name.startswith(".") and other.suffix != ".ipynb"
    )
    listed = ", ".join(names[:10]) + (" and more" if len(names) > 10 else "")
    return [f"Copy what it needs of what lies beside it: {listed}."] if names else []

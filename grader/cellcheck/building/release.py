"""nbgrader's own release of a source notebook, and a lint of what comes out."""

import logging
import tempfile
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from pyflakes import checker, messages
from traitlets.config import Config, PyFileConfigLoader

from cellcheck.errors import GraderError
from cellcheck.syllabus import EXPERIMENT
from cellcheck.syntax import syntax_tree


def release(source: NotebookNode, lesson: str, configuration: Path) -> str:
    """The learner's notebook: what `nbgrader generate_assignment` makes of `source`, to the byte.

    Raises:
        GraderError: when nbgrader refuses.
    """
    with tempfile.TemporaryDirectory() as folder:
        config: Config = PyFileConfigLoader(configuration.name, str(configuration.parent)).load_config()
        config.CourseDirectory.root = folder
        config.CourseDirectory.assignment_id = lesson
        directory = CourseDirectory(config=config)
        place = Path(folder, directory.source_directory, lesson)
        place.mkdir(parents=True)
        nbformat.write(source, place / f"{lesson}.ipynb")
        converter = GenerateAssignment(coursedir=directory, config=config, no_database=True)
        converter.log.setLevel(logging.ERROR)
        without_database = [p for p in converter.preprocessors if p.__name__ != "SaveCells"]
        converter.preprocessors = without_database
        converter.create_assignment = False
        try:
            converter.start()
        except NbGraderException as error:
            raise GraderError(f"{lesson}: nbgrader can't release it: {error}") from error
        return Path(folder, directory.release_directory, lesson, f"{lesson}.ipynb").read_text("utf-8")


def undefined_names(notebook: NotebookNode, *, with_experiments: bool) -> list[str]:
    """Names that some code cell uses and none defines, as a run from top to bottom would find.

    Raises:
        GraderError: when a cell isn't Python.
    """
    sources = [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and (with_experiments or EXPERIMENT not in cell.metadata.get("tags", []))
    ]
    code = TransformerManager().transform_cell("\n\n".join(sources))
    try:
        tree = syntax_tree(code)
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise GraderError(
            f"A cell of the lesson's text is not valid Python ({error.msg}): {line!r}. Correct it there."
        ) from None
    problems = checker.Checker(tree, builtins={"get_ipython", "display"}).messages
    return sorted({m.message_args[0] for m in problems if isinstance(m, messages.UndefinedName)})

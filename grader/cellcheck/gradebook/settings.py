"""Which of nbgrader's settings count here.

nbgrader itself generates an assignment, and hands it out and back: all that is set for those steps counts. Submissions
are run, marked and shown by cellcheck, so of what is set for the classes that do so in nbgrader only some counts. The
rest is named, not lost.
"""

import os
from pathlib import Path

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearHiddenTests, Execute
from traitlets.config import Config

from cellcheck.errors import GraderError

REPLACED = frozenset(
    {"Autograde", "BaseConverter", "GenerateFeedback", "NbConvertBase", "NbGraderPreprocessor", "Preprocessor"}
    | {"ClearMetadataPreprocessor", "CSSHTMLHeaderPreprocessor", "DeduplicateIds", "Execute", "ExecutePreprocessor"}
    | {"AssignLatePenalties", "GetGrades", "IgnorePattern", "LimitOutput", "NotebookClient", "OverwriteCells"}
    | {"OverwriteKernelspec", "SaveAutoGrades", "Exporter", "HTMLExporter", "TemplateExporter"}
)
"""The classes whose work is done by somebody else here."""

_EXECUTION = frozenset({"timeout", "skip_cells_with_tag"})
HONOURED = {
    "AssignLatePenalties": frozenset({"enabled", "plugin_class"}),
    "Autograde": frozenset({"exclude_overwriting", "permissions"}),
    "BaseConverter": frozenset({"permissions"}),
    "Execute": _EXECUTION,
    "ExecutePreprocessor": _EXECUTION,
    "IgnorePattern": frozenset({"enabled", "pattern"}),  # what stands on stderr costs nothing here, whatever it is
    "NotebookClient": _EXECUTION,
    "OverwriteCells": frozenset({"add_missing_cells"}),  # which is always done here
}
"""Those of their settings that count all the same."""

NARROWED = frozenset({"assignment_id", "notebook_id", "student_id"})
"""What of a course nbgrader's own commands are about; cellcheck's take that from their arguments only."""


def not_honoured(config: Config) -> list[str]:
    """The settings that change nothing here, as they are written in the configuration."""
    replaced = [
        f"c.{of}.{name}"
        for of in sorted(REPLACED & {*config})
        for name in config[of]
        if name not in HONOURED.get(of, ())
    ]
    return replaced + [f"c.CourseDirectory.{name}" for name in sorted(NARROWED & {*config.get("CourseDirectory", {})})]


_FOLDERS = ("source", "release", "submitted", "autograded", "feedback")


def insist_on_values(root: Path, directory: CourseDirectory, config: Config) -> None:
    """Refuses values with which grading would stop half-way, or overwrite what learners handed in.

    Raises:
        GraderError: when a setting that counts here has one.
        TraitError: when nbgrader itself refuses it.
    """
    grading, *_ = Autograde(coursedir=directory, config=config), Execute(config=config), ClearHiddenTests(config=config)
    settings = f"c.Autograde.permissions is {grading.permissions}: write three digits from 0 to 7, such as 444"
    insist(not set(str(grading.permissions)) - {*"01234567"}, settings)
    names = "write a list of names or patterns, such as ['*.csv']"
    insist(_texts(directory.ignore), f"c.CourseDirectory.ignore has something else than text: {names}")
    for assignment, patterns in grading.exclude_overwriting.items():
        insist(_texts(patterns), f"c.Autograde.exclude_overwriting of {assignment} isn't a list: {names}")
    steps: dict[str, str] = {}
    for step in _FOLDERS:
        folder = os.path.realpath(root / str(getattr(directory, f"{step}_directory")))
        other = steps.setdefault(folder, step)
        insist(
            other == step,
            f"c.CourseDirectory.{step}_directory and {other}_directory are the same folder, {folder}, so one would "
            "overwrite the other: name two",
        )


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple | set) and all(isinstance(one, str) for one in value)


def insist(holds: bool, otherwise: str) -> None:
    """Raises a GraderError about the settings unless something holds."""
    if not holds:
        raise GraderError(f"Nothing was done: in nbgrader_config.py, {otherwise}.")

"""Which of nbgrader's settings count here.

nbgrader itself generates an assignment, and hands it out and back: all that is set for those steps counts. Submissions
are run, marked and shown by cellcheck, so of what is set for the classes that do so in nbgrader only some counts. The
rest is named, not lost.
"""

from traitlets.config import Config

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

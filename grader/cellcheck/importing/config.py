"""What an assignment of Otter's is configured to be: what counts here, what changes no mark, and what would."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellcheck.importing.cases import read_yaml
from cellcheck.importing.unknown import Unknown

_HARMLESS = {
    *("name", "requirements", "overwrite_requirements", "environment", "run_tests", "solutions_pdf", "template_pdf"),
    *("init_cell", "check_all_cell", "export_cell", "save_environment", "ignore_modules", "student_files"),
    *("show_question_points", "runs_on", "python_version", "channel_priority_strict", "suppress_no_tests_warning"),
}
_CHANGES_MARKS = {
    "seed": "Otter sets it before each cell, and nothing does that here",
    "plugins": "a plugin may change marks",
    "autograder_files": "learners would get these files, since nbgrader gives out all that lies beside a notebook",
    "generate.seed": "Otter sets it before each cell, and nothing does that here",
    "generate.seed_variable": "Otter sets it before each cell, and nothing does that here",
    "generate.score_threshold": "it turns marks into pass or fail",
    "generate.points_possible": "it scales the marks",
    "generate.grade_from_log": "marks then come from what a learner's own run wrote down",
    "generate.serialized_variables": "marks then come from what a learner's own run wrote down",
    "generate.plugins": "a plugin may change marks",
}
_AUTOGRADERS = "generate."
"""How the keys of the section about the autograder begin here."""
_SECTION = _AUTOGRADERS.removesuffix(".")
_COUNTS = {"files", "tests", "config_file", "strip_solutions_from_all_cells", _SECTION}


@dataclass
class Config:
    """The configuration of an assignment."""

    folder: Path
    """Where its notebook is: paths start there."""
    files: list[str] = field(default_factory=list)
    doctests: bool = True
    strip_all: bool = False
    left_out: set[str] = field(default_factory=set)
    """Keys that change no mark."""

    def add(self, where: int | str, settings: Mapping[str, Any]) -> None:
        """Takes in what a cell or a file says.

        Raises:
            Unknown: when that would change marks in a way that isn't known here.
        """
        if file := settings.get("config_file"):
            try:
                text = (self.folder / str(file)).read_text("utf-8")
            except (OSError, ValueError):
                raise Unknown.at(where, f"config_file names {file}, which can't be read") from None
            self.add(str(file), {**read_yaml(str(file), text), "config_file": None})
        section = settings.get(_SECTION)
        inner = {f"{_AUTOGRADERS}{key}": value for key, value in section.items()} if isinstance(section, dict) else {}
        for key, value in {**settings, **inner}.items():
            if value is None or value is False or value in ([], {}):  # 0 is a seed, too
                continue
            if key in _CHANGES_MARKS:
                raise Unknown.at(where, f"the assignment has {key}, which isn't known here: {_CHANGES_MARKS[key]}")
            if key in _HARMLESS or key in inner:
                self.left_out.add(key)
            elif key not in _COUNTS:
                raise Unknown.at(where, f"the assignment has {key}, which isn't known here")
        files, tests = settings.get("files") or [], settings.get("tests") or {}
        if not isinstance(files, list) or not isinstance(tests, dict):
            raise Unknown.at(where, "files or tests aren't written as Otter writes them")
        self.files = list(map(str, files)) or self.files
        self.doctests = bool(tests.get("ok_format", self.doctests))
        self.strip_all = bool(settings.get("strip_solutions_from_all_cells", self.strip_all))

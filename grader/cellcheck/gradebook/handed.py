"""What was handed in for the answers that a person grades, as the learner's page shows it: code, and what it showed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellcheck.gradebook.draft import Key
from cellcheck.running.assignment import Assignment


@dataclass(frozen=True)
class CodeCell:
    """A cell of code."""

    code: str
    outputs: Sequence[Mapping[str, Any]]
    """As they stand in the autograded notebook."""


def handed_for(assignment: Assignment, notebooks: Mapping[str, str]) -> dict[Key, list[CodeCell]]:
    """By answer its cells of code: its own, or below a task those that the learner put there.

    Args:
        assignment: as it was released.
        notebooks: the text of each autograded notebook, by its name.
    """
    handed: dict[Key, list[CodeCell]] = {}
    for title, text in notebooks.items():
        cells = assignment.notebooks[title]
        if not any(cell.by_hand for cell in cells.values()):
            continue
        task = ""
        for cell in json.loads(text)["cells"]:
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if name:
                task = name if name in cells and cells[name].task else ""
            of = name if name in cells and cells[name].by_hand else task
            if of and cell["cell_type"] == "code" and cell["source"].strip():
                handed.setdefault((title, of), []).append(CodeCell(cell["source"], cell.get("outputs", [])))
    return handed

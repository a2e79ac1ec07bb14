"""The code cells of a solution, run one after another in a process of their own, and what each of them took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from cellcheck.building.source import EXPERIMENT
from cellcheck.repository import Repository

# Reads cells, and writes for each: processor seconds, seconds by the clock, what it said, its error, its points if it
# was a check.
_RUNNER = """\
import json, os, sys, time
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
def now():
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system, time.perf_counter()
shell = InteractiveShell.instance()
for source in json.load(sys.stdin):
    start = now()
    with capture_output() as said:
        ran = shell.run_cell(source)
    spent = [end - begin for begin, end in zip(start, now())]
    points = float(ran.result) if type(ran.result).__name__ == "Feedback" else None
    error = ran.error_before_exec or ran.error_in_exec
    row = [*spent, said.stdout[-2000:] + said.stderr[-2000:], repr(error) if error else "", points]
    print(json.dumps(row), flush=True)
"""


@dataclass(frozen=True)
class Ran:
    """What a cell of a solution did when it was run."""

    source: str
    experiment: bool
    worth: float | None
    """The points of the exercise that the cell checks."""
    processor: float
    clock: float
    """Seconds."""
    said: str
    """The end of what it printed."""
    error: str
    """Empty where there was none."""
    points: float | None
    """What the check gave."""

    @property
    def right(self) -> bool:
        """Nothing was raised, and a check gave full marks."""
        return not self.error and (self.worth is None or self.points == self.worth)


def run_cells(repository: Repository, lesson: str, **environment: str) -> list[Ran]:
    """Runs all code cells of the lesson's solution; a cell that fails doesn't stop the others."""
    notebook = json.loads(repository.solution(lesson).read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    with tempfile.TemporaryDirectory() as folder:  # cells write files, as lesson 14 does for its leaderboard
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _RUNNER],
            input=json.dumps(sources),
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", **environment},
            capture_output=True,
            text=True,
            check=True,
        )
    return [
        Ran(
            source,
            EXPERIMENT in cell["metadata"].get("tags", []),
            cell["metadata"].get("nbgrader", {}).get("points") if source.lstrip().startswith("check(") else None,
            *json.loads(row),
        )
        for cell, source, row in zip(cells, sources, done.stdout.splitlines(), strict=True)
    ]

"""What each cell of each lesson costs, run as in its solution: processor seconds, and whether a bar shows the rest.

    python -m benchmarks.experiments          # all lessons: twenty minutes
    python -m benchmarks.experiments 02 09    # two of them

Cells of less than a second are counted together.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.cells import run_cells
from cellcheck.repository import Repository
from cellcheck.syllabus import find_lesson, lesson_names

LEAST = 1.0  # seconds: what less costs is in the last row
LONG = 60.0  # seconds: who waits longer wants to see how long
_BAR = re.compile(r"\d+%\||it/s|s/it")


def lesson_table(repository: Repository, lesson: str) -> Table:
    """A row for each cell that costs a second or more."""
    table = Table(title=f"{lesson}: processor seconds of its cells", box=None)
    for column in ("cell", "kind", "begins with", "seconds", ""):
        table.add_column(column, justify="right" if column in ("cell", "seconds") else "left")
    rest = 0.0
    for number, ran in enumerate(run_cells(repository, lesson), start=1):
        if ran.processor < LEAST and not ran.error:
            rest += ran.processor
            continue
        bar = _BAR.search(ran.said) is not None
        note = ran.error or ("over 60, and no bar" if ran.processor > LONG and not bar else "a bar" if bar else "")
        kind = "experiment" if ran.experiment else ""
        table.add_row(str(number), kind, _first_line(ran.source), f"{ran.processor:.1f}", note)
    table.add_row("", "", "all others", f"{rest:.1f}", "")
    return table


def _first_line(source: str) -> str:
    """What the cell does first, imports and comments aside."""
    lines = [line for line in source.splitlines() if line and not line.startswith(("#", "import ", "from "))]
    return (lines or [""])[0][:70]


def main() -> None:
    """Prints a table for each lesson."""
    repository = Repository.find(Path(__file__).parent)
    console = Console(width=140)
    for lesson in [find_lesson(number)[1] for number in sys.argv[1:]] or lesson_names():
        console.print(lesson_table(repository, lesson))
        console.print()


if __name__ == "__main__":
    main()

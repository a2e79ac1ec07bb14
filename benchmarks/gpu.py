"""The solutions with a GPU and without it: is every cell right, and how long does it all take?

    python -m benchmarks.gpu              # all lessons, one after another
    python -m benchmarks.gpu 03 08 --jobs 4

Without a GPU, the second run is left out, and the table says so.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.cells import Ran, run_cells
from cellcheck.repository import Repository
from cellcheck.syllabus import find_lesson, lesson_names


def main(
    lessons: Annotated[list[str] | None, typer.Argument()] = None,
    jobs: Annotated[int, typer.Option(help="At once")] = 1,
) -> None:
    """Prints a table, and whatever went wrong."""
    repository, console = Repository.find(Path(__file__).parent), Console(width=150)
    names = [find_lesson(number)[1] for number in lessons or ()] or lesson_names()
    there = torch.cuda.is_available()
    console.print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name() if there else 'no GPU here'}")
    kinds: dict[str, dict[str, str]] = {"GPU": {}} if there else {}
    kinds["CPU"] = {"CUDA_VISIBLE_DEVICES": ""}
    rows: dict[tuple[str, str], list[Ran]] = {}
    with ThreadPoolExecutor(jobs) as pool:
        running = {
            pool.submit(run_cells, repository, name, **environment): (name, kind)
            for kind, environment in kinds.items()
            for name in names
        }
        for done in as_completed(running):
            name, kind = running[done]
            rows[name, kind] = ran = done.result()
            console.print(f"{name}, {kind}: " + ", ".join(_row(ran)))
            for each in ran:
                if not each.right:
                    console.print(f"  {each.source[:200]!r}\n  {each.error or each.points}", markup=False)
    table = Table("lesson", "", "cells right", "exercises right", "seconds", "of them experiments", box=None)
    for name in names:
        for kind in kinds:
            table.add_row(name, kind, *_row(rows[name, kind]))
    console.print(table)


def _row(ran: list[Ran]) -> tuple[str, ...]:
    checks = [each for each in ran if each.worth is not None]
    return (
        f"{sum(each.right for each in ran)} of {len(ran)}",
        f"{sum(each.right for each in checks)} of {len(checks)}",
        f"{sum(each.clock for each in ran):.0f}",
        f"{sum(each.clock for each in ran if each.experiment):.0f}",
    )


if __name__ == "__main__":
    typer.run(main)

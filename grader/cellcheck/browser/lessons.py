"""Which lessons run in the browser, and their notebooks as they stand there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat

from cellcheck.browser.parts import BrowserPart, cut
from cellcheck.building.frame import BADGE
from cellcheck.errors import GraderError
from cellcheck.repository import Repository

_LINK = re.compile(r"\[([^\]]+)\]\(\.\./(?P<lesson>\w+)/(?P=lesson)\.ipynb(?:#[^)]*)?\)")
_ASKING = """
import json, sys
from importlib.machinery import PathFinder
missing, lessons = json.loads(sys.argv[1])
usual = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in missing else usual(name, *more)
from cellcheck.errors import GraderError
from cellcheck.syllabus import find_lesson, load_lesson, load_probes
runs = []
for name in lessons:
    try:
        load_lesson(name), load_probes(name)
        exec(find_lesson(name)[0].setup(name), {})
    except (GraderError, ImportError):
        continue
    runs.append(name)
print("RUNS", json.dumps(runs))
"""
NOTE = (
    "> **In your browser.** This is version {version}, and everything you write stays in this browser: it is saved "
    "there, and nobody else has it. *Download my work*, on the page where you chose this lesson, gives you all of it "
    "as one file, or choose File > Download. The set-up cell takes longer here than elsewhere, about 20 seconds. The "
    "checks draw the public cases. Marks are given elsewhere, on cases that nobody has seen: at the end, `submit()` "
    "downloads the file to hand in."
)
A_PART = (
    "> **A part of the lesson.** {here} of its {of} exercises are here, those that need no {needed}. A grader gives no "
    "points for the others: to hand the lesson in, copy your answers into the whole notebook."
)


def running_without(repository: Repository, missing: Iterable[str]) -> list[str]:
    """The lessons whose set-up cell and exercises need none of these packages: it is tried, in a process of its own.

    Raises:
        GraderError: when that process stops.
    """
    asked = json.dumps([sorted(missing), repository.names()])
    command = [sys.executable, "-c", _ASKING, asked]
    done = subprocess.run(command, cwd=repository.root, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RUNS ")]
    if not lines:
        raise GraderError(f"Which lessons run in a browser can't be told: {done.stderr.strip()[-500:]}")
    return list(json.loads(lines[0].removeprefix("RUNS ")))


def file_name(repository: Repository, lesson: str) -> str:
    """What a lesson's notebook is called there. A browser keeps what a learner changed under its name, and shows that
    from then on; a new version has a new name, so that neither hides the other.
    """
    return f"{lesson}-{repository.version}.ipynb"


def notebook(repository: Repository, lesson: str, there: Iterable[str], part: BrowserPart | None = None) -> str:
    """The learner's notebook for the browser: without pictures from elsewhere, and it says where the work is kept.

    Of a lesson that runs only in part, it is that part.
    """
    released = nbformat.read(repository.notebook(lesson), as_version=4)
    if part is not None:
        cut(repository, released, part)
    names = set(there)

    def linked(match: re.Match[str]) -> str:
        name = match["lesson"]
        return f"[{match[1]}]({file_name(repository, name)})" if name in names else match[1]

    for cell in released.cells:
        if cell.cell_type == "markdown":
            cell.source = _LINK.sub(linked, BADGE.sub("", cell.source))
    title, _, rest = released.cells[0].source.partition("\n")
    note = NOTE.format(version=repository.version)
    if part is not None:
        note += f"\n>\n{A_PART.format(here=len(part.symbols), of=part.of, needed=part.needed)}"
    released.cells[0].source = f"{title}\n\n{note}\n{rest}"
    released.metadata.kernelspec = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    return str(nbformat.writes(released)) + "\n"


def write_notebooks(repository: Repository, folder: Path, lessons: Mapping[str, BrowserPart | None]) -> None:
    """All of them, into a folder: whole lessons, and those that have a part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in lessons.items():
        (folder / file_name(repository, name)).write_text(notebook(repository, name, lessons, part), "utf-8")

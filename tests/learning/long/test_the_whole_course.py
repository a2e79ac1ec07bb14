"""One learner goes through the whole course in Jupyter, lesson by lesson, and hands everything in.

In each lesson they look at the blank notebook, get the first exercise wrong, and then write every answer. Experiments
are left out: `cellcheck build` runs them, with these answers, when it makes the solutions.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import start_new_kernel
from nbformat import NotebookNode

from cellcheck.demo.learners import Learner
from cellcheck.learning.standing import next_up, standings
from cellcheck.syllabus import lesson_names, load_lesson
from tests.learning.learners import notebook, own

WRONG = "def {symbol}(*arguments, **named):\n    return None"


class Kernel:
    """A kernel as Jupyter starts it for an open notebook."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(self, source: str) -> tuple[bool, str]:
        """Whether a cell ran to its end, and all that it showed, as text."""
        shown: list[str] = []

        def note(message: dict[str, Any]) -> None:
            content = message["content"]
            shown.append(content.get("text") or content.get("data", {}).get("text/plain") or content.get("evalue", ""))

        reply = self.client.execute_interactive(source, timeout=600, output_hook=note)
        return reply["content"]["status"] == "ok", "\n".join(shown)


@contextmanager
def opened(path: Path) -> Iterator[Kernel]:
    surroundings = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
    manager, client = start_new_kernel(
        kernel_name="python3", env=surroundings | {"JPY_SESSION_NAME": str(path)}, cwd=str(path.parent)
    )
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def wanted(released: NotebookNode) -> list[NotebookNode]:
    """The code cells on the way to a mark: set-up, exercises and checks, in order."""
    tags = [cell.metadata.get("tags", []) for cell in released.cells]
    cells = [c for c, t in zip(released.cells, tags, strict=True) if c.cell_type == "code" and "experiment" not in t]
    return [cell for cell in cells if cell.source.strip() and "submit()" not in cell.source]


def test_from_the_first_lesson_to_the_last(tmp_path: Path) -> None:
    names = lesson_names()
    own(tmp_path, *names)
    for place, lesson in enumerate(names):
        up = next_up(standings(tmp_path))
        assert up.offer.name == lesson
        path = notebook(tmp_path, lesson)
        released = path.read_text("utf-8")
        filled = Learner("me", lesson).fill_in(released)
        exercises = load_lesson(lesson).exercises
        answers = {grade_id(cell): cell.source for cell in filled.cells}
        with opened(path) as kernel:
            begun = False
            for cell in wanted(nbformat.reads(released, as_version=4)):
                name = grade_id(cell)
                if name == f"test_{exercises[0].symbol}" and not begun:
                    begun = True  # first the blank, then a wrong answer
                    ran, output = kernel.run(cell.source)
                    assert not ran
                    assert "Traceback" not in output
                    kernel.run(WRONG.format(symbol=exercises[0].symbol))
                    ran, output = kernel.run(cell.source)
                    assert not ran
                    assert "Traceback" not in output
                    assert not standings(tmp_path)[place].begun
                    assert kernel.run(answers[exercises[0].symbol])[0]
                if name == exercises[0].symbol:
                    kernel.run(cell.source)
                    continue
                ran, output = kernel.run(answers.get(name) or cell.source)
                assert ran, f"{lesson}, {name}: {output}"
            path.write_text(nbformat.writes(filled), "utf-8")
            ran, output = kernel.run("import cellcheck; cellcheck.submit(into='.')")
            assert ran, output
        standing = standings(tmp_path)[place]
        assert standing.done == len(exercises)
        assert list(path.parent.glob("*.submission.zip"))
    assert next_up(standings(tmp_path)) is None
    typed = [sys.executable, "-m", "cellcheck"]
    output = subprocess.run([*typed, "progress", str(tmp_path)], capture_output=True, text=True, check=True).stdout
    assert all(f"{n} of {n}" in output for n in {len(load_lesson(name).exercises) for name in names})
    table = tmp_path / "marks.json"
    notebooks = [str(notebook(tmp_path, name)) for name in names]
    subprocess.run([*typed, "grade", *notebooks, "--json", str(table)], check=True, capture_output=True)
    for result in json.loads(table.read_text("utf-8"))["results"]:
        assert result["score"] == result["max_score"], result["notebook"]
        assert not result["repairs"], result["notebook"]

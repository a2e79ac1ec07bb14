"""A learner's folder to try things on."""

import json
import shutil
from pathlib import Path
from typing import Any

from cellcheck.learning.offers import released

LESSON = "01_pytorch_basics"


def own(folder: Path, *lessons: str) -> Path:
    """The folder, with a copy of each of these lessons' notebooks; the first one's path."""
    for lesson in lessons:
        (folder / lesson).mkdir(parents=True)
        shutil.copy(released()[lesson], folder / lesson)
    return notebook(folder, lessons[0])


def notebook(folder: Path, lesson: str = LESSON) -> Path:
    """Where the notebook of a lesson stands."""
    return folder / lesson / f"{lesson}.ipynb"


def cells(path: Path) -> dict[str, dict[str, Any]]:
    """A notebook's cells by their grade ids."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in cells if "nbgrader" in cell["metadata"]}


def answer(path: Path, **sources: str) -> None:
    """Writes these sources into the cells of these grade ids, with an output each."""
    content = json.loads(path.read_text("utf-8"))
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in sources:
            cell |= {"source": sources[name], "execution_count": 7}
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "said"}]
    path.write_text(json.dumps(content), "utf-8")

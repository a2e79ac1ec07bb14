"""A learner's path and an instructor's, where the two wheels are installed and no repository is around.

Run in an empty folder, by the Python that has the wheels: python -P .../tests/with_wheels.py
"""

from __future__ import annotations

import csv
import importlib.resources
import importlib.util
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

LESSON = "01_pytorch_basics"
ANSWERS = {
    "batched_dot": "def batched_dot(a, b):\n    return a @ b.transpose(1, 2)",
    "mse_loss": "def mse_loss(params, batch):\n    x, y = batch\n    return ((mlp_predict(params, x) - y) ** 2).sum()",
}
EARNED = 2.0
"""The first is right, the second is a sum where a mean should be, and the rest is blank."""


def main() -> None:
    assert not any(Path.cwd().iterdir()), "run it in an empty folder"
    assert [name for name in ("course", "lessons", "grader") if importlib.util.find_spec(name)] == []
    _learn(Path("learner"))
    _grade(Path("class"), Path("learner"))
    print("A learner and an instructor need nothing but the wheels.")


def _learn(folder: Path) -> None:
    """Opens a notebook, runs its set-up cell and all others, reads a card, and hands in."""
    folder.mkdir()
    notebook = nbformat.reads(
        (importlib.resources.files("transformer_course") / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8"),
        as_version=4,
    )
    for cell in notebook.cells:
        symbol = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = ANSWERS.get(symbol, cell.source) if cell.cell_type == "code" else cell.source
        if cell.source == "# submit()":
            cell.source = f"submit(path='{LESSON}.ipynb')"
    nbformat.write(notebook, folder / f"{LESSON}.ipynb")
    NotebookClient(
        notebook, kernel_name="python3", allow_errors=True, timeout=600, resources={"metadata": {"path": str(folder)}}
    ).execute()
    text = nbformat.writes(notebook)
    assert "Which division turns a sum into a mean?" in text
    assert (folder / f"{LESSON}.submission.zip").is_file(), text[-2000:]


def _grade(folder: Path, handed_in: Path) -> None:
    """Collects, grades, reports, exports, and hands back."""
    (folder / "downloads").mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "a-class"\n', "utf-8")
    (handed_in / f"{LESSON}.submission.zip").rename(folder / "downloads" / "ada.zip")
    for command in (
        "collect downloads",
        f"autograde {LESSON}",
        f"report {LESSON}",
        f"export {LESSON} --to csv --out marks.csv",
        f"handback {LESSON} --to folders --out feedback.zip",
    ):
        print("cellcheck", command, flush=True)
        subprocess.run([sys.executable, "-m", "cellcheck", *command.split()], cwd=folder, check=True)
    with (folder / "marks.csv").open(encoding="utf-8", newline="") as file:
        assert {row["student"]: float(row["mark"]) for row in csv.DictReader(file)} == {"ada": EARNED}
    assert (folder / "feedback" / "ada" / LESSON / f"{LESSON}.html").is_file()


if __name__ == "__main__":
    main()

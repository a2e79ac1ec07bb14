"""What Otter-Grader itself gives for the assignments of `assignments.py`.

    python -m tests.importing.otter_says     writes otter_says.csv anew; a minute

It needs otter-grader, which nothing else here does: install it into an environment of its own, and run this with that
environment's Python.
"""

import contextlib
import csv
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from tests.importing.assignments import ASSIGNMENTS, Assignment

TABLE = Path(__file__).with_suffix(".csv")
FIELDS = ("assignment", "handed_in", "question", "score", "possible")
Row = tuple[str, str, str, float, float]


def marks(name: str, assignment: Assignment, folder: Path) -> Iterator[Row]:
    """A row for each question of each that was handed in."""
    from otter.assign import main as assign
    from otter.execute import grade_notebook

    path = assignment.write(folder / "theirs", name)
    given, graded = path.parent, path.parent
    if assignment.is_master:
        assign(str(path), str(folder / "out"), no_pdfs=True, no_run_tests=True)
        given, graded = folder / "out" / "student", folder / "out" / "autograder"
    tests = sorted(map(str, (graded / "tests").glob("*.py")))
    for learner, answers in assignment.handed_in.items():
        notebook = nbformat.read(given / f"{name}.ipynb", as_version=4)
        cells = [
            cell
            for cell in notebook.cells
            if cell.cell_type == "code" and "otter_answer_cell" in cell.metadata.get("tags", ())
        ]
        for number, text in answers.items():
            cells[number].source = text
        submission = graded / "submission.ipynb"
        nbformat.write(notebook, submission)
        with contextlib.chdir(graded), contextlib.redirect_stdout(io.StringIO()):
            results = grade_notebook(submission.name, tests_glob=tests, cwd=str(graded), test_dir=str(graded / "tests"))
        submission.unlink()
        for question in sorted(results.results):
            result = results.results[question]
            yield name, learner, question, round(result.score, 6), round(result.possible, 6)


def recorded() -> list[Row]:
    """The table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            (row["assignment"], row["handed_in"], row["question"], float(row["score"]), float(row["possible"]))
            for row in csv.DictReader(file)
        ]


def main() -> None:
    """Writes the table anew."""
    rows: list[Row] = []
    for name, assignment in ASSIGNMENTS.items():
        with tempfile.TemporaryDirectory() as folder:
            rows += marks(name, assignment, Path(folder).resolve())
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        table.writerows((*row[:3], *map("{:g}".format, row[3:])) for row in rows)


if __name__ == "__main__":
    main()

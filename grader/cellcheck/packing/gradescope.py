"""Inside Gradescope's container: one submission in, `results.json` out.

The format is that of gradescope-autograders.readthedocs.io ("Autograder Specifications"): `/autograder/source` holds
the unpacked zip file, `/autograder/submission` what was handed in, `/autograder/results/results.json` what came of it.
What is printed goes to the instructor only. Where the grader itself fails there is no `results.json`: Gradescope then
says that the autograder failed, and nobody gets a zero for it.
"""

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellcheck.api import grade_notebook
from cellcheck.checking.cards import out_of, plain
from cellcheck.errors import GraderError, MissingProtection
from cellcheck.plain import harmless
from cellcheck.running.assignment import Assignment
from cellcheck.running.handed_in import BLANK, MAX_NOTEBOOKS, choose, worth
from cellcheck.running.intake import Unreadable
from cellcheck.running.listing import files_below
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson

ORDER = "package.json"
"""In the zip file: which lesson, and the seed of the hidden cases. Only root may read it there."""


def results(result: Result | str) -> dict[str, Any]:
    """What Gradescope shows a learner: a result, or the sentence that says why there is none."""
    shown = {"visibility": "visible", "stdout_visibility": "hidden", "output_format": "text"}
    if isinstance(result, str):
        return {"score": 0.0, "output": result, **shown}
    lines = [f"{out_of(result.score, result.max_score)}.", *result.repairs]
    tests = [
        {
            "name": verdict.symbol,
            "score": verdict.score,
            "max_score": verdict.max_score,
            "status": "passed" if verdict.score >= verdict.max_score else "failed",
            "output": plain(verdict),
            "output_format": "text",
            "visibility": "visible",
            "extra_data": {"status": verdict.status, "diagnosis": verdict.diagnosis},
        }
        for verdict in result.verdicts
    ]
    report = {"score": result.score, "execution_time": round(result.seconds, 1), "output": "\n".join(lines)}
    return {**report, **shown, "tests": tests}


def graded(submission: Path, lesson: str, seed: int) -> Result | str:
    """What came of what was handed in: notebooks, at any depth, of which one is the lesson's."""
    there = files_below(submission, ["__MACOSX", ".ipynb_checkpoints"]).files
    folders = sorted(
        {path.parent for path in there if path.suffix == ".ipynb"},
        key=lambda folder: (not (folder / f"{lesson}.ipynb").is_file(), len(folder.parts), folder),
    )[:MAX_NOTEBOOKS]
    if not folders and any(path.is_symlink() for path in submission.glob("*.ipynb")):
        return "This is a link, not a file. Hand in the notebook itself."
    if not folders:
        return "There is no notebook in what you handed in: upload the .ipynb file."
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MissingProtection)
            path, notes = _counting(submission, folders, Assignment.of_lesson(load_lesson(lesson)))
            result = grade_notebook(path, lesson=lesson, seed=seed)
    except Unreadable as error:
        return str(error)
    for warning in caught:
        print(warning.message)
    if result.lesson != lesson:
        return f"This is a notebook of lesson {result.lesson}, not of {lesson}. Submit the right one."
    return replace(result, repairs=(*notes, *result.repairs))


def _counting(submission: Path, folders: Sequence[Path], assignment: Assignment) -> tuple[Path, tuple[str, ...]]:
    """The notebook that counts, and what to say about the choice: no blank one goes before work in another folder."""
    named = {folder: choose(folder, assignment) for folder in folders}
    paths = {folder: chosen[assignment.name] for folder, (chosen, _) in named.items() if assignment.name in chosen}
    begun = [folder for folder, path in paths.items() if worth(path, assignment, assignment.name) > BLANK]
    for folder in [*begun, *paths]:
        first, best = (path.relative_to(submission).as_posix() for path in (next(iter(paths.values())), paths[folder]))
        passed_over = () if first == best else (f"{harmless(first)} is blank; {harmless(best)} was graded.",)
        return paths[folder], (*passed_over, *named[folder][1])
    return min(folders[0].glob("*.ipynb")), ()


def main(root: Path) -> None:
    """Grades the submission below `root`.

    Raises:
        GraderError: when nothing can be graded here; that is not the learner's fault.
    """
    order = json.loads((root / "source" / ORDER).read_text("utf-8"))
    result = graded(root / "submission", order["lesson"], order["seed"])
    target = root / "results" / "results.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(results(result), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except GraderError as error:
        raise SystemExit(str(error)) from None

"""`cellcheck build`: makes the notebooks, or says which ones are out of step."""

import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from cellcheck.building.downloads import insist_on_downloads
from cellcheck.building.origins import code_of, made_from
from cellcheck.building.pictures import attached
from cellcheck.building.release import release, undefined_names
from cellcheck.building.source import comparable, source_notebook
from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from cellcheck.soundness import insist_on_sound
from cellcheck.syllabus import CONFIGURATION, VARIABLE, load_lesson

CELL_SECONDS = 300
_CLAIM = re.compile(r"<!-- claim: (\w+) -->")
_TEST = re.compile(r"^def test_(\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class _Committed:
    """What stands in `solutions/` for a lesson, what it was made from, and what it would be made from now."""

    solution: NotebookNode | None
    then: dict[str, str]
    now: dict[str, str]

    @classmethod
    def of(cls, repository: Repository, lesson: str) -> Self:
        path = repository.solution(lesson)
        solution = nbformat.read(path, as_version=4) if path.is_file() else None
        return cls(solution, _remembered(repository, lesson), made_from(repository, lesson, solution))

    def pictures(self) -> dict[str, dict[str, str]]:
        """Those that needn't be drawn again, since what draws them is still the same."""
        return attached(self.solution) if self.solution and self.then["drawn"] == self.now["drawn"] else {}

    def is_still(self, solution: NotebookNode) -> bool:
        return self.solution is not None and self.then == self.now and comparable(self.solution) == comparable(solution)


def build(repository: Repository, lesson: str, say: Callable[[str], None]) -> None:
    """Writes the learner's notebook and the solution of a lesson; executes the solution only when its code changed.

    Raises:
        GraderError: when the text or an exercise is at fault, a cell of the solution fails, or a file that the lesson
            downloads can't be had.
    """
    insist_on_sound(load_lesson(lesson))
    committed = _Committed.of(repository, lesson)
    solution, learners = _make(repository, lesson, committed)
    _write(repository.notebook(lesson), learners)
    if not committed.is_still(solution):
        if not _keep_outputs(committed, solution):
            insist_on_downloads(repository, lesson)
            say(f"{lesson}: executing the solution")
            _execute(repository, solution, lesson)
        nbformat.write(solution, _parent_made(repository.solution(lesson)))
        _remember(repository, lesson, solution)
    say(f"{lesson}: built")


def out_of_step(repository: Repository, lesson: str) -> list[str]:
    """Sentences about what is committed and is not what the lesson's text and the library make; empty when in step."""
    committed = _Committed.of(repository, lesson)
    solution, learners = _make(repository, lesson, committed)
    path = repository.notebook(lesson)
    sentences = []
    if not path.is_file() or path.read_text("utf-8") != learners:
        sentences.append(f"{path.relative_to(repository.root)} is not what the lesson's text makes.")
    if not committed.is_still(solution):
        sentences.append(
            f"{repository.solution(lesson).relative_to(repository.root)} is not what the lesson's text and "
            "the library make, or was not executed since they changed."
        )
    return sentences


def _make(repository: Repository, lesson: str, committed: _Committed) -> tuple[NotebookNode, str]:
    solution = source_notebook(repository, lesson, committed.pictures())
    learners = release(solution, lesson, repository.root / CONFIGURATION)
    notebook = nbformat.reads(learners, as_version=4)
    for with_experiments in (True, False):
        missing = undefined_names(notebook, with_experiments=with_experiments)
        if missing:
            which = "" if with_experiments else " without its experiments"
            raise GraderError(
                f"{lesson}: the learner's notebook{which} never defines {', '.join(missing)}: "
                "import it in the lesson's set-up cell."
            )
    _insist_on_measured_claims(repository, lesson)
    return solution, learners


def _insist_on_measured_claims(repository: Repository, lesson: str) -> None:
    """A sentence that is marked as a claim looks measured: in a course with tests, one of them must measure it."""
    tests, text = repository.root / "tests", repository.text(lesson)
    measured = {name for path in tests.rglob("*.py") for name in _TEST.findall(path.read_text("utf-8"))}
    for number, line in enumerate(text.read_text("utf-8").splitlines(), start=1):
        for claim in _CLAIM.findall(line):
            if tests.is_dir() and claim not in measured:
                raise GraderError(
                    f"{text}, line {number}, claims {claim}, and nothing in tests/ measures it: write a test called "
                    f"test_{claim}, or take the mark out."
                )


def _execute(repository: Repository, notebook: NotebookNode, lesson: str) -> None:
    metadata = notebook.metadata.copy()
    # The cells run in an empty folder, and find the course from there.
    variables = {VARIABLE: str(repository.folder), "JPY_SESSION_NAME": ""}  # nobody sits before it, to be asked
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            record_timing=False,
            resources={"metadata": {"path": folder}},
            extra_arguments=["--IPKernelApp.log_level=ERROR"],  # it warns of others on this machine: nobody is to worry
        )
        try:
            client.execute(env=os.environ | variables)
        except CellExecutionError as error:
            raise GraderError(f"{lesson}: a cell of the solution fails.\n{error}") from error
    notebook.metadata = metadata  # the kernel adds its Python version, which would reach the learner's notebook
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            _must_be_full_marks(cell, lesson)


def _must_be_full_marks(cell: NotebookNode, lesson: str) -> None:
    marks = [o.data.get("text/plain") for o in cell.outputs if o.output_type == "execute_result"]
    if marks != [repr(float(cell.metadata.nbgrader.points))]:
        raise GraderError(f"{lesson}: the solution itself does not pass {cell.source}: got {marks}.")


# --- what is committed already --------------------------------------------------------------------------------


def _keep_outputs(committed: _Committed, solution: NotebookNode) -> bool:
    """Takes over what the committed solution put out, if what it ran is still the same: true when it is.

    What the build itself writes (the lines that fetch the course, links, how hints unfold) changes no output, nor do
    comments and docstrings. How many points an exercise has is what its check puts out.
    """
    if committed.solution is None or committed.then["executed"] != committed.now["executed"]:
        return False
    before, now = _by_code(committed.solution), _by_code(solution)
    if [ran for *ran, _ in before] != [ran for *ran, _ in now]:
        return False
    for (*_, ran), (*_, cell) in zip(before, now, strict=True):
        cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    return True


def _by_code(notebook: NotebookNode) -> list[tuple[bytes, float | None, NotebookNode]]:
    """The code cells by what they run for, and by their points; the set-up cell is the build's own."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    marks = [cell.metadata.get("nbgrader", {}).get("points") for cell in cells]
    run_by = [b"" if cell.id == "setup" else _run_by(cell) for cell in cells]
    return list(zip(run_by, marks, cells, strict=True))


def _run_by(cell: NotebookNode) -> bytes:
    try:
        return code_of(cell.source)
    except SyntaxError:  # a line for the notebook's own ears, such as %matplotlib inline
        return str(cell.source).encode()


def _record_path(repository: Repository) -> Path:
    return repository.root / "solutions" / ".made_from.json"


def _records(repository: Repository) -> dict[str, dict[str, str]]:
    path = _record_path(repository)
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _remembered(repository: Repository, lesson: str) -> dict[str, str]:
    return _records(repository).get(lesson, {"executed": "", "drawn": ""})


def _remember(repository: Repository, lesson: str, solution: NotebookNode) -> None:
    records = _records(repository) | {lesson: made_from(repository, lesson, solution)}
    _write(_record_path(repository), json.dumps(records, indent=1, sort_keys=True) + "\n")


def _write(path: Path, text: str) -> None:
    _parent_made(path).write_text(text, encoding="utf-8")


def _parent_made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path

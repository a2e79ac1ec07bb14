"""nbgrader's own notebooks, those of its tests and of its documentation, graded by nbgrader and by us.

    python -m tests.assignments.conformance [NAME ...]   writes conformance.csv anew; a quarter of an hour

They come with the package. Each that has marked cells is an assignment of its own, and is handed in as it was released,
with the source's own answers, and as nbgrader's tests hand it in where they have it changed (`submitted-changed`
beside `submitted-unchanged`). `conformance.csv` has a line for each that was handed in: what nbgrader gives, cell by
cell, what we give, and why, where that differs. The reasons are written by hand, and kept.
"""

import csv
import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import nbgrader
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course
from tests.assignments.sources import CONFIG
from tests.warm import PATH, run

NOTEBOOKS = Path(nbgrader.__file__).parent
AUTOTESTS = NOTEBOOKS / "docs" / "source" / "user_guide" / "autotests.yml"
TABLE = Path(__file__).with_suffix(".csv")
NAME = "a"
_CHANGED = re.compile(r"(?P<source>autotest-\w+|submitted)-(?P<how>.+)")
_SAYS_SO = re.compile(r"(\w+(?:Error|Exception|Timeout|Key|Cell|Violation|Grade\w*)): ")


@dataclass(frozen=True)
class Case:
    """A source notebook, and what is handed in of it, by learner."""

    source: Path
    changed: Mapping[str, Path]

    @property
    def name(self) -> str:
        return str(self.source.relative_to(NOTEBOOKS))


def cases() -> list[Case]:
    """All notebooks of nbgrader's with cells that it marks, those that are an earlier version of another left out."""
    marked = [path for path in sorted(NOTEBOOKS.rglob("*.ipynb")) if _is_marked(path)]
    changed: dict[Path, dict[str, Path]] = defaultdict(dict)
    for path in marked:
        if (match := _CHANGED.fullmatch(path.stem)) and match["how"] != "hidden":
            unchanged = path.with_stem(f"{match['source']}{'-unchanged' * (match['source'] == 'submitted')}")
            if unchanged != path:
                changed[unchanged][match["how"]] = path
    of_another = {path for group in changed.values() for path in group.values()}
    guide = NOTEBOOKS / "docs" / "source" / "user_guide"
    return [
        Case(path, changed.get(path, {}))
        for path in marked
        if path not in of_another and (guide not in path.parents or "source" in path.relative_to(guide).parts)
    ]


def _is_marked(path: Path) -> bool:
    notebook = json.loads(path.read_text("utf-8"))
    sheets = notebook.get("worksheets") or [notebook]
    return any(cell.get("metadata", {}).get("nbgrader") for sheet in sheets for cell in sheet["cells"])


Given = dict[str, str]
"""What each learner gets: the scores of the cells that a program marks, or in what kind of error it ends."""


def both(case: Case, folder: Path) -> tuple[Given, Given]:
    """What nbgrader gives, and what we give."""
    theirs, ours = folder / "theirs", folder / "ours"
    for root in (theirs, ours):
        source = root / "source" / NAME / f"{case.source.stem}.ipynb"
        source.parent.mkdir(parents=True)
        for path in (case.source, *case.source.parent.glob("*.png")):  # some show a picture beside them
            shutil.copy(path, source.with_name(path.name))
        (root / "nbgrader_config.py").write_text(CONFIG)
        shutil.copy(AUTOTESTS, root)
    handed = {"source": case.source, **case.changed}
    return _by_nbgrader(theirs, case, handed), _by_us(ours, case, handed)


def _hand_in(root: Path, case: Case, handed: Mapping[str, Path]) -> None:
    released = root / "release" / NAME / f"{case.source.stem}.ipynb"
    for learner, path in {**handed, "released": released}.items():
        submitted = root / "submitted" / learner / NAME / f"{case.source.stem}.ipynb"
        submitted.parent.mkdir(parents=True)
        shutil.copy(path, submitted)


def _by_nbgrader(root: Path, case: Case, handed: Mapping[str, Path]) -> Given:
    environment = PATH | {"OMP_NUM_THREADS": "1", "HOME": str(root.parent)}
    done = run(["nbgrader", "generate_assignment", NAME], root, environment)
    if done.code:
        return dict.fromkeys([*handed, "released"], f"isn't released: {_kind(done.output)}")
    _hand_in(root, case, handed)
    given: Given = {}
    for learner in sorted([*handed, "released"]):
        done = run(["nbgrader", "autograde", NAME, f"--student={learner}"], root, environment)
        given[learner] = f"isn't graded: {_kind(done.output)}" if done.code else _scores(root, learner)
    return given


def _by_us(root: Path, case: Case, handed: Mapping[str, Path]) -> Given:
    everybody = sorted([*handed, "released"])
    try:
        Course.open(root).ensure_assignment(NAME, plain=True)
        _hand_in(root, case, handed)
    except GraderError as error:
        return dict.fromkeys(everybody, f"isn't released: {_in_one_line(error, root)}")
    with chdir(root):
        done = CliRunner().invoke(cli.app, ["autograde", NAME, "--seed", "1"])
    if done.exception and not isinstance(done.exception, SystemExit | GraderError):
        raise done.exception
    if isinstance(done.exception, GraderError):
        return dict.fromkeys(everybody, f"isn't graded: {_in_one_line(done.exception, root)}")
    return {learner: _scores(root, learner) for learner in everybody}


def _in_one_line(error: Exception, root: Path) -> str:
    """What is said, without where this machine has things."""
    return " ".join(str(error).replace(f"{root}/", "").replace(sys.executable, "python").split())


def _scores(root: Path, learner: str) -> str:
    """What the gradebook says of the cells that a program marks; it may not know the learner."""
    with Course.open(root).gradebook() as gradebook:
        for submission in gradebook.assignment_submissions(NAME):
            if submission.student_id == learner:
                grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
                shown = [f"{grade.name} {_points(grade)}" for grade in sorted(grades, key=lambda grade: grade.name)]
                return ", ".join(shown) or "nothing to mark"
    return "isn't graded"


def _points(grade: object) -> str:
    score = getattr(grade, "auto_score", None)
    return "by hand" if score is None else f"{score:g}/{getattr(grade, 'max_score', 0):g}"


def _kind(output: str) -> str:
    """The last kind of error that nbgrader names."""
    named = _SAYS_SO.findall(output)
    return named[-1] if named else "an error"


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    notebook: str
    handed_in: str
    nbgrader: str
    ours: str
    why: str = ""

    @property
    def agrees(self) -> bool:
        """What isn't released is refused in other words here."""
        refused = "isn't released: "
        return self.nbgrader == self.ours or (self.nbgrader.startswith(refused) and self.ours.startswith(refused))


def lines_of(case: Case, why: Mapping[tuple[str, str], str]) -> Iterator[Line]:
    """What both give for a notebook, now."""
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = both(case, Path(folder))
    for learner in sorted(theirs):
        yield Line(case.name, learner, theirs[learner], ours[learner], why.get((case.name, learner), ""))


def recorded() -> list[Line]:
    """The table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [Line(**row) for row in csv.DictReader(file)]


def main(names: Sequence[str] = ()) -> None:
    """Writes the table anew, or the lines of the notebooks whose names end so."""
    there = recorded() if TABLE.exists() else []
    why = {(line.notebook, line.handed_in): line.why for line in there}
    lines: list[Line] = []
    for case in cases():
        old = [line for line in there if line.notebook == case.name]
        new = list(lines_of(case, why)) if not names or case.name.endswith(tuple(names)) else old
        lines += new
        if new != old:
            print(
                case.name, *(f"  {line.handed_in}: {line.nbgrader} | {line.ours}" for line in new), sep="\n", flush=True
            )
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Line.__dataclass_fields__)
        table.writerows((line.notebook, line.handed_in, line.nbgrader, line.ours, line.why) for line in lines)


if __name__ == "__main__":
    main(sys.argv[1:])

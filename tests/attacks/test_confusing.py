"""Confusing whoever reads a submission: odd files, odd names, odd forms of a notebook."""

import io
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cellcheck.batch import Failure, Job, grade_files
from cellcheck.demo.run import make_course
from cellcheck.errors import GraderError
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.running.grade import Result, grade
from cellcheck.running.handed_in import other_files
from cellcheck.running.limits import Limits
from tests.attacks.attacks import (
    CANARY,
    LESSON,
    POINTS,
    SEED,
    Attack,
    answer,
    assert_nothing_told,
    carry_out,
    code,
    notebook,
    setup,
)

COURSE = Path("/nowhere")
PICK = code(answer("pick"), "pick")
SETUP = code(setup(COURSE))
WRONG = code("def pick(values, index): return values", "pick")
BLANK = code("def pick(values, index):\n    # YOUR CODE HERE\n    raise NotImplementedError()", "pick")
LIMITS = Limits(cell_seconds=30.0, probe_seconds=30.0)


def beside(*cells: object, **more: object) -> bytes:
    """A right answer, and what else the notebook holds."""
    return notebook([SETUP, PICK, *cells], **more)  # type: ignore[list-item]


# What the file holds.
WORTH_ITS_POINTS = {
    "sources that are lists": notebook([c | {"source": str(c["source"]).splitlines(True)} for c in (SETUP, PICK)]),
    "sources that are lists of odd things": notebook([SETUP, PICK | {"source": [answer("pick"), 3, None, {}]}]),
    "a source that is a number": beside(code("") | {"source": 7}),
    "cells that are none": beside(None, 3, "x", [], {}),
    "metadata that is a list": beside(code("x = 1") | {"metadata": [1]}),
    "a mark that is a list": beside(code("x = 1", nbgrader=["pick"])),
    "a mark that is a word": beside(code("x = 1", nbgrader="pick")),
    "equal ids": notebook([SETUP | {"id": "a"}, PICK | {"id": "a"}, code("x = 1") | {"id": "a"}]),
    "equal grade ids, the last one right": notebook([SETUP, WRONG, PICK]),
    "equal grade ids, a blank among them": beside(BLANK),
    "two set-up cells, one of another lesson": beside(code('check = cellcheck.checks("02_tokenizer")')),
    "no kernel at all": beside(metadata={"kernelspec": {"name": "bash", "argv": ["rm", "-rf"]}}),
    "format 5": beside(nbformat=5, nbformat_minor=99),
    "a format that is no number": beside(nbformat="4"),
    "a mark for the order of bytes": b"\xef\xbb\xbf" + beside(),
    "not a number": notebook([SETUP, code(answer("pick"), nbgrader={"grade_id": "pick", "points": float("nan")})]),
    "equal keys": b'{"cells": [], "cells": ' + json.dumps([SETUP, PICK]).encode() + b"}",
    "half a letter": beside(code("x = '\ud800'")),
    "a name with an accent, in two ways": beside(code("\u00e9 = 1\ne\u0301 = 2\nassert \u00e9 == 2")),
    "a name in other letters": notebook([SETUP, WRONG, code(answer("pick").replace("def pick", "def \U0001d4c5ick"))]),
    "letters from right to left": beside(code("x = 1 # \u202e\u2066 }; return right")),
    "letters that steer a terminal": beside(code("raise ValueError('\\x1b[2J\\x1b]0;told\\x07')")),
    "a null in a cell": beside(code("x = 1\0")),
}
WORTH_NOTHING = {
    "equal grade ids, the last one wrong": beside(WRONG),
    "a right answer in a text cell": notebook([SETUP, WRONG, PICK | {"cell_type": "markdown", "metadata": {}}]),
}
DESERVED = dict.fromkeys(WORTH_ITS_POINTS, POINTS["pick"]) | dict.fromkeys(WORTH_NOTHING, 0.0)


@pytest.mark.parametrize("name", DESERVED)
def test_odd_notebooks_get_the_points_they_deserve(name: str) -> None:
    data = (WORTH_ITS_POINTS | WORTH_NOTHING)[name]
    result = grade(data, SEED, lesson=LESSON, limits=LIMITS)
    assert result.score == DESERVED[name], result
    assert_nothing_told(result)


REDEFINED = """
def check(*args): raise SystemExit("told: checked")
class cellcheck:
    checks = staticmethod(lambda lesson: check)
print = open = len = sum = range = type = isinstance = None
torch = np = nn = None
__name__ = "transformer_course.mlp"
In = Out = _ = __builtins__ = None
"""


def test_cells_may_redefine_anything(course: Path) -> None:
    carry_out(Attack("redefined", (REDEFINED,), hurts_itself=True), course)


def test_what_a_cell_says_cannot_steer_a_terminal() -> None:
    data = notebook([SETUP, PICK, code("raise ValueError('\\x1b[2J\\x1b]0;owned\\x07 \\u202e gnorw')")])
    result = grade(data, SEED, lesson=LESSON, limits=LIMITS)
    shown = io.StringIO()
    Console(file=shown, force_terminal=True, color_system=None).print("\n".join(result.repairs), markup=False)
    assert not {"\x1b", "\x07", "\u202e"} & {*shown.getvalue()}


# --- what lies in a folder --------------------------------------------------------------------------------------


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Paths that are no notebooks."""
    (tmp_path / "secret").write_text(CANARY)
    (tmp_path / "folder.ipynb").mkdir()
    os.mkfifo(tmp_path / "fifo.ipynb")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "secret")
    (tmp_path / "broken.ipynb").symlink_to(tmp_path / "nothing")
    (tmp_path / "circle.ipynb").symlink_to(tmp_path / "circle.ipynb")
    (tmp_path / "device.ipynb").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket.ipynb"))
        yield {path.stem: path for path in tmp_path.glob("*.ipynb")} | {
            "zero": Path("/dev/zero"),
            "gone": tmp_path / "gone",
        }


def test_things_that_are_not_files_stop_no_batch(odd: dict[str, Path]) -> None:
    outcomes = dict(grade_files(list(odd.values()), Job(SEED, LESSON)))
    assert len(outcomes) == 9
    assert all(isinstance(outcome, Failure) for outcome in outcomes.values())
    assert CANARY not in repr(outcomes)


def test_other_files_come_from_the_folder_only(odd: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "handed in"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "helper.py").write_text("x = 1")
    (folder / "link.py").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    (folder / "circle").symlink_to(folder)
    os.mkfifo(folder / "fifo.py")
    (folder / "e\u0301.txt").write_text("one")
    (folder / "\u00e9.txt").write_text("other")
    (folder / "\u202egpj.py").write_text("reversed")
    (folder / "-rf *;$(touch x)\n.txt").write_text("odd")
    (folder / os.fsdecode(b"\xff.txt")).write_text("no letters")
    (folder / "binary.txt").write_bytes(b"\xff\xfe\x00")
    os.truncate(folder / "binary.txt", 2**33)
    files = other_files(folder / f"{LESSON}.ipynb")
    assert {"inner/helper.py", "e\u0301.txt", "\u00e9.txt"} <= files.keys()
    assert CANARY.encode() not in b" ".join(files.values())
    assert not {name for name in files if name.startswith(("/", "..", "up", "circle", "link", "fifo", "binary"))}


@pytest.mark.parametrize("name", ["/tmp/attacked.py", "../attacked.py", "a/../../attacked.py", "/attacked.py"])
def test_no_name_leads_out_of_the_working_folder(name: str, course: Path) -> None:
    seek = code(
        "import glob\nassert not glob.glob('/attacked*') + glob.glob('/tmp/../attacked*') + glob.glob('/tmp/attacked*')"
    )
    data = notebook([SETUP, seek, PICK])
    result = grade(data, SEED, files={name: b"x = 1", "fine.py": b"y = 2"}, limits=LIMITS)
    assert result.score == POINTS["pick"]
    assert not [r for r in result.repairs if "AssertionError" in r]


# --- the way into the gradebook ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, dict[str, Any]]:
    """A class in which everybody is up to something; one is honest."""
    folder = tmp_path_factory.mktemp("confused")
    course, _ = make_course(Repository.find(Path(__file__).parent), folder / "demo", (LESSON,))
    course.ensure_assignment(LESSON)
    secret = folder / "secret.txt"
    secret.write_text(CANARY)

    def place(student: str, name: str = f"{LESSON}.ipynb") -> Path:
        path = course.submission(student, LESSON) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    honest = notebook([SETUP, PICK, code("check(pick)", "test_pick")])
    for student in ("honest", "links", "fifo", "names", "pages"):
        place(student).write_bytes(honest)
    for name in ("link.txt", "inner/link.txt", "timestamp.txt"):
        place("links", name).symlink_to(secret)
    place("links", "folder").symlink_to(folder)
    os.mkfifo(place("fifo", "fifo.txt"))
    place("folder").mkdir()
    os.mkfifo(place("pipe"))
    place("link").symlink_to(secret)
    (course.submission("linked", LESSON).parent).mkdir(parents=True)
    course.submission("linked", LESSON).symlink_to(folder)
    for name in ("e\u0301.txt", "\u00e9.txt", "\u202etxt.py", "new\nline.txt", "<script>.txt", "[bold]x.txt"):
        place("names", name).write_text("odd")
    place("two", "<script>alert(1)<\u2215script>.ipynb").write_bytes(honest)
    mark = {"points": 99, "grade": True, "locked": False, "solution": False, "schema_version": 3}
    forged = [code("99", nbgrader={"grade_id": name} | mark) for name in ("test_pick", "bonus")]
    place("marks").write_bytes(notebook([SETUP, WRONG, *forged]))
    place("pages").write_bytes(notebook([SETUP, PICK, code("raise ValueError('<script>alert(1)</script>')")]))
    outcomes = autograde_assignment(course, LESSON, Job(SEED, LESSON, limits=LIMITS), lambda news: None).outcomes
    return course, outcomes


def score(course: Course, student: str) -> float:
    """What stands in the gradebook."""
    with course.gradebook() as gradebook:
        return float(gradebook.find_submission_notebook(LESSON, LESSON, student).score)


@pytest.mark.parametrize("student", ["honest", "links", "fifo", "names", "two", "pages"])
def test_honest_work_keeps_its_marks(graded: tuple[Course, dict[str, Any]], student: str) -> None:
    course, outcomes = graded
    assert isinstance(outcomes[student], Result), outcomes[student]
    assert outcomes[student].score == score(course, student) == POINTS["pick"]


@pytest.mark.parametrize("student", ["folder", "pipe", "link", "linked"])
def test_things_that_are_not_files_are_refused(graded: tuple[Course, dict[str, Any]], student: str) -> None:
    assert isinstance(graded[1][student], Failure)


def test_points_that_learners_give_themselves_do_not_count(graded: tuple[Course, dict[str, Any]]) -> None:
    assert score(graded[0], "marks") == graded[1]["marks"].score == 0


def test_nothing_is_copied_out_of_another_folder(graded: tuple[Course, dict[str, Any]]) -> None:
    course, outcomes = graded
    assert CANARY not in repr(outcomes)
    for step in (course.directory.autograded_directory, course.directory.feedback_directory, ".cellcheck"):
        for path in (course.root / step).rglob("*"):
            assert not path.is_symlink()
            assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


def test_no_page_runs_a_learners_script(graded: tuple[Course, dict[str, Any]]) -> None:
    for student in ("pages", "two", "names"):
        assert "<script>alert" not in graded[0].feedback(student, LESSON).read_text("utf-8")


def test_a_path_is_not_accepted_as_a_lesson() -> None:
    for lesson in ("../01_pytorch_basics", "/etc/passwd", "", "01_pytorch_basics\0"):
        with pytest.raises(GraderError):
            grade(notebook([code("x = 1")]), SEED, lesson=lesson)

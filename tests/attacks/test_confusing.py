"""Confusing whoever reads a submission: odd files, odd names, odd forms of a notebook."""

from __future__ import annotations

import io
import json
import os
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader.batch import Failure, Job, grade_files
from grader.demo.run import make_course
from grader.errors import GraderError
from grader.gradebook.autograde import autograde_assignment
from grader.gradebook.course import Course
from grader.repository import Repository
from grader.running.grade import Result, grade
from grader.running.handed_in import other_files
from grader.running.intake import Unreadable, read_file
from grader.running.limits import Limits
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


def old_form() -> bytes:
    """nbformat 3: worksheets, and `input` where `source` stands now."""
    cells = [
        {"cell_type": "code", "input": cell["source"], "language": "python", "outputs": []} for cell in (SETUP, PICK)
    ]
    return json.dumps({"worksheets": [{"cells": cells}], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}).encode()


def zipped(name: str) -> bytes:
    """An archive with a name that leads out of the folder."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(name, notebook([SETUP, PICK]))
    return made.getvalue()


# What the file holds, and the points that it is worth; None where it is not a notebook.
FORMS: dict[str, tuple[bytes, float | None]] = {
    "sources that are lists": (
        notebook([c | {"source": str(c["source"]).splitlines(True)} for c in (SETUP, PICK)]),
        1.0,
    ),
    "sources that are lists of odd things": (notebook([SETUP, PICK | {"source": [answer("pick"), 3, None, {}]}]), 1.0),
    "a source that is a number": (notebook([SETUP, PICK, code("") | {"source": 7}]), 1.0),
    "cells that are none": (notebook([SETUP, PICK, None, 3, "x", [], {}]), 1.0),  # type: ignore[list-item]
    "metadata that is a list": (notebook([SETUP, PICK, code("x = 1") | {"metadata": [1]}]), 1.0),
    "a mark that is a list": (notebook([SETUP, PICK, code("x = 1", nbgrader=["pick"])]), 1.0),
    "a mark that is a word": (notebook([SETUP, PICK, code("x = 1", nbgrader="pick")]), 1.0),
    "equal ids": (notebook([SETUP | {"id": "a"}, PICK | {"id": "a"}, code("x = 1") | {"id": "a"}]), 1.0),
    "equal grade ids, the last one wrong": (notebook([SETUP, PICK, WRONG]), 0.0),
    "equal grade ids, the last one right": (notebook([SETUP, WRONG, PICK]), 1.0),
    "equal grade ids, a blank among them": (notebook([SETUP, PICK, BLANK]), 1.0),
    "a right answer in a text cell": (notebook([SETUP, WRONG, PICK | {"cell_type": "markdown", "metadata": {}}]), 0.0),
    "two set-up cells, one of another lesson": (
        notebook([SETUP, PICK, code('check = grader.checks("02_tokenizer")')]),
        1.0,
    ),
    "no kernel at all": (
        notebook([SETUP, PICK], metadata={"kernelspec": {"name": "bash", "argv": ["rm", "-rf"]}}),
        1.0,
    ),
    "format 5": (notebook([SETUP, PICK], nbformat=5, nbformat_minor=99), 1.0),
    "a format that is no number": (notebook([SETUP, PICK], nbformat="4"), 1.0),
    "format 3": (old_form(), None),
    "a mark for the order of bytes": (b"\xef\xbb\xbf" + notebook([SETUP, PICK]), 1.0),
    "two bytes a letter": (notebook([SETUP, PICK]).decode().encode("utf-16"), None),
    "zeros": (b"\0" * 1000, None),
    "nested without end": (b"[" * 10**6, None),
    "a number of many digits": (b'{"cells": [' + b"9" * 10**5 + b"]}", None),
    "not a number": (
        notebook([SETUP, PICK | {"metadata": {"nbgrader": {"grade_id": "pick", "points": float("nan")}}}]),
        1.0,
    ),
    "equal keys": (b'{"cells": [], "cells": ' + json.dumps([SETUP, PICK]).encode() + b"}", 1.0),
    "half a letter": (notebook([SETUP, PICK, code("x = '\ud800'")]), 1.0),
    "a name with an accent, in two ways": (
        notebook([SETUP, PICK, code("\u00e9 = 1\ne\u0301 = 2\nassert \u00e9 == 2")]),
        1.0,
    ),
    "a name in other letters": (
        notebook(
            [SETUP, WRONG, code("def \U0001d4c5ick(values, index): return values.gather(1, index[:, None])[:, 0]")]
        ),
        1.0,
    ),
    "letters from right to left": (notebook([SETUP, PICK, code("x = 1 # \u202e\u2066 }; return right")]), 1.0),
    "letters that steer a terminal": (
        notebook([SETUP, PICK, code("raise ValueError('\\x1b[2J\\x1b]0;told\\x07')")]),
        1.0,
    ),
    "a null in a cell": (notebook([SETUP, PICK, code("x = 1\0")]), 1.0),
    "a zip file": (zipped("../../../gradebook.db"), None),
    "a zip file of a name that looks harmless": (zipped(f"{LESSON}.ipynb"), None),
    "a pickle": (b"cos\nsystem\n(S'touch /tmp/attacked'\ntR.", None),
    "a page": (b"<html><script>alert(1)</script></html>", None),
}


@pytest.mark.parametrize("name", FORMS)
def test_odd_notebooks_have_the_points_they_deserve(name: str) -> None:
    data, deserved = FORMS[name]
    if deserved is None:
        with pytest.raises(Unreadable) as refused:
            grade(data, SEED, lesson=LESSON, limits=LIMITS)
        assert "\n" not in str(refused.value)
        return
    result = grade(data, SEED, lesson=LESSON, limits=LIMITS)
    assert result.score == deserved * POINTS["pick"], result
    assert_nothing_told(result)


REDEFINED = """
def check(*args): raise SystemExit("told: checked")
class grader:
    checks = staticmethod(lambda lesson: check)
print = open = len = sum = range = type = isinstance = None
torch = np = nn = None
__name__ = "course.mlp"
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


def test_only_files_are_read(odd: dict[str, Path]) -> None:
    assert len(odd) == 9
    for name, path in odd.items():
        with pytest.raises(Unreadable) as refused:
            read_file(path)
        assert CANARY not in str(refused.value), name


def test_what_is_no_file_stops_no_batch(odd: dict[str, Path]) -> None:
    outcomes = dict(grade_files(list(odd.values()), Job(SEED, LESSON)))
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
    found = other_files(folder / f"{LESSON}.ipynb")
    assert {"inner/helper.py", "e\u0301.txt", "\u00e9.txt"} <= found.keys()
    assert CANARY.encode() not in b" ".join(found.values())
    assert not {name for name in found if name.startswith(("/", "..", "up", "circle", "link", "fifo", "binary"))}


OUTSIDE = {
    "absolute": "/tmp/attacked.py",
    "up": "../attacked.py",
    "up and up": "a/../../attacked.py",
    "in the root": "/x.py",
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out_of_the_working_folder(name: str, course: Path) -> None:
    seek = code(
        "import glob\nassert not glob.glob('/attacked*') + glob.glob('/tmp/../attacked*') + glob.glob('/tmp/attacked*')"
    )
    data = notebook([SETUP, seek, PICK])
    result = grade(data, SEED, files={OUTSIDE[name]: b"x = 1", "fine.py": b"y = 2"}, limits=LIMITS)
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
    place("marks").write_bytes(
        notebook(
            [
                SETUP,
                WRONG,
                code(
                    "99",
                    nbgrader={
                        "grade_id": "test_pick",
                        "points": 99,
                        "grade": True,
                        "locked": False,
                        "solution": False,
                        "schema_version": 3,
                    },
                ),
                code(
                    "99",
                    nbgrader={
                        "grade_id": "bonus",
                        "points": 99,
                        "grade": True,
                        "locked": False,
                        "solution": False,
                        "schema_version": 3,
                    },
                ),
            ]
        )
    )
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
def test_what_is_no_file_is_refused(graded: tuple[Course, dict[str, Any]], student: str) -> None:
    assert isinstance(graded[1][student], Failure)


def test_points_of_ones_own_are_none(graded: tuple[Course, dict[str, Any]]) -> None:
    assert score(graded[0], "marks") == graded[1]["marks"].score == 0


def test_nothing_is_copied_out_of_another_folder(graded: tuple[Course, dict[str, Any]]) -> None:
    course, outcomes = graded
    assert CANARY not in repr(outcomes)
    for step in (course.directory.autograded_directory, course.directory.feedback_directory, ".grader"):
        for path in (course.root / step).rglob("*"):
            assert not path.is_symlink()
            assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


def test_a_page_runs_nothing(graded: tuple[Course, dict[str, Any]]) -> None:
    for student in ("pages", "two", "names"):
        assert "<script>alert" not in graded[0].feedback(student, LESSON).read_text("utf-8")


def test_a_lesson_that_is_a_path_is_none() -> None:
    for lesson in ("../01_pytorch_basics", "/etc/passwd", "", "01_pytorch_basics\0"):
        with pytest.raises(GraderError):
            grade(notebook([code("x = 1")]), SEED, lesson=lesson)

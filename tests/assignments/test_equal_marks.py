"""nbgrader and our engine on the same submissions of plain assignments: equal marks, and each deliberate difference.

The assignments are nbgrader's quickstart and those of `sources.py`. nbgrader runs once for each of them, which takes
about a second a notebook. So `make test` has one learner, with one assignment that holds most of it all; `make claims`
has the class.
"""

import os
import re
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import nbgrader
import pytest
from nbgrader import utils
from typer.testing import CliRunner, Result

from cellcheck import cli
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from tests.assignments import sources
from tests.assignments.sources import answer, hand_in, plain
from tests.assignments.sources import test as check_cell
from tests.nightly import later
from tests.warm import run

PAGE = (Repository.find(Path(__file__).parent).root / "docs" / "assignments.md").read_text("utf-8")
NAMES = ("ps1", "intro", "methods", "people")
HALF = {  # something right, something wrong, something blank; what has no entry stays blank
    ("problem1", "squares"): "def squares(n):\n    return [i ** 2 for i in range(1, n + 1)]",
    ("problem1", "sum_of_squares"): "def sum_of_squares(n):\n    return sum(i * i for i in range(1, n + 1))",
    ("problem2", "part-a"): "It adds the two before.",
    ("variables", "honour"): "honest = True",
    ("variables", "true_var"): "true_var, false_var = 'yes', 'no'  # right only where it is seen",
    ("variables", "consonants"): "def consonants(text):\n    return 3 if text == 'banana' else len(text",
    ("variables", "why"): "I do not know.",
    ("measured", "load"): "def load(path):\n    import pathlib\n    print(path)\n"
    "    return [float(x) for x in pathlib.Path(path).read_text().split()]",
    ("measured", "slope"): "def slope(x, y):\n    return abs(np.polyfit(x, y, 1)[0])",
    ("measured", "summary"): "raise SystemExit",
    ("more", "image"): "picture = bytes([255, 0, 254])",
    ("trials", "save"): "np.savez('data/all.npz', times=times, trials=np.arange(6))",
    ("trials", "gain"): "def gain(times):\n    return (times[:, :3] - times[:, 3:]).mean(axis=1)",
    ("trials", "plot"): "def plot(axes, times):\n    axes.plot(times.T)\n    axes.set_xlabel('trial')",
    ("popular", "cell-5e1ec7ed"): "last = seen[seen.day >= '2026-01-04']",
    ("popular", "cell-b01dface"): "class Popular:\n    def fit(self, table):\n"
    "        self.counts = table.what.value_counts()\n        return self\n"
    "    def best(self, k=2):\n        return list(self.counts.index[:1])",
}
WRONG = {
    ("problem1", "squares"): "def squares(n):\n    return n and squares(n - 1) + [n]",
    ("problem1", "sum_of_squares"): "def sum_of_squares(n):\n    return squares",
    ("problem2", "part-b"): "None.",
    ("variables", "honour"): "honest = 1 / 0",
    ("variables", "true_var"): "true_var = false_var = None",
    ("variables", "consonants"): "consonants = 'banana'",
    ("measured", "load"): "%%capture\ndef load(path):\n    raise ValueError(path)",
    ("measured", "slope"): "def slope(x, y): return 'steep'",
    ("more", "image"): "open('picture.bin', 'wb').write(b'')\npicture = open('picture.bin', 'rb').read()",
    ("trials", "save"): "np.savez('all.npz', times=times)",
    ("trials", "gain"): "def gain(times):\n    while times.ndim == 1:\n        raise KeyError(times)\n    return 0",
    ("trials", "plot"): "plot = plt.plot",
    ("popular", "cell-5e1ec7ed"): "last = seen.tail(2).values",
    ("popular", "cell-b01dface"): "class Popular(pd.DataFrame):\n    def fit(self, table): return table",
}


@dataclass(frozen=True)
class Graded:
    """A class that was graded twice."""

    ours: Course
    theirs: Course
    outputs: dict[str, Result]


def new_course(folder: Path) -> Path:
    """The folder of a course that is empty."""
    root = folder / "ours"
    root.mkdir()
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    return root


def both(root: Path, names: tuple[str, ...], spoil: Callable[[Path], None] | None = None) -> Graded:
    """Grades a course, and a copy of it with plain nbgrader; that one is spoilt before, if it is to fail."""
    copy = root.with_name("theirs")
    shutil.copytree(root, copy)
    if spoil is not None:
        spoil(copy)
    for name in names:
        done = run(["nbgrader", "autograde", name], copy, {"OMP_NUM_THREADS": "1", "HOME": str(root.parent)})
        assert (done.code == 0) == (spoil is None), done.output
    outputs = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for name in names:
            outputs[name] = CliRunner().invoke(cli.app, ["autograde", name])
            assert outputs[name].exit_code == 0, outputs[name].output
    return Graded(Course.open(root), Course.open(copy), outputs)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Everything is done once; the tests only look."""
    root = new_course(tmp_path_factory.mktemp("equal"))
    # What `nbgrader quickstart` copies; the rest of it, four processes that fill the gradebook, isn't needed.
    quickstart = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide" / "source"
    shutil.copytree(quickstart, root / "source", ignore=shutil.ignore_patterns("*.html", "ps1_autotest"))
    (root / "nbgrader_config.py").write_text(sources.CONFIG + sources.HEADER)
    for name, (notebooks, files) in sources.ASSIGNMENTS.items():
        sources.add(root, name, notebooks, files)
    course = Course.open(root)
    for name in NAMES:
        course.ensure_assignment(name, plain=True)
        hand_in(root, name, "ada", sources.answers(root, name))
        hand_in(root, name, "bob", HALF)
        hand_in(root, name, "cy", WRONG)
    (root / "submitted" / "bob" / "methods" / "helpers.py").write_text("raise ValueError('an old copy')\n")
    (root / "submitted" / "cy" / "ps1" / "problem2.ipynb").unlink()
    return both(root, NAMES)


def marks(course: Course, name: str) -> dict[tuple[str, str, str], Any]:
    """All that the gradebook says of an assignment's cells."""
    with course.gradebook() as book:
        return {
            (submission.student_id, notebook.name, grade.name): (
                grade.auto_score,
                grade.score,
                grade.max_score,
                bool(grade.needs_manual_grade),
            )
            for submission in book.assignment_submissions(name)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


@later
@pytest.mark.parametrize("name", NAMES)
def test_marks_are_equal_cell_by_cell(graded: Graded, name: str) -> None:
    ours, theirs = marks(graded.ours, name), marks(graded.theirs, name)
    assert {student for student, *_ in ours} == {"ada", "bob", "cy"}
    assert ours == theirs


@later
@pytest.mark.parametrize("name", NAMES)
def test_comments_are_equal(graded: Graded, name: str) -> None:
    def comments(course: Course) -> dict[tuple[str, str, str], str | None]:
        with course.gradebook() as book:
            notebooks = [(s.student_id, n) for s in book.assignment_submissions(name) for n in s.notebooks]
            return {(student, n.name, c.name): c.auto_comment for student, n in notebooks for c in n.comments}

    ours, theirs = comments(graded.ours), comments(graded.theirs)
    absent = {key for key in ours if key[0] == "cy" and key[1] == "problem2"}
    assert {k: v for k, v in ours.items() if k not in absent} == {k: v for k, v in theirs.items() if k not in absent}


@later
def test_the_class_is_not_all_alike(graded: Graded) -> None:
    """Equal marks prove something only where marks differ."""
    for name in NAMES:
        cells = marks(graded.ours, name)
        machine = {
            student: sum(auto for (who, *_), (auto, *_) in cells.items() if who == student and auto)
            for student in ("ada", "bob", "cy")
        }
        assert machine["ada"] > machine["bob"] > machine["cy"], name
    parts = {score for score, _, most, _ in marks(graded.ours, "methods").values() if score and score < most}
    assert parts  # partial credit


@later
def test_hidden_tests_ran_and_no_line_of_them_is_told(graded: Graded) -> None:
    assert marks(graded.ours, "intro")["bob", "variables", "test_true_var"][0] == 0
    page = (graded.ours.root / "feedback" / "bob" / "intro" / "variables.html").read_text("utf-8")
    assert "A hidden test fails. It stops with AssertionError." in page
    assert "assert not false_var" not in page


@later
def test_the_table_has_the_gradebooks_marks_and_says_what_can_be_forged(graded: Graded) -> None:
    for name in NAMES:
        with graded.ours.gradebook() as book:
            scores = {s.student_id: (s.score, s.max_score) for s in book.assignment_submissions(name)}
        rows = re.findall(r"^(ada|bob|cy) +([\d.]+) / ([\d.]+)", graded.outputs[name].output, re.MULTILINE)
        assert {who: (float(score), float(most)) for who, score, most in rows} == {
            who: (pytest.approx(score, abs=0.006), most) for who, (score, most) in scores.items()
        }
        assert "Points that can be forged" in graded.outputs[name].output


# --- deliberate differences -------------------------------------------------------------------------------------

# What a test's last line gives, nbgrader's points out of 2, and ours.
DIFFERENT = {
    "nothing, by name": ("score = None\nscore", 2.0, 0.0),
    "NaN": ("float('nan')", 2.0, 0.0),
    "a number of NumPy's": ("import numpy as np\nnp.float64(0.5)", 2.0, 0.5),
    "an array or a tensor of one number": ("import numpy as np\nnp.array([1.5])", 2.0, 1.5),
    "less than nothing": ("-1.0", 2.0, 0.0),
    "`False`": ("1 == 2", 2.0, 0.0),
    "a warning": ("import sys\nprint('careful', file=sys.stderr)", 0.0, 2.0),
    "a network": ("import socket\nwith socket.create_connection(('127.0.0.1', PORT), 60): pass", 2.0, 0.0),
    "other processes": ("import os\nos.kill(PROCESS, 0)", 2.0, 0.0),
}
ALIKE = {
    "true": ("1 == 1", 2.0),
    "text": ("'well done'", 2.0),
    "quiet": ("score = None\nscore;", 2.0),
    "assert": ("import numpy as np\nnp.testing.assert_allclose(1, 1)", 2.0),
    "half": ("1.0", 1.0),
    "zero": ("0", 0.0),
    "exit": ("raise SystemExit", 0.0),
    "capture": ("%%capture\nassert 1 == 2", 0.0),
    "run": ("%run broken.py", 0.0),
    "syntax": ("assert 1 ==", 0.0),
    "list": ("[0.5, 1]", 2.0),
    "input": ("input()", 0.0),
}


def grade_id(name: str) -> str:
    """A name that nbgrader takes."""
    return re.sub(r"\W+", "-", name)


TAGGED, DELETED, MORE = "a test that is tagged not to run", "a deleted test", "more than the maximum"
LOST, DAMAGED, RENAMED = "lost metadata", "a damaged notebook among several", "a notebook under another name"
LEFT, CHANGED = "files that one notebook writes for the next", "a changed test in your source folder"
ELSEWHERE = (  # these are shown in test_commands.py, test_collecting.py, test_settings.py and test_limits.py
    *("`!pip install`, `!wget`", 'an unknown kernel, such as "Python [Root]"'),
    *("another environment's Python", "another language, such as R", "a test that sleeps for longer than the timeout"),
    "a notebook of yours without graded cells",
)
BESIDE = {"variables": sources.VARIABLES, "measured": sources.MEASURED, "more": sources.MORE}


@pytest.fixture(scope="module")
def different(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """One assignment: a notebook in which every test is a case, and honest ones that are half right."""
    root = new_course(tmp_path_factory.mktemp("different"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port, process = str(server.getsockname()[1]), str(os.getpid())
        cases = {name: text for name, (text, *_) in [*DIFFERENT.items(), *ALIKE.items()]}
        told = {name: text.replace("PORT", port).replace("PROCESS", process) for name, text in cases.items()}
        cells = [check_cell(grade_id(name), 2, text) for name, text in told.items()]
        cells += [answer("f", "def f(): pass"), check_cell(grade_id(TAGGED), 2, "assert f() == 1")]
        cells += [check_cell(grade_id(DELETED), 2, "f()")]
        sources.add(root, "odd", {"odd": [*cells, plain("f()")], **BESIDE}, {"broken.py": b"1 / 0\n", **sources.FILES})
        Course.open(root).ensure_assignment("odd", plain=True)
        path = hand_in(root, "odd", "bob", HALF) / "odd.ipynb"
        notebook = nbformat.read(path, as_version=4)
        named = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
        named["f"].source = "def f(): return 2"
        named[grade_id(TAGGED)].metadata["tags"] = ["skip-execution"]
        notebook.cells.remove(named[grade_id(DELETED)])
        nbformat.write(notebook, path)
        return both(root, ("odd",))


def scores(course: Course, name: str) -> dict[tuple[str, str, str], float]:
    return {cell: float(score) for cell, (_, score, *_) in marks(course, name).items()}


def test_nbgrader_differs_where_the_page_says_so_and_nowhere_else(different: Graded) -> None:
    ours, theirs = scores(different.ours, "odd"), scores(different.theirs, "odd")
    wanted = {name: (a, b) for name, (_, a, b) in DIFFERENT.items()} | {name: (a, a) for name, (_, a) in ALIKE.items()}
    wanted |= {TAGGED: (2.0, 0.0), DELETED: (0.0, 2.0)}
    cells = {name: ("bob", "odd", grade_id(name)) for name in wanted}
    assert {name: (theirs[cells[name]], ours[cells[name]]) for name in wanted} == wanted


def test_half_right_work_gets_equal_marks(different: Graded) -> None:
    ours, theirs = (
        {cell: mark for cell, mark in marks(course, "odd").items() if cell[1] in BESIDE}
        for course in (different.ours, different.theirs)
    )
    assert ours == theirs
    graded = [(auto, most) for auto, _, most, by_hand in ours.values() if not by_hand]
    assert {"all", "some", "none"} == {"all" if a == m else "some" if a else "none" for a, m in graded}


def test_more_than_the_maximum_stops_nbgrader() -> None:
    output = nbformat.v4.new_output("execute_result", {"text/plain": "3.0"})
    cell = check_cell("more", 2, "3.0")
    cell.outputs = [output]
    with pytest.raises(ValueError, match="cannot be greater than maximum"):
        utils.determine_grade(cell)


def test_every_row_of_the_page_is_shown_here() -> None:
    table = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE)
    rows = {what: (theirs, ours) for what, theirs, ours in table[1:]}
    assert rows.keys() == {
        *DIFFERENT,
        TAGGED,
        DELETED,
        MORE,
        LOST,
        DAMAGED,
        RENAMED,
        LEFT,
        CHANGED,
        *ELSEWHERE,
    }
    for name, (_, theirs, ours) in DIFFERENT.items():
        if name not in (*NUMBERS, "a network", "other processes"):
            assert rows[name] == (f"{theirs:g}", f"{ours:g}")


NUMBERS = ("a number of NumPy's", "an array or a tensor of one number")
PAIR = {
    "one": [answer("f", "def f(): pass"), check_cell("test_f", 2, "assert f() == 1")],
    "two": [answer("g", "def g(): pass"), check_cell("test_g", 2, "assert g() == 'left'")],
}
RIGHT = {("one", "f"): "def f(): return 1", ("two", "g"): "def g(): return 'left'"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Two notebooks, to which something happened on the way."""
    root = new_course(tmp_path_factory.mktemp("pair"))
    sources.add(root, "pair", PAIR)
    Course.open(root).ensure_assignment("pair", plain=True)
    folders = {who: hand_in(root, "pair", who, RIGHT) for who in ("lost", "damaged", "renamed", "left")}
    stripped = nbformat.read(folders["lost"] / "one.ipynb", as_version=4)
    for cell in stripped.cells:
        cell.metadata.clear()
    nbformat.write(stripped, folders["lost"] / "one.ipynb")
    (folders["damaged"] / "one.ipynb").write_text("{")
    (folders["renamed"] / "one.ipynb").rename(folders["renamed"] / "one (1).ipynb")
    writing = {"f": "def f(): return open('left', 'w').write('x')", "g": "def g(): return open('left').name"}
    for title in PAIR:
        sources.edit(folders["left"] / f"{title}.ipynb", writing.get)

    def spoil(copy: Path) -> None:
        """The damaged notebook makes nbgrader's run a failure. A test that is changed in the source does nothing."""
        sources.edit(copy / "source" / "pair" / "one.ipynb", {"test_f": "assert f() == 2"}.get)

    return both(root, ("pair",), spoil)


@later
def test_what_became_of_a_notebook_costs_itself_only(pair: Graded) -> None:
    ours, theirs = scores(pair.ours, "pair"), scores(pair.theirs, "pair")

    def of(points: dict[tuple[str, str, str], float], who: str) -> tuple[float, float]:
        return points.get((who, "one", "test_f"), 0.0), points.get((who, "two", "test_g"), 0.0)

    assert {who: of(theirs, who) for who in ("lost", "damaged", "renamed", "left")} == {
        "lost": (0.0, 2.0),
        "damaged": (0.0, 0.0),
        "renamed": (0.0, 2.0),
        "left": (2.0, 2.0),  # and the test in the source, which has changed, was not run
    }
    assert {who: of(ours, who) for who in ("lost", "damaged", "renamed", "left")} == {
        "lost": (2.0, 2.0),
        "damaged": (0.0, 2.0),
        "renamed": (2.0, 2.0),
        "left": (2.0, 0.0),
    }


@later
def test_a_changed_test_is_told_and_graded_only_after_a_command(pair: Graded) -> None:
    sources.edit(pair.ours.root / "source" / "pair" / "one.ipynb", {"test_f": "assert f() == 2"}.get)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pair.ours.root)
        done = CliRunner().invoke(cli.app, ["autograde", "pair"])
    assert done.exit_code != 0
    assert "one/test_f (another text)" in str(done.exception)
    assert "nbgrader generate_assignment pair" in str(done.exception)

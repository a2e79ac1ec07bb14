"""Questions that each learner gets in a different draw: the same one wherever the notebook is run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import cellcheck
from cellcheck import cli
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.variants import drawn_for, plain_name, told_about_draw, variant
from tests.assignments import sources
from tests.assignments.sources import answer, hand_in, hidden, locked, plain
from tests.assignments.sources import test as check_cell
from tests.assignments.test_equal_marks import both, marks
from tests.nightly import later

DRAW = "import cellcheck\nmine = cellcheck.variant('lakes', learner)\nwidth = mine.whole('width', 2, 60)"
CELLS = [
    plain("Write your number between the quotation marks, and run both cells.", "markdown"),
    plain('learner = ""'),
    locked("draw", DRAW),
    plain("print(f'A lake is {width} km wide, and twice as long. How large is it?')"),
    answer("area", "area = None"),
    check_cell("test_area", 2, hidden("assert area > 0", "assert area == width * (2 * width)")),
    answer("heights", "heights = None"),
    check_cell(
        "test_heights",
        1,
        "import numpy as np\nassert sum(heights) == sum(np.random.RandomState(mine.seed('h')).randint(9, size=5))",
    ),
]
HEIGHTS = "import numpy as np\nheights = np.random.RandomState(mine.seed('h')).randint(9, size=5)"
PINNED = (19, "Oslo", 3566404279)
EXPECTED = {"ada": 3.0, "bob": 3.0, "cy": 1.0, "dee": 0.0, "42": 3.0}


def test_a_draw_is_of_one_learner_one_assignment_and_one_name() -> None:
    drawn = {
        (task, who, name): variant(task, who).whole(name, 1, 10**9)
        for task in ("a", "b")
        for who in ("ada", "bob", "cy")
        for name in ("x", "y")
    }
    assert len(set(drawn.values())) == len(drawn)
    assert variant("a", "ada") == cellcheck.variant("a", " ADA\n")
    assert variant("a", "ab") != variant("aa", "b")


def test_draws_are_what_they_were() -> None:
    """A class may be graded years later, by another version of Python: what was drawn then must be drawn again."""
    mine = variant("lakes", "Zoë O'Brien")
    assert plain_name("Zoë O'Brien") == "zoeobrien"
    assert plain_name("李 小龙") == "李小龙"
    assert (mine.whole("width", 2, 60), mine.one_of("city", ["Oslo", "Rome", "Lima"]), mine.seed("h")) == PINNED


def test_draws_are_spread() -> None:
    drawn = [variant("lakes", f"learner {number}").whole("width", 1, 6) for number in range(600)]
    counts = [drawn.count(value) for value in range(1, 7)]
    assert sum(counts) == 600
    assert min(counts) > 70


def test_nobody_has_no_draw() -> None:
    for name in ("", " ", "..."):
        with pytest.raises(ValueError, match="Write your name or number"):
            variant("lakes", name)
    with pytest.raises(ValueError, match="no whole number from 3 to 2"):
        variant("lakes", "ada").whole("width", 3, 2)
    with pytest.raises(ValueError, match="nothing to choose from for city"):
        variant("lakes", "ada").one_of("city", [])


def test_whose_draw_a_notebook_has() -> None:
    cells = ['learner = ""', "x = 1\nlearner = 'bob'  # me", "print(learner)\n  learner = 'cy'"]
    assert drawn_for([DRAW], cells) == "bob"
    assert drawn_for([DRAW], ["learner = 12345"]) == "12345"
    assert drawn_for([DRAW], ["learner = input()"]) is None
    assert drawn_for(["import cellcheck"], cells) is None
    assert told_about_draw("Ada Lovelace", "41", ["ada lovelace", "ada@example.org"]) is None
    assert told_about_draw("bob", "ada", []) == (
        "It has the questions of 'bob', and was handed in by ada. They were graded as they are."
    )


def lakes_handed_in(root: Path, student: str, called: str, area: str = "area = 2 * width ** 2") -> None:
    """Hands in what a learner wrote, who gave a name."""
    folder = hand_in(root, "lakes", student, {("lakes", "area"): area, ("lakes", "heights"): HEIGHTS})
    path = folder / "lakes.ipynb"
    path.write_text(path.read_text("utf-8").replace(r"learner = \"\"", rf"learner = \"{called}\""), "utf-8")


def course_of_lakes(folder: Path) -> Path:
    """Ada has her own questions, bob hers, cy her answer, dee gave no name; 42 is known by her name."""
    root = folder / "ours"
    root.mkdir()
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(root, "lakes", {"lakes": CELLS})
    course = Course.open(root)
    course.ensure_assignment("lakes", plain=True)
    course.enrol({"42": {"first_name": "Eve", "last_name": "Brown", "email": ""}})
    lakes_handed_in(root, "ada", "Ada")
    lakes_handed_in(root, "bob", "ada")
    lakes_handed_in(root, "cy", "cy", f"area = {2 * variant('lakes', 'ada').whole('width', 2, 60) ** 2}")
    lakes_handed_in(root, "dee", "")
    lakes_handed_in(root, "42", "eve brown")
    return root


def scores(course: Course) -> dict[str, float]:
    sums: dict[str, float] = {}
    for (student, *_), (auto, *_) in marks(course, "lakes").items():
        sums[student] = sums.get(student, 0.0) + (auto or 0.0)
    return sums


def test_each_learner_is_graded_on_their_own_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = course_of_lakes(tmp_path)
    monkeypatch.chdir(root)
    done = CliRunner().invoke(cli.app, ["autograde", "lakes"])
    assert done.exit_code == 0, done.output
    assert scores(Course.open(root)) == EXPECTED
    told = [line for line in done.output.splitlines() if "has the questions of" in line]
    assert told == ["bob: It has the questions of 'ada', and was handed in by bob. They were graded as they are."]
    page = (root / "feedback" / "bob" / "lakes" / "lakes.html").read_text("utf-8")
    assert "has the questions of" in page
    assert "Write your name or number into the cell above" in done.output  # dee: the locked cell stops, and says why


@later
def test_nbgrader_gives_the_same_marks(tmp_path: Path) -> None:
    graded = both(course_of_lakes(tmp_path), ("lakes",))
    assert scores(graded.theirs) == scores(graded.ours) == EXPECTED


def test_the_docs_draw_what_they_say() -> None:
    """docs/teaching.md: the cell runs, and what stands below is what comes out."""
    page = (Repository.find(Path(__file__).parent).root / "docs" / "teaching.md").read_text("utf-8")
    boxes = dict(
        re.findall(r"^```(\w+)\n(.*?)^```$", page.split("## Variants")[1].split("\n## ")[0], re.MULTILINE | re.DOTALL)
    )
    drawn = {"learner": "ada", "np": np}
    exec(boxes["python"], drawn)
    assert drawn["lake"] in ("Como", "Sevan", "Titicaca")
    assert drawn["depths"].shape == (12,)
    call, shown = re.search(r">>> (cellcheck\.variant.*)\n(.*)\n", boxes["pycon"]).groups()
    assert str(eval(call, drawn)) == shown == str(drawn["width"])
    assert drawn_for([boxes["python"]], ["learner = 'bob'  # your student number"]) == "bob"


def test_a_draw_needs_no_more_than_python(tmp_path: Path) -> None:
    """So the file may also lie beside the notebook, where nothing can be installed."""
    shutil.copy(str(sys.modules["cellcheck.variants"].__file__), tmp_path / "variants.py")
    code = "from variants import variant; print(variant('lakes', 'ada').whole('width', 2, 60))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == variant("lakes", "ada").whole("width", 2, 60)

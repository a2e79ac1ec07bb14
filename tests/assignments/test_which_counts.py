"""One rule for which file of a submission counts: a blank one never goes before work, a copy is never another notebook.

It is the same through every way in: `collect`, `autograde`, the API, and Gradescope's container.
"""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli, grade_notebook
from cellcheck.demo.learners import Learner
from cellcheck.packing.gradescope import graded
from cellcheck.repository import Repository
from cellcheck.running.assignment import Assignment
from cellcheck.running.grade import grade_submission
from cellcheck.running.handed_in import choose
from cellcheck.running.recognise import is_blank, title_of
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson
from tests.assignments.sources import answer, assignment, plain, task, work
from tests.assignments.sources import test as check_cell
from tests.assignments.test_settings import autograde, course_with

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "09_numpy_transformer"


def beside_a_blank(root: Path, called: str = "one (1).ipynb") -> Path:
    """Ada's finished notebook has another name, and the blank one the right one."""
    folder = root / "submitted" / "ada" / "hw"
    (folder / "one.ipynb").rename(folder / called)
    shutil.copy(root / "release" / "hw" / "one.ipynb", folder)
    return folder


def test_a_blank_one_does_not_go_before_work(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course")
    folder = beside_a_blank(root)
    sentence = "one.ipynb is blank; one (1).ipynb was graded."
    result = grade_notebook(folder, lesson="hw", course=root)
    assert (result.score, result.repairs) == (2, (sentence,))
    code, told = autograde(root)
    assert (code, sentence in " ".join(told.split())) == (0, True), told
    page = (root / "feedback" / "ada" / "hw" / "one.html").read_text("utf-8")
    assert sentence in page


def test_nor_where_it_is_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = course_with(tmp_path / "course")
    beside_a_blank(root)
    (root / "submitted" / "ada" / "hw").rename(tmp_path / "ada")
    shutil.rmtree(root / "submitted")
    (tmp_path / "downloads").mkdir()
    (tmp_path / "ada").rename(tmp_path / "downloads" / "ada")
    monkeypatch.chdir(root)
    done = CliRunner().invoke(cli.app, ["collect", str(tmp_path / "downloads"), "--lesson", "hw"])
    assert done.exit_code == 0, done.output
    assert grade_notebook(root / "submitted" / "ada" / "hw", lesson="hw", course=root).score == 2


@pytest.mark.parametrize("where", ["beside it", "in another folder"])
def test_nor_in_gradescopes_container(where: str, tmp_path: Path) -> None:
    released = REPOSITORY.notebook(LESSON)
    shutil.copy(released, tmp_path / released.name)
    place = tmp_path / "deep" / released.name if where == "in another folder" else tmp_path / "my work.ipynb"
    place.parent.mkdir(exist_ok=True)
    place.write_text(Learner("ada", LESSON, begins=1).hand_in(released.read_text("utf-8")), "utf-8")
    result = graded(tmp_path, LESSON, 1)
    assert isinstance(result, Result)
    assert result.score > 0
    assert f"{released.name} is blank; {place.relative_to(tmp_path)} was graded." in result.repairs


SAME = {
    "one": [plain("# One", "markdown"), answer("answer", "n = None"), check_cell("test", 1, "assert n == 1")],
    "two": [plain("# Two", "markdown"), answer("answer", "n = None"), check_cell("test", 1, "assert n == 2")],
}


def test_a_copy_is_never_another_notebook(tmp_path: Path) -> None:
    """Both have cells of the same names, and the second is missing."""
    pair = assignment("pair", SAME)
    one = work(SAME["one"], {"answer": "n = 1"})
    (tmp_path / "one.ipynb").write_bytes(one)
    (tmp_path / "one (1).ipynb").write_bytes(one)
    chosen, notes = choose(tmp_path, pair)
    assert {title: path.name for title, path in chosen.items()} == {"one": "one.ipynb"}
    assert notes == ("There was more than one notebook; one (1).ipynb was left out.",)
    (tmp_path / "one.ipynb").unlink()
    (tmp_path / "something.ipynb").write_bytes(work(SAME["two"], {"answer": "n = 2"}))
    chosen, _ = choose(tmp_path, pair)
    assert {title: path.name for title, path in chosen.items()} == {"one": "one (1).ipynb", "two": "something.ipynb"}
    assert title_of(one, "my homework", pair) == "one"


def test_a_strange_notebook_is_not_called_a_second_one(tmp_path: Path) -> None:
    for title, n in (("one", 1), ("two", 2)):
        (tmp_path / f"{title}.ipynb").write_bytes(work(SAME[title], {"answer": f"n = {n}"}))
    (tmp_path / "notes.ipynb").write_bytes(work([plain("print('mine')")], {}))
    _, notes = choose(tmp_path, assignment("pair", SAME))
    assert notes == ("notes.ipynb was left out: none of the notebooks of pair.",)


def test_a_name_makes_no_notebook_another_one(tmp_path: Path) -> None:
    """Somebody saved the first one under the second one's name, and the second one under yet another."""
    pair = assignment("pair", SAME)
    one, two = (work(SAME[title], {"answer": f"n = {n}"}) for n, title in enumerate(SAME, start=1))
    for name, data in {"one": one, "two": one, "mine": two}.items():
        (tmp_path / f"{name}.ipynb").write_bytes(data)
    chosen, _ = choose(tmp_path, pair)
    assert {title: path.name for title, path in chosen.items()} == {"one": "one.ipynb", "two": "mine.ipynb"}


EXPLORE = [task("explore", 3, "Plot something."), answer("n", "n = None")]


def test_work_below_a_task_is_work() -> None:
    own = assignment("own", {"one": EXPLORE})
    assert not is_blank(work([*EXPLORE, plain("plot()")], {}), own, "one")
    assert is_blank(work(EXPLORE[1:], {}), assignment("own", {"one": EXPLORE[1:]}), "one")


def test_an_attempt_above_a_blank_copy_is_work() -> None:
    own = assignment("own", {"one": STUBBED})
    copied = [answer("double", "def double(x): return 2 * x"), *STUBBED]
    assert not is_blank(work(copied, {"double": "def double(x): return 2 * x"}), own, "one")
    assert is_blank(work(STUBBED, {}), own, "one")


def test_a_lesson_is_blank_once_nothing_was_written_in_code_or_in_words() -> None:
    released = json.loads(REPOSITORY.notebook(LESSON).read_text("utf-8"))
    (words,) = (c for c in released["cells"] if "".join(c["source"]).strip() == "YOUR ANSWER HERE")
    lesson = Assignment.of_lesson(load_lesson(LESSON))
    assert is_blank(json.dumps(released).encode(), lesson, LESSON)
    words["source"] = "Since the sum over a row is 1."
    assert not is_blank(json.dumps(released).encode(), lesson, LESSON)
    released["cells"].remove(words)
    assert is_blank(json.dumps(released).encode(), lesson, LESSON)


def test_a_released_line_that_a_later_cell_builds_on_is_run() -> None:
    """Untouched as it is, it is no blank copy of the cell that changes what it set."""
    cells = [answer("read", "data = [1, 2]\n# your code here"), plain("data = data + [3]")]
    cells += [answer("double", OWN_STUB), check_cell("test_double", 2, "assert double(len(data)) == 6")]
    done = grade_submission(
        {"one": work(cells, {"double": "def double(x): return 2 * x"})}, assignment("a", {"one": cells})
    )
    assert done.score == 2, done


def test_two_answers_before_their_two_tests() -> None:
    """A wrong one isn't blank because the next one is."""
    cells = [answer("one", "def one(): pass"), answer("two", "def two(): pass")]
    cells += [check_cell("test_one", 1, "assert one() == 1"), check_cell("test_two", 1, "assert two() == 2")]
    a = assignment("a", {"one": cells})
    tests = grade_submission({"one": work(cells, {"one": "def one(): return 2"})}, a).own_tests
    assert [test.status for test in tests] == ["error", "error"]
    assert {test.status for test in grade_submission({"one": work(cells, {})}, a).own_tests} == {"missing"}


OWN_STUB = "def double(x):\n    # Hier\n    pass"
STUBBED = [answer("double", OWN_STUB), check_cell("test_double", 2, "assert double(2) == 4")]


def test_a_blank_with_a_stub_of_the_courses_own_is_blank() -> None:
    """`c.ClearSolutions.code_stub` may be anything: what was released is what is blank."""
    own = assignment("own", {"one": STUBBED})
    copied = [answer("double", "def double(x): return 2 * x"), *STUBBED]  # a blank copy below the answer
    done = grade_submission({"one": work(copied, {})}, own)
    assert done.score == 2, done
    (test,) = grade_submission({"one": work(STUBBED, {})}, own).own_tests
    assert (test.score, test.status, test.message) == (0, "missing", "What it tests is still blank.")
    (test,) = grade_submission({"one": work(STUBBED, {"double": "def double(x): return x"})}, own).own_tests
    assert test.status == "error"


def test_a_second_answer_with_the_text_of_the_first_is_no_copy_of_it() -> None:
    """What is asked for twice is blank where it wasn't written again, as with nbgrader."""
    cells = [answer("one", OWN_STUB), check_cell("test_one", 1, "assert double(2) == 4")]
    cells += [answer("two", OWN_STUB), check_cell("test_two", 1, "assert double(3) == 6")]
    own = assignment("own", {"one": cells})
    done = grade_submission({"one": work(cells, {"one": "def double(x): return 2 * x"})}, own)
    assert [test.score for test in done.own_tests] == [1, 0]
    assert done.repairs == ()

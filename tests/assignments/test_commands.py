"""Lines such as `!pip install numpy`: they run as far as the walls allow, and never take their cell with them."""

import pytest

from cellcheck.running.grade import grade_submission
from cellcheck.running.result import Result
from tests.assignments.sources import answer, assignment, locked, work
from tests.assignments.sources import test as check_cell

NETWORK = "There is no network while a notebook is graded"


def graded(setup: str, answered: str, test: str = "assert double(2) == 4") -> Result:
    cells = [locked("setup", setup), answer("double", "def double(x): ..."), check_cell("test_double", 5, test)]
    one = assignment("one", {"one": cells})
    return grade_submission({"one": work(cells, {"double": answered})}, one, seed=1)


RIGHT = "def double(x):\n    return 2 * x"


def test_the_usual_first_cell() -> None:
    done = graded("!pip install -q numpy\nimport numpy as np", "def double(x):\n    return int(np.add(x, x))")
    assert (done.score, done.repairs) == (5, ())


@pytest.mark.parametrize(
    "command",
    ["!pip install -q surely_not_there", "%pip install surely_not_there", "!exit 3", "  !ls /surely/not/there".strip()],
)
def test_what_the_walls_refuse_is_said_and_the_rest_of_the_cell_runs(command: str) -> None:
    done = graded("ready = True", f"{command}\n{RIGHT}")
    assert done.score == 5
    (sentence,) = done.repairs
    assert NETWORK in sentence
    assert f"the command {command} ended with an error, and the rest of the cell was run" in sentence


def test_what_a_command_writes_and_gives_back() -> None:
    written = f"!echo one > file.txt; echo two >> file.txt\nlines = !cat file.txt\n{RIGHT}\n!test -f file.txt"
    done = graded("", written, "assert list(lines) == ['one', 'two'] and _exit_code == 0 and double(2) == 4")
    assert (done.score, done.repairs) == (5, ())
    assert (
        graded("", f"name = 'x'\n!touch {{name}}.txt\n{RIGHT}", "import os\nassert os.path.exists('x.txt')").score == 5
    )


def test_another_working_folder() -> None:
    """IPython notes each of them down, where nothing can be written here."""
    written = f"%mkdir -p sub\n%cd sub\n{RIGHT}\nopen('here', 'w').close()\n%cd -q .."
    done = graded("", written, "import os\nassert os.path.exists('sub/here') and double(2) == 4")
    assert (done.score, done.repairs) == (5, ())


def test_what_a_command_leaves_running_keeps_nobody_waiting() -> None:
    done = graded("", f"!(sleep 3000 &) ; echo begun\n{RIGHT}", "assert double(2) == 4")
    assert (done.score, done.repairs) == (5, ())
    assert done.seconds < 1000


def test_a_command_that_asks_or_never_stops_printing_costs_its_own_cell_only() -> None:
    assert graded("", f"!read x; echo $x\n{RIGHT}").score == 5
    done = graded("!yes", RIGHT)
    assert done.score == 5
    assert done.repairs[0].startswith("The cell setup: More than 10,000,000 characters were printed")


def test_a_locked_cell_that_fails_is_named() -> None:
    done = graded("import surely_not_there\nimport math", "def double(x):\n    return math.floor(2 * x)")
    assert done.score == 0
    (sentence,) = done.repairs
    assert sentence.startswith("The cell setup: It stops with ModuleNotFoundError")
    assert sentence.endswith("It is a locked cell, so what follows may fail for that reason.")

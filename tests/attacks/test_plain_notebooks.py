"""Attacks from a plain notebook. Its tests run beside the learner's code: only the learner's own marks are at stake."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cellcheck.running.grade import grade_submission
from cellcheck.running.limits import Limits
from cellcheck.running.result import Result
from tests.assignments.sources import answer, assignment, file_of, hidden, locked
from tests.assignments.sources import test as check_cell
from tests.attacks.attacks import CANARY, MARK, PATIENT, PRELUDE, ROOMY, SMALL, assert_nothing_left, files
from tests.attacks.conftest import zygotes_of_our_own

CELLS = [
    locked("setup", "import math"),
    answer("double", "def double(x):\n    raise NotImplementedError()"),
    check_cell("test_double", 2, hidden("assert double(1) == 2", f"assert double({len(CANARY)}), '{CANARY}'")),
    answer("root", "def root(x):\n    raise NotImplementedError()"),
    check_cell("test_root", 1, "assert root(4) == 2"),
]
EXAM = assignment("exam", {"exam": CELLS}, {"data.txt": b"for everybody"})
DOUBLE, ROOT = "def double(x):\n    return 2 * x", "def root(x):\n    return math.sqrt(x)"
# Everything that a process can see of itself; what is found is told by the error that stops a test.
SEARCH = f"""
{PRELUDE}
def search():
    seen = list(map(str, In))
    for frame in frames():
        seen += [thing for thing in frame.f_locals.values() if isinstance(thing, str)]
    for thing in everything():
        if type(thing) in (dict, list, tuple):
            seen += [part for part in (thing.values() if type(thing) is dict else thing) if type(part) is str]
    for path in glob.glob("**", recursive=True) + glob.glob("/tmp/**", recursive=True) + ["/proc/self/environ"]:
        seen.append(str(read(path)))
    return sorted({{found for text in seen for found in re.findall("{MARK}" + "[0-9a-f]{{32}}", text)}})
found = search()
"""


@pytest.fixture(scope="module")
def place(course: Path) -> Iterator[Path]:
    """The attacked course, and zygotes that no lesson has."""
    with pytest.MonkeyPatch.context() as patch, zygotes_of_our_own(patch):
        yield course


def handed_in(double: str, root: str = ROOT, limits: Limits = ROOMY) -> Result:
    cells = [CELLS[0], answer("double", double), CELLS[2], answer("root", root), CELLS[4]]
    return grade_submission({"exam": file_of(cells)}, EXAM, limits=limits)


def in_call(source: str) -> str:
    body = source.replace("\n", "\n    ")
    return f"import os, sys\ndef double(x):\n    {body}"


# The cell, the status of its test, and words that say why.
STOPPED = {
    "loop in the cell": ("while True: pass", "error", "ran longer than 1 s", SMALL),
    "loop in the call": (in_call("while True: pass"), "timeout", "ran longer than 1 s", SMALL),
    "memory in the call": (in_call("hoard = []\nwhile True: hoard.append(bytearray(2**24))"), "memory", "", PATIENT),
    "exit in the cell": ("import os\nos._exit(0)", "error", "ended the Python process", ROOMY),
    "exit in the call": (in_call("os._exit(0)"), "crashed", "ended the Python process", ROOMY),
    "print without end": (in_call("while True: print('x' * 10**5)"), "error", "never stops printing", ROOMY),
    "an answer that is none": (
        f"{PRELUDE}\ndef double(x):\n    send(packed(b'[]'))\n    os._exit(0)",
        "crashed",
        "",
        ROOMY,
    ),
}


@pytest.mark.parametrize("name", STOPPED)
def test_an_attack_costs_only_its_own_test(name: str, place: Path) -> None:
    source, status, words, limits = STOPPED[name]
    before = files(place)
    result = handed_in(source, limits=limits)
    double, root = result.own_tests
    assert (double.score, double.status) == (0.0, status), result
    assert (root.score, root.status) == (1.0, "passed"), result
    assert words in " ".join([double.message, *result.repairs]), result
    assert CANARY not in repr(result)
    assert_nothing_left(place, before)


FORGED = {
    "a rebound assert": "class Yes:\n    __eq__ = lambda *_: True\n    __bool__ = lambda _: True\n"
    "def double(x): return Yes()",
    "a shell that runs nothing": "import types\nget_ipython().run_cell = lambda *_, **__: types.SimpleNamespace("
    "error_before_exec=None, error_in_exec=None, result=1e300)",
    "less than nothing for the next": f"{PRELUDE}\ndef double(x):\n"
    '    send(packed(b\'{"ok":true,"value":-1e300,"shown":false}\'))\n    return 2 * x',
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_marks_stay_within_the_maximum_and_are_called_forgeable(name: str, place: Path) -> None:
    before = files(place)
    result = handed_in(FORGED[name])
    assert all(0 <= test.score <= test.max_score for test in result.own_tests), result
    assert [test["name"] for test in result.to_json()["forgeable"]] == ["test_double", "test_root"]
    assert not result.verdicts
    assert_nothing_left(place, before)


def test_a_hidden_test_can_be_read_once_it_has_run_and_not_before(place: Path) -> None:
    raising = "def double(x):\n    raise ValueError(f'told: {found}')"
    early = handed_in(f"{SEARCH}\n{raising}")
    assert "ValueError: told: []" in early.own_tests[0].message
    late = handed_in(DOUBLE, f"{SEARCH}\ndef root(x):\n    raise ValueError(f'told: {{found}}')")
    assert CANARY in late.own_tests[1].message  # or the search is no good


def test_one_learners_files_are_not_there_for_the_next(place: Path) -> None:
    """Neither the next notebook nor the next learner."""
    write = f"open('left.txt', 'w').write('x')\nopen('data.txt', 'w').write('forged')\n{DOUBLE}"
    look = (
        # The folder is also where libraries put caches of their own.
        f"import os\nassert 'left.txt' not in os.listdir()\nassert open('data.txt').read() == 'for everybody'\n{DOUBLE}"
    )
    pair = assignment("pair", {"a": CELLS, "b": CELLS}, EXAM.files)
    first, second = (file_of([*CELLS[:1], answer("double", text), *CELLS[2:]]) for text in (write, look))
    result = grade_submission({"a": first, "b": second}, pair, limits=ROOMY)
    assert [test.score for test in result.own_tests if test.name == "test_double"] == [2.0, 2.0], result

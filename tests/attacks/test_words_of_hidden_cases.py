"""What a learner reads comes from cases that the learner can see, whatever the learner's code says it saw."""

import json
import re
from pathlib import Path

import pytest

from cellcheck.checking.cards import card
from cellcheck.checking.judge import PUBLIC_SEED, Judge
from cellcheck.gradebook.draft import outputs
from cellcheck.gradebook.feedback import page
from cellcheck.running.grade import grade, grade_submission
from cellcheck.running.result import OwnTest
from cellcheck.syllabus import load_lesson, load_probes
from tests.attacks.attacks import LESSON, PATIENT, SEED, answer, code, notebook, setup
from tests.running.submissions import with_tests


def met(seed: int) -> set[str]:
    """The numbers that a learner's `pick` keeps in mind when it is asked about this seed's cases."""
    cases = Judge(load_lesson(LESSON)["pick"], load_probes(LESSON)["pick"], seed).cases
    return {f"{float(case.inputs['values'].flatten()[0]):.7f}" for case in cases if case.inputs["values"].numel()}


# Each begins with what keeps the hidden inputs in mind; SEEN is a text of all that was met so far.
KEEP = """
MET = []
def keep(values):
    MET.extend(f"{float(v):.7f}" for v in values.flatten()[:1])
    return "SEEN " + " ".join(MET)[-250:]
"""
RIGHT = answer("pick").replace("def pick(", "def right(")
TELLING = {
    "in an error": "def pick(values, index):\n    raise ValueError(keep(values))",
    "in the name of an error": "def pick(values, index):\n    raise type(keep(values), (Exception,), {})",
    "in an error of the last case": f"{RIGHT}\ndef pick(values, index):\n    seen = keep(values)\n"
    "    if len(MET) > 3: raise ValueError(seen)\n    return right(values, index)",
    "in a text that is no answer": "def pick(values, index):\n    return keep(values)",
    "in numbers": "def pick(values, index):\n    keep(values)\n    return torch.tensor([float(x) for x in MET])",
    "in the line of an error": "def pick(values, index):\n    exec(f'raise ValueError # {keep(values)}')",
    "in a type": "def pick(values, index):\n    return type(keep(values), (), {})()",
    "in a file, told later": "def pick(values, index):\n    print(keep(values), file=open('/tmp/seen', 'a'))",
}
LATER = """
import os
told = " ".join(MET)[-200:] + (open('/tmp/seen').read()[-200:] if os.path.exists('/tmp/seen') else '')
"""


@pytest.mark.parametrize("name", TELLING)
def test_no_hidden_input_is_told(name: str, course: Path) -> None:
    numbers, repairs = shown(name, course, SEED)
    # A page has a hundred numbers of its own; with another seed, one of them may look like this seed's.
    others, _ = shown(name, course, SEED - 1)
    assert len(met(SEED) - met(SEED - 1)) > 3
    assert not met(SEED) & numbers - others
    assert not {f"{float(number):.4f}" for number in met(SEED)} & numbers - others
    assert met(PUBLIC_SEED) & numbers  # what was met may be told there, and would be found
    assert [r for r in repairs if "ValueError" in r]  # something is said


def shown(name: str, course: Path, seed: int) -> tuple[set[str], tuple[str, ...]]:
    """The numbers that anybody gets to see, and what is said of the cells."""
    cells = [code(setup(course)), code(KEEP), code(TELLING[name], "pick"), code("check(pick)", "test_pick")]
    cells += [
        code(f"{LATER}raise ValueError(told)"),
        code("def mse_loss(params, batch):\n    raise ValueError(' '.join(MET)[-250:])", "mse_loss"),
        code(f"def batched_dot(a, b): pass\n{LATER}raise KeyError(told)", "batched_dot"),
    ]
    own = [OwnTest("mine", f"{LATER}assert False, told", 1.0)]
    result = grade_submission({LESSON: notebook(cells)}, with_tests(own), seed, limits=PATIENT)
    cells_shown = [outputs(verdict, card(verdict)) for verdict in result.verdicts]
    everything = f"{result!r} {json.dumps(result.to_json())} {page(result, 'ada')} {cells_shown}"
    return set(re.findall(r"-?\d+\.\d+", everything)), tuple(result.repairs)


def test_what_happens_in_a_public_case_is_told(course: Path) -> None:
    cells = [code(setup(course)), code("def pick(values, index):\n    raise KeyError('my own words')", "pick")]
    cells += [
        code("1 / 0"),
        code("def mse_loss(params, batch): return 0.0\nraise ValueError('of this cell')", "mse_loss"),
    ]
    result = grade(notebook(cells), SEED, limits=PATIENT)
    messages = {verdict.symbol: verdict.message for verdict in result.verdicts}
    assert "my own words" in messages["pick"]
    assert any("ZeroDivisionError" in r for r in result.repairs)
    assert any("of this cell" in r for r in result.repairs)

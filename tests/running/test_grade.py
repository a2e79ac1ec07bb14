"""Grading a submission: each exercise costs itself only, and nothing hidden comes out.

A session costs two seconds, so many situations share a notebook.
"""

import contextlib
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch

from cellcheck.checking.check import Checker
from cellcheck.checking.judge import Judge, Verdict
from cellcheck.running import grade as grading
from cellcheck.running.grade import grade
from cellcheck.running.limits import Limits
from cellcheck.running.result import Result
from cellcheck.syllabus import load_lesson, load_probes
from tests.running.submissions import (
    FULL,
    LESSON,
    REPOSITORY,
    SYMBOLS,
    add,
    answer,
    as_bytes,
    filled_in,
    place_of,
    rough,
    stub,
    without_metadata,
)

QUICK = Limits(cell_seconds=2.0, probe_seconds=2.0)
SCHEMA = json.loads((REPOSITORY.root / "grader" / "cellcheck" / "results.schema.json").read_text("utf-8"))
STATUSES = set(SCHEMA["$defs"]["exercise"]["properties"]["status"]["enum"])


@pytest.fixture(scope="module", autouse=True)
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Grading needs no folder of the course: all of it happens in an empty one, and leaves it empty."""
    folder: Path = tmp_path_factory.mktemp("nowhere")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SECRET_TOKEN", "hush")
        yield folder
    assert list(folder.iterdir()) == []


def of(result: Result) -> dict[str, Verdict]:
    return {verdict.symbol: verdict for verdict in result.verdicts}


def assert_contract(result: Result) -> None:
    """The form of `--json`, which others read."""
    entry = json.loads(json.dumps(result.to_json()))
    jsonschema.validate({"version": 1, "results": [entry], "errors": []}, SCHEMA)
    assert entry["lesson"] == LESSON
    assert all(isinstance(entry[key], float) for key in ("score", "max_score", "seconds"))
    assert [exercise["symbol"] for exercise in entry["exercises"]] == SYMBOLS
    for exercise in entry["exercises"]:
        assert 0 <= exercise["score"] <= exercise["max_score"]
        assert (exercise["score"] == exercise["max_score"]) == (exercise["status"] == "passed")
        assert exercise["aspects"]
        assert exercise["message"]
    assert entry["score"] == pytest.approx(sum(exercise["score"] for exercise in entry["exercises"]))


def test_the_solution_has_full_marks() -> None:
    result = grade(as_bytes(filled_in()), seed=5, name="a.ipynb")
    assert_contract(result)
    assert (result.notebook, result.score, result.max_score, result.repairs) == ("a.ipynb", FULL, FULL, ())
    assert {place_of(filled_in(), symbol) + 1 for symbol in SYMBOLS} <= {place for place, _ in result.cells}


def test_the_blank_notebook_is_missing_everywhere() -> None:
    result = grade(as_bytes(filled_in(begins=0)), seed=5)
    assert_contract(result)
    assert result.score == 0
    assert {verdict.status for verdict in result.verdicts} == {"missing"}
    assert all("is still blank" in verdict.message for verdict in result.verdicts)


# --- one mistake costs one exercise -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def battered() -> Result:
    """Right answers, and among them nearly everything that can go wrong with a cell."""
    notebook = filled_in(
        {
            "pick": "def pick(values, index):\n    while True: pass",
            "mlp_predict_numpy": answer("mlp_predict_numpy") + "\nwhile True: pass",
            "mse_loss_numpy": "import os\ndef mse_loss_numpy(params, batch):\n    os._exit(0)",
            "mlp_predict": "def mlp_predict(params, inputs):\n    raise SystemExit",
            "mse_loss": "import ctypes\nctypes.string_at(0)\n" + answer("mse_loss"),
            "loss_gradients": "def loss_gradients(params, batch:\n    return 3",
            "sgd_step": "from transformer_course.training import sgd_step",
            "l2_penalty": "def l2_penalty(params):\n    return torch.empty(10**13).sum()",
            "MLP": answer("MLP") + "\nraise ValueError('after the definition')",
        }
    )
    # In a learner's own cells: a broken one, one that leaves, and a variable that must survive the restarts.
    add(notebook, place_of(notebook, "setup") + 1, "kept = 1 +", "import sys; sys.exit()", "kept = 'kept'")
    add(notebook, len(notebook.cells), "raise ValueError('\\ud800 <b>' + kept)")
    return grade(as_bytes(notebook), seed=5, limits=QUICK)


@pytest.mark.parametrize(
    ("symbol", "status", "sentence"),
    [
        ("pick", "timeout", "pick ran longer than 2 s: is there a loop that never ends?"),
        ("mlp_predict_numpy", "timeout", "Cell {} ran longer than 2 s: is there a loop that never ends?"),
        ("mse_loss_numpy", "crashed", "mse_loss_numpy ended the Python process"),
        ("mlp_predict", "error", "It stops with SystemExit."),
        ("mse_loss", "crashed", "Cell {} ended the Python process"),
        ("loss_gradients", "error", "Cell {}: It stops with SyntaxError: "),
        ("sgd_step", "missing", "This is the course's own sgd_step."),
        ("l2_penalty", "memory", "l2_penalty asks for more memory than a submission may use."),
    ],
)
def test_what_goes_wrong_costs_its_own_exercise(battered: Result, symbol: str, status: str, sentence: str) -> None:
    verdict = of(battered)[symbol]
    assert (verdict.score, verdict.status) == (0.0, status)
    assert sentence.format(place_of(filled_in(), symbol) + 4) in verdict.message


def test_and_no_other(battered: Result) -> None:
    assert_contract(battered)
    right = [symbol for symbol, verdict in of(battered).items() if verdict.status == "passed"]
    assert right == ["batched_dot", "linear_gradients", "MLP", "train", "loss_is_sound"]


def test_cells_that_fail_are_told(battered: Result) -> None:
    text = "\n".join(battered.repairs)
    first = place_of(filled_in(), "setup") + 2
    assert f"Cell {first}: It stops with SyntaxError" in text
    assert f"Cell {first + 1}: It stops with SystemExit" in text
    assert "ValueError: after the definition" in text
    # What had run is there again after each new start; and half a character can be written to a page.
    assert "<b>kept" in text
    text.encode("utf-8")


def test_two_threads_never_prepare_a_lesson_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    meeting = threading.Barrier(2)
    met = []

    def draw(lesson: str, seed: int) -> dict[str, Any]:
        with contextlib.suppress(threading.BrokenBarrierError):
            met.append(meeting.wait(timeout=0.2))
        return {}

    monkeypatch.setattr(grading, "_drawn", draw)
    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(lambda seed: grading._questions(LESSON, seed), (5, 5)))) == 2
    assert met == []


# --- what is right stays right ----------------------------------------------------------------------------------


def test_marks_do_not_depend_on_metadata_order_or_place() -> None:
    """No metadata, no set-up cell's own place, an answer in an extra cell, `check` in the middle of a cell."""
    notebook = filled_in({"pick": stub("pick")})
    add(notebook, place_of(notebook, "test_pick") + 1, answer("pick") + "\ncheck(pick)")
    result = grade(as_bytes(without_metadata(notebook)), seed=5)
    assert_contract(result)
    assert [v.symbol for v in result.verdicts if v.status != "passed"] == []
    assert any("lost its cell metadata" in repair for repair in result.repairs)


def test_magics_and_an_own_file_work_as_in_jupyter() -> None:
    source = """
%matplotlib inline
%time _ = 1
with open("helper.py", "w") as file:
    file.write("def last(x):\\n    return x[-1]")
from helper import last
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.show()
display(last([1, 2]))
result = await __import__("asyncio").sleep(0, result=3)
def pick(values, index):
    assert result == 3 and last([3]) == 3 and input is not None
    return values.gather(1, index[:, None])[:, 0]
"""
    result = grade(rough(f'import cellcheck\nimport torch\ncheck = cellcheck.checks("{LESSON}")', source), seed=5)
    assert result.repairs == ("The notebook had lost its cell metadata, so its cells were found by what they hold.",)
    assert of(result)["pick"].message == "pick is right."
    absent = of(result)["train"]
    assert (absent.status, absent.message) == ("missing", "train is not in the notebook, or its cell was emptied.")


def test_a_setting_left_changed_costs_as_much_as_in_the_notebook_and_the_generators_go_on() -> None:
    source = """
import random
import numpy as np
import torch
torch.set_autocast_enabled("cpu", False)
for seed in (torch.manual_seed, np.random.seed, random.seed):
    seed(42)
def pick(values, index):
    torch.rand(1), np.random.rand(), random.random()
    torch.set_autocast_enabled("cpu", True)
    return values.gather(1, index.unsqueeze(1)).squeeze(1)
check(pick)
"""
    after = """
import random
import numpy as np
import torch
drawn = torch.rand(1).item(), float(np.random.rand()), random.random(), torch.is_autocast_enabled("cpu")
def batched_dot(a, b):
    raise ValueError(f"{drawn[0]:.4f} {drawn[1]:.4f} {drawn[2]:.4f} {drawn[3]}")
check(batched_dot)
"""
    setup = f'import cellcheck\nimport torch\ncheck = cellcheck.checks("{LESSON}")'
    verdict = of(grade(rough(setup, source, after), seed=5))

    def pick(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        torch.set_autocast_enabled("cpu", True)
        return values.gather(1, index.unsqueeze(1)).squeeze(1)

    in_the_notebook = Checker(LESSON).verdict("pick", pick)
    assert (verdict["pick"].score, verdict["pick"].message) == (in_the_notebook.score, in_the_notebook.message)
    assert verdict["pick"].message.startswith("Your code leaves autocast changed")
    assert 0 < verdict["pick"].score < verdict["pick"].max_score
    torchs = torch.rand(1, generator=torch.Generator().manual_seed(42)).item()
    others = np.random.RandomState(42).rand(), random.Random(42).random()
    assert f"ValueError: {torchs:.4f} {others[0]:.4f} {others[1]:.4f} False." in verdict["batched_dot"].message


# --- what is hidden stays hidden --------------------------------------------------------------------------------

SPY = """
import os, sys, inspect
def tell(what):
    raise ValueError("told: " + str(what))
"""
# What attackers look for stands in tests/attacks/test_reading.py.
SPYING = {
    "environment": "tell(sorted(os.environ.items()))",
    "stdin": "tell(repr(os.read(0, 1)))",
    "arguments": "tell(sys.argv)",
}


def test_the_learners_process_holds_no_secret() -> None:
    notebook = filled_in({"batched_dot": "from transformer_course.tensors import batched_dot", "pick": stub("pick")})
    spies = [SPY, *SPYING.values()]
    add(notebook, place_of(notebook, "setup") + 1, *spies)
    # Once the learner has answered for a symbol, the course's text of it may be used.
    add(
        notebook,
        place_of(notebook, "pick"),
        "from transformer_course.tensors import batched_dot as theirs\ntell(theirs.__name__)",
    )
    seed = 730_194_682  # a number that no folder's name holds
    result = grade(as_bytes(notebook), seed=seed)
    *told, handed_over = [repair.removesuffix(" The cell was left out.") for repair in result.repairs]
    answers = dict(zip(SPYING, told, strict=True))
    assert "SECRET" not in answers["environment"]
    assert "hush" not in str(result.repairs)
    names = {"HOME", "IPYTHONDIR", "LC_ALL", "MPLBACKEND", "MPLCONFIGDIR", "OMP_NUM_THREADS", "PATH"}
    assert all(f"'{name}'" in answers["environment"] for name in names)
    assert "told: b''" in answers["stdin"]
    assert "warm" in answers["arguments"]
    assert str(seed) not in str(result.repairs)
    assert "told: batched_dot" in handed_over
    copied = of(result)["batched_dot"]
    assert (copied.score, copied.status) == (0.0, "missing")
    assert of(result)["pick"].status == "missing"
    # Neither costs the others anything.
    assert result.score == FULL - copied.max_score - of(result)["pick"].max_score


WRONG = {
    # No mistake that is known: what is said comes from the cases themselves.
    "batched_dot": "def batched_dot(a, b):\n    return (a @ b.mT) ** 3",
    "mse_loss_numpy": "def mse_loss_numpy(params, batch):\n    return float(batch[1].sum()) * 0.7",
    # Right on the public cases, which anybody can draw, and nowhere else.
    "pick": "def pick(values, index):\n"
    "    right = values.gather(1, index[:, None])[:, 0]\n"
    "    return right if tuple(values.shape) in SEEN else right * 7",
    "sgd_step": "def sgd_step(params, gradients, learning_rate):\n    raise KeyError('always')",
}


@pytest.fixture(scope="module")
def twice() -> tuple[Result, Result]:
    seen = {tuple(case.inputs["values"].shape) for case in public("pick").cases}
    notebook = filled_in(WRONG | {"pick": f"SEEN = {seen}\n{WRONG['pick']}"})
    return grade(as_bytes(notebook), seed=5), grade(as_bytes(notebook), seed=5)


def public(symbol: str) -> Judge:
    return Judge(load_lesson(LESSON)[symbol], load_probes(LESSON)[symbol], 0)


def test_the_same_seed_gives_the_same_result(twice: tuple[Result, Result]) -> None:
    one, other = (result.to_json() | {"seconds": 0} for result in twice)
    assert one == other
    assert one["score"] < one["max_score"]


def test_every_status_has_the_form_of_the_contract(battered: Result, twice: tuple[Result, Result]) -> None:
    assert_contract(twice[0])
    assert {verdict.status for result in (battered, twice[0]) for verdict in result.verdicts} == STATUSES


def test_what_is_told_comes_from_the_public_cases(twice: tuple[Result, Result]) -> None:
    space: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    for symbol in ("batched_dot", "mse_loss_numpy"):
        exec(WRONG[symbol], space)
        verdict = of(twice[0])[symbol]
        shown = Checker(LESSON).verdict(symbol, space[symbol])
        assert verdict.diagnosis is None
        assert verdict.message == shown.message
        assert verdict.evidence.label == shown.evidence.label
        for one, other in (
            (verdict.evidence.expected, shown.evidence.expected),
            (verdict.evidence.got, shown.evidence.got),
        ):
            assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))
    stops = of(twice[0])["sgd_step"]
    assert stops.message.startswith("It stops with KeyError: 'always'. The line is \"raise KeyError('always')\".")
    assert stops.evidence is None


def test_who_knows_the_public_cases_is_told_no_hidden_one(twice: tuple[Result, Result]) -> None:
    verdict = of(twice[0])["pick"]
    assert verdict.status != "passed"
    assert verdict.score < verdict.max_score
    assert verdict.evidence is None
    assert verdict.message.startswith("pick passes the notebook's own check, but not the hidden cases: ")
    hidden = Judge(load_lesson(LESSON)["pick"], load_probes(LESSON)["pick"], 5)
    for case in hidden.cases:
        assert str(tuple(case.inputs["values"].shape)) not in verdict.message

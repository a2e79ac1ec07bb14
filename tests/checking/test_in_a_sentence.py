"""A cell that stops for want of another one says which, in a real kernel; a learner's own slip is shown as always."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cellcheck.checking.check import NotYet
from cellcheck.checking.in_a_sentence import _defines, speak_in_sentences
from tests.kernels import outputs_in_a_kernel

Outputs = tuple[Mapping[str, list[Any]], Mapping[str, str]]

CELLS = {
    "set-up": 'import cellcheck\ncheck = cellcheck.checks("01_pytorch_basics")',
    "check too early": "check(mlp_predict)",
    "experiment too early": "print([mlp_predict(each, 1) for each in range(2)])",
    "a cell left out": "for place in range(2):\n    print(data.train_inputs)",
    "one of several left out": "print(losses)",
    "no guess": "guess_columns = None",
    "a guess left out": "print(index)",
    "blank": "def pick(values, index):\n    raise NotImplementedError()",
    "experiment with a blank": "pick(1, 2)",
    "own slip": "def batched_dot(a, b):\n    return a * dta\nbatched_dot(1, 2)",
    "own slip that another cell defines": "def batched_dot(a, b):\n    return a * data\nbatched_dot(1, 2)",
    "own order": "print(mlp_predict(1, 2))\ndef mlp_predict(x, layers):\n    return x",
    "own name": "print(nobody_knows)",
    "own error": "raise NotImplementedError('later')",
    "stopped": "import signal\ndef fit():\n    for _ in range(9):\n        signal.raise_signal(signal.SIGINT)\nfit()",
    "blank, checked": "check(pick)",
    "blank, checked by a person": 'import os\nos.environ["JPY_SESSION_NAME"] = "/nowhere/a.ipynb"\ncheck(pick)',
    "blank, checked by nbgrader": 'os.environ["NBGRADER_EXECUTION"] = "autograde"\ncheck(pick)',
}
KINDS = {
    **dict.fromkeys(
        ("check too early", "experiment too early", "a cell left out", "one of several left out", "a guess left out"),
        "NameError",
    ),
    **dict.fromkeys(("own slip", "own slip that another cell defines", "own order", "own name"), "NameError"),
    **dict.fromkeys(("experiment with a blank", "own error"), "NotImplementedError"),
    "stopped": "KeyboardInterrupt",
    **{name: "NotYet" for name in CELLS if name.startswith("blank, ")},
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """Each cell's outputs, and the errors that the kernel reported."""
    names, errors = list(CELLS), {}

    def take_down(cell_index: int, execute_reply: dict[str, Any], **_: Any) -> None:
        errors[names[cell_index]] = execute_reply["content"]["ename"]

    return outputs_in_a_kernel(CELLS, tmp_path_factory.mktemp("kernel"), on_cell_error=take_down), errors


def test_each_stays_an_error_of_its_kind(ran: Outputs) -> None:
    assert ran[1] == KINDS


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (
            "check too early",
            "`mlp_predict` isn't there yet: run its cell above, or use our version (the last fold above it).",
        ),
        ("experiment too early", "`mlp_predict` isn't there yet: run its cell above, or use our version"),
        ("a cell left out", "`data` isn't there yet: run the cell that begins with `data = noisy_curve(seed=0)`."),
        ("one of several left out", "`losses` isn't there yet: run the cells above this one first, from the top."),
        (
            "a guess left out",
            "`index` isn't there yet: the cell that begins with `guess_columns = None  # a tuple` awaits your guess.",
        ),
        ("experiment with a blank", "`pick` is still blank: write it in its cell above, or use our version"),
        ("stopped", "You stopped it, in the line `signal.raise_signal(signal.SIGINT)`."),
    ],
)
def test_one_sentence_says_what_to_run(ran: Outputs, cell: str, sentence: str) -> None:
    (error,) = ran[0][cell]
    assert error.ename == KINDS[cell]
    (line,) = error.traceback
    assert line.startswith(sentence)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("own slip", "return a * dta"),
        ("own slip that another cell defines", "return a * data"),
        ("own order", "print(mlp_predict(1, 2))"),
        ("own name", "print(nobody_knows)"),
        ("own error", "raise NotImplementedError('later')"),
    ],
)
def test_ones_own_slip_is_shown_with_its_line(ran: Outputs, cell: str, line: str) -> None:
    (error,) = ran[0][cell]
    assert line in re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))


def test_where_a_card_has_said_it_a_person_reads_it_once(
    ran: Outputs,
) -> None:
    shown = {name: [output.output_type for output in outputs] for name, outputs in ran[0].items()}
    assert shown["blank, checked"] == ["display_data", "error"]
    assert shown["blank, checked by a person"] == ["display_data"]
    assert shown["blank, checked by nbgrader"] == ["display_data", "error"]  # else it would be full marks


def test_what_a_cell_defines_is_what_its_own_lines_do() -> None:
    loop = "for d in range(2):\n    e = [f for f in 'x']"
    source = f"a, (b, c) = 1, (2, 3)\n{loop}\ndef g():\n    h = 1\nwith i as j:\n    k: int = 1"
    assert _defines(source) == set("abcdegjk")
    assert _defines("%matplotlib inline") == set()


def test_in_a_terminal_a_check_shows_no_frames_and_other_errors_theirs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    speak_in_sentences([], Path("nowhere.ipynb"))
    for error in (NotYet("Stopped here: pick is still blank."), ValueError("mine")):
        try:
            raise error
        except (NotYet, ValueError):
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    sentence, frames = capsys.readouterr().err.split("\n", 1)
    assert sentence == "Stopped here: pick is still blank."
    assert frames.startswith("Traceback")
    assert frames.endswith("ValueError: mine\n")


def test_a_hook_of_somebody_elses_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "excepthook", print)
    speak_in_sentences([], Path("nowhere.ipynb"))
    assert sys.excepthook is print

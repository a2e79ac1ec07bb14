"""`check` in a real kernel, as a learner and as nbgrader meet it; and outside Jupyter."""

import html
import inspect
import os
import re
import types
from typing import Any

import pytest

import cellcheck
from cellcheck.building.hints import GO_ON
from cellcheck.checking.check import Checker, NotYet
from cellcheck.checking.quiet import MAX_PRINTED, quiet
from cellcheck.running.blanks import blank
from cellcheck.syllabus import load_lesson
from tests.kernels import outputs_in_a_kernel

LESSON = "01_pytorch_basics"
POINTS = {exercise.symbol: exercise.points for exercise in load_lesson(LESSON).exercises}


def answer(symbol: str) -> str:
    return inspect.getsource(load_lesson(LESSON)[symbol].references[0])


SETUP = """
import os, subprocess, sys, warnings
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
import cellcheck
check = cellcheck.checks("01_pytorch_basics")
"""

NOISY = """
def pick(values, index):
    warnings.warn("careful")
    print("to stderr", file=sys.stderr)
    os.write(2, b"to file descriptor 2")
    os.system("echo from a process >&2")
    for i in range(7):
        print("<b>line", i, "</b>")
    return values.gather(1, index.unsqueeze(1)).squeeze(1)
"""

CELLS = {
    "setup": SETUP,
    "blank": blank(answer("batched_dot")) + "\ncheck(batched_dot)",
    "right": answer("batched_dot") + "\ncheck(batched_dot)",
    "by name": 'check("batched_dot")',
    "partial": "def batched_dot(a, b):\n    return (a @ b.transpose(1, 2)).detach()\ncheck(batched_dot)",
    "zero": "def batched_dot(a, b):\n    return torch.zeros(a.shape[0], a.shape[1], b.shape[1])\ncheck(batched_dot)",
    "error": "def batched_dot(a, b):\n    raise ValueError('<script>alert(1)</script>')\ncheck(batched_dot)",
    "noisy": NOISY + "check(pick)",
    "imported": "from transformer_course.tensors import pick as theirs\ncheck(theirs)",
    "imported by its name": "from transformer_course.tensors import pick\ncheck(pick)",
    "imported below the blank": blank(answer("pick")) + "\nfrom transformer_course.tensors import pick\ncheck(pick)",
    "unknown": "check(print)",
    "not there": 'check("train")',
    # The learner's own mlp_predict is wrong; mse_loss is right, and calls it.
    "earlier": "def mlp_predict(params, inputs):\n    return 'the learner\\'s'\n"
    + answer("mse_loss")
    + "\ncheck(mse_loss)",
    "restored": "mlp_predict(None, None)",
    "interrupt": "def batched_dot(a, b):\n    raise KeyboardInterrupt\ncheck(batched_dot)",
    "endless": "from cellcheck.checking import in_time\nin_time.WORKING_SECONDS = 0.3\n"
    "def batched_dot(a, b):\n    while True:\n        pass\ncheck(batched_dot)",
    "stubborn": "def batched_dot(a, b):\n    while True:\n        try:\n            a + b.mean()\n"
    "        except Exception:\n            pass\ncheck(batched_dot)",
    "deaf": "def batched_dot(a, b):\n    while True:\n        try:\n            a + b.mean()\n"
    "        except:\n            continue\ncheck(batched_dot)",
    "exit": "def batched_dot(a, b):\n    sys.exit()\ncheck(batched_dot)",
    "alive": "print('alive', sys.stdout is not None); print('still heard', file=sys.stderr)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Each cell's outputs, run from top to bottom in one kernel, as nbgrader does it."""
    return outputs_in_a_kernel(CELLS, tmp_path_factory.mktemp("kernel"))


def kinds(outputs: list[Any]) -> list[str]:
    return [output.output_type for output in outputs]


def marks(outputs: list[Any]) -> list[str]:
    """What nbgrader reads as a mark."""
    return [output.data["text/plain"] for output in outputs if output.output_type == "execute_result"]


@pytest.mark.parametrize("cell", ["right", "by name"])
def test_a_right_answer_returns_its_points_in_nbgraders_words(outputs: dict[str, list[Any]], cell: str) -> None:
    assert kinds(outputs[cell]) == ["execute_result"]
    assert marks(outputs[cell]) == [repr(float(POINTS["batched_dot"]))]
    assert "Right" in outputs[cell][0].data["text/html"]


def test_partial_credit_is_a_mark_between(outputs: dict[str, list[Any]]) -> None:
    (mark,) = marks(outputs["partial"])
    assert 0 < float(mark) < POINTS["batched_dot"]
    assert mark == repr(float(mark))
    shown = outputs["partial"][0].data["text/html"]
    assert "Partly right" in shown
    assert "gradient" in shown


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("blank", "batched_dot is still blank."),
        ("zero", "batched_dot earns no points yet"),
        ("error", "batched_dot earns no points yet"),
        ("exit", "batched_dot earns no points yet"),
        ("interrupt", "batched_dot earns no points yet"),
        ("endless", "batched_dot earns no points yet"),
        ("stubborn", "batched_dot earns no points yet"),
        ("deaf", "batched_dot earns no points yet"),
        ("unknown", "check does not know print. In this lesson it checks: batched_dot, pick,"),
        ("not there", "train is not there yet: run the cell that defines it, then check again."),
    ],
)
def test_a_zero_is_an_error_of_one_sentence(outputs: dict[str, list[Any]], cell: str, sentence: str) -> None:
    error = outputs[cell][-1]
    assert error.output_type == "error"
    assert error.ename == "NotYet"
    assert sentence in error.evalue
    assert error.traceback == [error.evalue]
    assert "\n" not in error.evalue
    assert "Traceback" not in error.evalue
    assert marks(outputs[cell]) == []


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("blank", "batched_dot is still blank: write it in its cell, run that cell, then check again."),
        ("zero", "Yours is zero everywhere."),
        ("error", "It stops with ValueError: <script>alert(1)</script>."),
        ("exit", "It stops with SystemExit."),
        ("interrupt", "You stopped it, in the line `raise KeyboardInterrupt`."),
        ("endless", "It is still running after 0.3 seconds, in the line `"),
        ("stubborn", "Does the loop ever end?"),
        ("deaf", "Does the loop ever end?"),
    ],
)
def test_a_zero_shows_its_card_and_the_card_is_no_mark(outputs: dict[str, list[Any]], cell: str, sentence: str) -> None:
    assert kinds(outputs[cell]) == ["display_data", "error"]
    data = outputs[cell][0].data
    assert sentence.replace("`", "") in html.unescape(re.sub(r"</?code.*?>", "", data["text/html"]))
    assert sentence in data["text/plain"]
    assert 'role="group"' in data["text/html"]
    assert "<script" not in data["text/html"]
    with pytest.raises(ValueError, match="could not convert"):
        float(data["text/plain"])


@pytest.mark.parametrize("cell", ["imported", "imported by its name", "imported below the blank"])
def test_whoever_goes_on_with_ours_is_not_stopped_and_earns_nothing(outputs: dict[str, list[Any]], cell: str) -> None:
    assert kinds(outputs[cell]) == ["execute_result"]
    assert marks(outputs[cell]) == ["0.0"]
    card = html.unescape(outputs[cell][0].data["text/html"])
    assert 'aria-label="Ours: pick"' in card
    assert "It earns no points, but every cell below works with it." in card


def test_each_answer_that_is_not_right_brings_one_more_hint_and_the_last_a_way_on(
    outputs: dict[str, list[Any]],
) -> None:
    for hints, cell in enumerate(("partial", "zero", "error"), start=1):
        shown = outputs[cell][0].data["text/html"]
        assert re.findall(r"<summary>Hint (\d) of 3</summary>", shown) == ["1", "2", "3"][:hints]
        assert "<p " in shown.partition("Hint 1 of 3")[2]
        assert (GO_ON in shown) == (hints == 3)
    assert '<code>torch.einsum("b??,b??->b??", a, b)</code>' in html.unescape(shown)
    for cell in ("blank", "noisy"):
        assert "Hint" not in outputs[cell][0].data["text/html"]
        assert GO_ON not in outputs[cell][0].data["text/html"]


def test_nothing_but_the_result_comes_out_of_a_noisy_answer(outputs: dict[str, list[Any]]) -> None:
    assert kinds(outputs["noisy"]) == ["execute_result"]
    assert marks(outputs["noisy"]) == [repr(POINTS["pick"])]


def test_what_is_printed_is_kept_on_the_card_as_text(outputs: dict[str, list[Any]]) -> None:
    shown = outputs["noisy"][0].data["text/html"]
    assert "What it printed" in shown
    assert "&lt;b&gt;line 0" in shown
    assert "line 4" in shown
    assert "line 5" not in shown  # the first few lines will do
    assert "stderr" not in shown


def test_no_cell_leaves_a_word_on_stderr_but_the_one_that_wants_to(outputs: dict[str, list[Any]]) -> None:
    loud = [name for name, each in outputs.items() if any(o.get("name") == "stderr" for o in each)]
    assert loud == ["alive"]


def test_an_earlier_mistake_does_not_cost_a_later_exercise_and_stays_the_learners(
    outputs: dict[str, list[Any]],
) -> None:
    assert marks(outputs["earlier"]) == [repr(POINTS["mse_loss"])]
    assert outputs["restored"][0].data["text/plain"] == '"the learner\'s"'


def test_after_all_that_the_kernel_lives_on(outputs: dict[str, list[Any]]) -> None:
    assert "alive True" in outputs["alive"][0].text


# --- outside Jupyter --------------------------------------------------------------------------------------------


def batched_dot(a: Any, b: Any) -> Any:
    return a @ b.transpose(1, 2)


def pick(values: Any, index: Any) -> Any:
    return values[:, index]


@pytest.fixture
def check() -> Checker:
    return Checker("01")


def test_a_terminal_gets_plain_lines(check: Checker, capsys: pytest.CaptureFixture[str]) -> None:
    report = check(batched_dot)
    assert float(report) == POINTS["batched_dot"]
    assert repr(report) == repr(POINTS["batched_dot"])
    printed = capsys.readouterr().out
    assert printed.startswith("batched_dot: right, ")
    assert "  [x] " in printed
    assert "[ ]" not in printed
    assert "<" not in printed


def test_a_zero_in_a_terminal_is_said_and_raised(check: Checker, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotYet, match="pick"):
        check(pick)
    printed = capsys.readouterr().out
    assert printed.startswith("pick: not yet, 0 of ")
    assert check.verdict("pick", pick).message in printed


def test_a_name_that_no_exercise_has(check: Checker) -> None:
    with pytest.raises(NotYet, match="There is no exercise 'nonsense' in lesson 01_pytorch_basics"):
        check("nonsense")


@pytest.mark.parametrize("given", [(), (None,), (3.5,)])
def test_a_result_instead_of_what_was_written(check: Checker, given: tuple[Any, ...]) -> None:
    """No exercise that isn't there yet is taken for it."""
    with pytest.raises(NotYet, match=r"that you wrote, without calling it: check\(batched_dot\)\.$"):
        check(*given)


def test_a_symbol_under_another_name_is_known_by_the_callers_name_for_it(check: Checker) -> None:
    solution = lambda a, b: a @ b.transpose(1, 2)  # noqa: E731
    globals_of_this_module = globals()
    original = globals_of_this_module["batched_dot"]
    globals_of_this_module["batched_dot"] = solution
    try:
        assert float(check(solution)) == POINTS["batched_dot"]
    finally:
        globals_of_this_module["batched_dot"] = original
    with pytest.raises(NotYet, match="check does not know <lambda>"):
        check(solution)


def test_quiet_keeps_the_beginning_and_gives_everything_back(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet() as printed:
        for _ in range(200):
            print("x" * 1000)
        os.write(2, b"unheard")
    assert MAX_PRINTED <= len(printed.getvalue()) <= 2 * MAX_PRINTED
    with pytest.raises(ZeroDivisionError), quiet():
        1 / 0  # noqa: B018
    os.write(2, b"heard again")
    print("and this too")
    assert capfd.readouterr() == ("and this too\n", "heard again")


def test_in_an_exam_there_are_as_many_checks_as_the_instructor_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = cellcheck.checks(LESSON).lesson["pick"].references[0]
    mine = types.FunctionType(pick.__code__, {"__name__": "__main__", **pick.__globals__, "__package__": None}, "pick")
    mine.__module__ = "__main__"
    exam, once = cellcheck.checks(LESSON, at_most=0), cellcheck.checks(LESSON, at_most=1)
    assert exam(mine) is None
    assert "There are no checks here. pick is marked after you have handed it in." in capsys.readouterr().out
    assert float(once(mine)) == POINTS["pick"]
    assert once(mine) is None
    assert "pick could be checked once, and has been." in capsys.readouterr().out
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")  # which reads its marks from what a check shows
    assert float(cellcheck.checks(LESSON, at_most=0)(mine)) == POINTS["pick"]

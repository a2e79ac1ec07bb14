"""The card: readable, self-contained, and never a way for a learner's text to become HTML."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cellcheck.authoring.observe import Opaque
from cellcheck.checking.cards import card, out_of, plain, points
from cellcheck.checking.check import Checker
from cellcheck.checking.judge import (
    CRASHED,
    ERROR,
    FAILED,
    MEMORY,
    MISSING,
    PARTIAL,
    PASSED,
    TIMEOUT,
    AspectResult,
    Evidence,
    Verdict,
)
from transformer_course.mlp import mlp_predict

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>"


def verdict(status: str = PARTIAL, **changes: Any) -> Verdict:
    values: dict[str, Any] = {
        "symbol": "pick",
        "score": {PASSED: 2.0, PARTIAL: 1.25}.get(status, 0.0),
        "max_score": 2.0,
        "status": status,
        "message": "Which axis should be gone?",
        "aspects": (AspectResult("shape", True), AspectResult("values", status == PASSED)),
    }
    return Verdict(**(values | changes))


def with_evidence(expected: Any, got: Any) -> str:
    return card(verdict(evidence=Evidence("on a batch of one", "output", expected, got)))


class _Reader(HTMLParser):
    """Collects the elements and the text, and sees to it that every element is closed in its order."""

    VOID = frozenset({"br", "img", "meta", "link", "hr", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize(
    "harmful",
    [
        verdict(FAILED, message=f"It stops with ValueError: {SCRIPT}."),
        verdict(MISSING, message=SCRIPT),
        verdict(printed=SCRIPT),
        verdict(PASSED, printed=SCRIPT),
        verdict(symbol=SCRIPT),
        verdict(aspects=(AspectResult(SCRIPT, False),)),
        verdict(evidence=Evidence(SCRIPT, "output", torch.ones(2), torch.zeros(2))),
        verdict(evidence=Evidence("on one row", "output", torch.ones(2), Opaque(SCRIPT))),
        verdict(evidence=Evidence("on one row", f"output[{SCRIPT!r}]", torch.ones(2), SCRIPT)),
    ],
)
def test_text_of_a_learner_stays_text(harmful: Verdict) -> None:
    reader = read(card(harmful))
    assert not {"script", "img"} & set(reader.elements)
    assert SCRIPT[:12] in reader.text  # it is shown, as text


@given(st.text(), st.text(), st.sampled_from([PASSED, PARTIAL, FAILED, MISSING]))
def test_no_text_can_break_out_of_the_card(message: str, printed: str, status: str) -> None:
    plain_card = read(card(verdict(status, message="a", printed="b" if printed else "")))
    assert read(card(verdict(status, message=message, printed=printed))).elements == plain_card.elements


@pytest.mark.parametrize(
    ("status", "title"),
    [(PASSED, "Right"), (PARTIAL, "Partly right"), (MISSING, "Still blank"), ("timeout", "Not yet")],
)
def test_the_title_says_how_it_stands(status: str, title: str) -> None:
    text = read(card(verdict(status))).text
    assert title in text
    assert "of 2 points" in text
    assert ("Which axis should be gone?" in text) == (status != PASSED)


def test_what_is_wrong_has_a_sign_and_a_word_beside_its_colour() -> None:
    signs = r'aria-label="(holds|fails)">(&#\d+;)</span> (\w+)'
    assert re.findall(signs, card(verdict())) == [("fails", "&#10007;", "values")]
    assert re.findall(signs, card(verdict(PASSED))) == [
        ("holds", "&#10003;", "shape"),
        ("holds", "&#10003;", "values"),
    ]


def test_plain_lines() -> None:
    assert plain(verdict(printed="hello")).splitlines() == [
        "pick: partly right, 1.25 of 2 points",
        "  Which axis should be gone?",
        "  [ ] values",
        "  Right already: shape.",
        "  It printed: hello",
    ]
    assert "good company" not in plain(verdict())
    assert plain(verdict(reported_in="owner/project")).splitlines()[-2:] == [
        "  You're in good company: the same slip has been reported in owner/project.",
        "  Right already: shape.",
    ]
    assert plain(verdict(PASSED)).splitlines() == ["pick: right, 2 of 2 points", "  [x] shape", "  [x] values"]
    assert plain(verdict(MISSING)).splitlines() == [
        "pick: still blank, 0 of 2 points",
        "  Which axis should be gone?",
    ]


def summed_absolute_errors(params: Any, batch: Any) -> torch.Tensor:
    """Two slips, and two sentences."""
    inputs, targets = batch
    return (mlp_predict(params, inputs) - targets).abs().sum().detach()


def test_each_of_two_mistakes_has_a_paragraph() -> None:
    both = Checker("01").verdict("mse_loss", summed_absolute_errors)
    first, second, last = (line.strip() for line in plain(both).splitlines()[1:4])
    assert first.endswith("what do the M and the S stand for?")
    assert second.startswith("There seems to be a second mistake, too. No gradient flows back")
    assert last == "(Each of the two is described as if it were the only one.)"
    assert " ".join((first, second, last)) == both.message
    assert card(both).count("<p ") == 3
    assert card(verdict()).count("<p ") == 1


SHAPE = AspectResult("shape", True, "It has the shape that the docstring gives.")
VALUES = AspectResult("values", False, "Each entry is right.", core=True)
DTYPE = AspectResult("dtype kept", False, 'float64 stays "float64".')
ONE = AspectResult("batch of one", False, "One row will do.")


def told(verdict: Verdict) -> list[str]:
    """What is said of the aspects; the card says the same as the lines of text."""
    lines = [line.removeprefix("  ") for line in plain(verdict).splitlines()[2:]]
    text = read(card(verdict)).text
    for line in lines:
        assert all(part in text for part in re.split(r"\[ \] |\. What is asked for: ", line)), line
    return lines


def test_the_core_comes_first_and_the_rest_waits_for_it() -> None:
    assert told(verdict(FAILED, aspects=(SHAPE, DTYPE, VALUES, ONE))) == [
        "[ ] values. What is asked for: Each entry is right.",
        "Right already: shape.",
        "Not judged yet: dtype kept, batch of one.",
    ]


def test_names_with_a_comma_of_their_own_can_be_told_apart() -> None:
    padding = AspectResult("all padding, or none", True)
    assert told(verdict(FAILED, aspects=(SHAPE, padding, VALUES, ONE)))[1:] == [
        "Right already: shape; all padding, or none.",
        "Not judged yet: batch of one.",
    ]


def test_where_the_core_is_right_the_first_thing_that_fails_is_explained() -> None:
    assert told(verdict(aspects=(SHAPE, DTYPE, replace(VALUES, passed=True), ONE))) == [
        '[ ] dtype kept. What is asked for: float64 stays "float64".',
        "Right already: shape, values.",
        "Next: batch of one.",
    ]


def test_the_shape_that_the_message_speaks_of_goes_before_the_core() -> None:
    shape = replace(SHAPE, passed=False, told=True)
    assert told(verdict(FAILED, aspects=(shape, DTYPE, VALUES, ONE))) == [
        "[ ] shape. What is asked for: It has the shape that the docstring gives.",
        "Not judged yet: values, dtype kept, batch of one.",
    ]


@pytest.mark.parametrize("diagnosis", [None, "rounded"])
def test_what_costs_half_of_the_points_is_told(diagnosis: str | None) -> None:
    """Or else one thing that is missing beside three that are right would look like a quarter of the points."""
    dear = replace(DTYPE, central=True)
    lines = told(verdict(aspects=(SHAPE, dear, replace(VALUES, passed=True), ONE), diagnosis=diagnosis))
    assert "At least half of the points depend on: dtype kept." in lines
    held = replace(dear, passed=True)
    assert not any("half" in line for line in told(verdict(aspects=(SHAPE, held, VALUES, ONE), diagnosis=diagnosis)))


def test_what_could_not_be_looked_at_is_neither_right_nor_wrong() -> None:
    dtype = replace(DTYPE, passed=True, seen=False)
    assert told(verdict(FAILED, aspects=(SHAPE, dtype, VALUES))) == [
        "[ ] values. What is asked for: Each entry is right.",
        "Right already: shape.",
        "Not judged yet: dtype kept.",
    ]
    assert told(verdict(FAILED, aspects=(SHAPE, dtype, VALUES), diagnosis="summed")) == ["Right already: shape."]


@pytest.mark.parametrize("recognised", [{"diagnosis": "summed"}, {"patients": "It misjudges a loss."}])
def test_of_what_is_recognised_nothing_is_crossed_out(recognised: dict[str, str]) -> None:
    judged = verdict(aspects=(SHAPE, DTYPE, VALUES, ONE), **recognised)
    assert told(judged) == ["Right already: shape."]
    assert "&#10007;" not in card(judged)


@pytest.mark.parametrize("status", [ERROR, TIMEOUT, MEMORY, CRASHED])
def test_what_never_got_so_far_is_not_looked_at(status: str) -> None:
    assert told(verdict(status, aspects=(replace(SHAPE, passed=False), VALUES))) == []


@pytest.mark.parametrize(("score", "title"), [(0.9, "Not yet"), (1.0, "Partly right")])
def test_partly_right_is_what_has_half_of_the_points(score: float, title: str) -> None:
    judged = verdict(PARTIAL, score=score)
    assert title in read(card(judged)).text
    assert plain(judged).startswith(f"pick: {title.lower()}, ")


def test_inputs_that_help_stand_beside_the_two() -> None:
    beside = {"probabilities": torch.tensor([0.75, 0.25]), "p": 0.6}
    evidence = Evidence("with a p", "output", torch.ones(2), torch.zeros(2), "the share of each token", beside)
    text = read(card(verdict(evidence=evidence))).text
    assert "The share of each token, seen with a p:" in text
    assert "probabilities (2,)" in text
    assert "0.75" in text
    assert "p0.6" in text


def test_dollar_signs_of_learners_are_no_formulas() -> None:
    assert 'class="tex2jax_ignore mathjax_ignore"' in card(verdict(message="It says $a$."))


def test_points_are_short() -> None:
    assert [points(score) for score in (3.0, 1.25, 0.0, 0.1 + 0.2)] == ["3", "1.25", "0", "0.3"]


@pytest.mark.parametrize(
    ("score", "most", "words"), [(0.27, 1, "0.27 of 1 point"), (1, 1.5, "1 of 1.5 points"), (1.0, 2.0, "1 of 2 points")]
)
def test_what_there_is_to_earn_decides_between_point_and_points(score: float, most: float, words: str) -> None:
    assert out_of(score, most) == words
    verdict = Verdict("f", score, most, PARTIAL, "m")
    assert plain(verdict).splitlines()[0].endswith(f", {words}")
    assert f"{words}</span>" in card(verdict)


def test_expected_stands_beside_yours_with_the_wrong_entries_marked() -> None:
    html = with_evidence(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, -2.0], [3.0, 4.0]]))
    text = read(html).text
    assert "expected (2, 2)" in text
    assert "yours (2, 2)" in text
    assert "The result, seen on a batch of one:" in text
    assert html.count("&#10007;</span></td>") == 1
    assert re.search(r"&minus;2<span [^>]*> &#10007;</span></td>", html)
    assert set(re.findall(r"min-width:(\d+)ch", html)) == {"2"}  # all cells, so that the eye can compare


def test_of_a_stack_the_first_wrong_matrix_is_shown() -> None:
    expected = torch.zeros(4, 3, 2)
    got = expected.clone()
    got[2, 1, 0] = 5
    text = read(with_evidence(expected, got)).text
    assert "expected (4, 3, 2), entry [2]" in text
    assert "yours (4, 3, 2), entry [2]" in text
    assert "5 ✗" in text


def test_other_shapes_and_kinds_stand_beside_each_other_too() -> None:
    text = read(with_evidence(torch.ones(2, 3), torch.ones(3))).text
    assert "expected (2, 3)" in text
    assert "yours (3,)" in text
    assert "yoursNone" in read(with_evidence(torch.ones(2), None)).text
    assert "expected" not in read(with_evidence(1.0, 2.0)).text  # the message has said both numbers


def test_large_matrices_are_cut() -> None:
    html = with_evidence(torch.ones(50, 60), torch.zeros(50, 60))
    assert html.count("<tr") == 2 * 9
    assert html.count("<td style") == 2 * 64
    assert len(html) < 50_000


def test_the_same_numbers_of_another_dtype_are_shown_without_a_mark() -> None:
    stack = torch.ones(4, 3, 2)
    html = with_evidence(stack, stack.double())
    assert "expected (4, 3, 2), entry [0]" in read(html).text
    assert "&#10007;</span></td>" not in html


@pytest.mark.parametrize(
    "numbers",
    [
        torch.tensor(1.5),
        torch.tensor([float("nan"), float("inf"), -float("inf")]),
        torch.tensor([True, False]),
        torch.zeros(3),
        torch.empty(0, 3),
        torch.ones(2, 2, dtype=torch.bfloat16),
        np.arange(6).reshape(2, 3),
        np.float64(3.0),
        torch.ones(2, 3, 2, 3),
    ],
)
def test_every_kind_of_numbers_can_be_shown(numbers: Any) -> None:
    for got in (numbers, None, torch.ones(7)):
        read(with_evidence(numbers, got))


def test_lists_of_fractions_are_tables() -> None:
    right = [[0.01275775907699572, 0.5], [0.25, 0.5]]
    html = with_evidence(right, [[0.01275775907699572, 0.5], [0.25, 0.75]])
    assert "expected (2, 2)" in read(html).text
    assert "0.0128" in read(html).text
    assert "0.01275775907699572" not in html
    assert html.count("&#10007;</span></td>") == 1
    assert "expected (2,)" in read(with_evidence([0.5, 0.25], [0.5])).text


@pytest.mark.parametrize("got", [None, [], [[0.5], [0.5, 0.5]], [0.5, "a"]])
def test_beside_another_kind_of_list_they_are_shown_as_python_writes_them(got: Any) -> None:
    text = read(with_evidence([0.5, 0.25], got)).text
    assert "[0.5, 0.25]" in text
    assert str(got) in text


@pytest.mark.parametrize(
    ("expected", "got", "shown"),
    [
        ([1, 2], [1, 3], ["[1, 2]", "[1, 3]"]),
        ("a<b", "a&b", ["'a<b'", "'a&b'"]),
        ({"a": 1}, {"a": 2}, ["{'a': 1}", "{'a': 2}"]),
        ([("t", "h")], None, ["[('t', 'h')]", "None"]),
        (["x" * 900], Opaque("an object of type zip"), ["x ...", "an object of type zip"]),
    ],
)
def test_lists_and_texts_are_shown_as_python_writes_them(expected: Any, got: Any, shown: list[str]) -> None:
    text = read(with_evidence(expected, got)).text
    assert all(part in text for part in shown)
    assert len(text) < 1500


def test_what_stands_between_backticks_is_code() -> None:
    shown = card(verdict(message="You call `x.mean(<b>)`; what of `y`? An odd ` is one."))
    codes = re.findall(r"<code[^>]*>(.*?)</code>", shown)
    assert codes[1:] == ["x.mean(&lt;b&gt;)", "y"]  # the first is the symbol
    assert "An odd ` is one." in shown

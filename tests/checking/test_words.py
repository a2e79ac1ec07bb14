"""Sentences about a difference: what is said, and how two arrays are related."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grader.authoring.observe import Opaque
from grader.checking.compare import compare
from grader.checking.words import kind_of, place, relation, say, say_error

A = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
EYE = torch.eye(2)


def said(expected: Any, got: Any, key: str = "output") -> str:
    return say(compare({key: expected}, {key: got})[0])


@pytest.mark.parametrize(
    ("expected", "got", "sentence"),
    [
        (A, A.numpy(), "The result should be a tensor of shape (2, 3), but it is a NumPy array of shape (2, 3)."),
        (A, None, "The result should be a tensor of shape (2, 3), but it is None (is there a return?)."),
        (1.5, Opaque("an object of type zip"), "The result should be the number 1.5, but it is an object of type zip."),
        (
            A,
            A.T.contiguous(),
            "The result should have the shape (2, 3), but it has (3, 2). "
            "The same axes in another order: which two are swapped?",
        ),
        (
            A,
            A[None],
            "The result should have the shape (2, 3), but it has (1, 2, 3). An axis of length 1 too many or too few.",
        ),
        (
            A,
            A.sum(1),
            "The result should have the shape (2, 3), but it has (2,). An axis is gone: what was summed or picked?",
        ),
        ([A, A, A], [A], "The result should have 3 entries, but it has 1."),
        (
            A,
            A.double(),
            "The result should keep the dtype float32, but it is float64. "
            "Which line makes a new tensor or converts one?",
        ),
        (
            A,
            A * float("nan"),
            "The result holds NaN, where numbers are expected. Look for 0/0, or infinity minus infinity.",
        ),
        (
            A,
            A.masked_fill(A > 4, -float("inf")),
            "The result is minus infinity in other places than expected.",
        ),
        (True, False, "The result should be True, but it is False."),
        ("a", "b", "The result should be the text 'a', but it is the text 'b'."),
        (2.5, -2.5, "The result should be 2.5, but it is -2.5. Yours is the expected one with the sign turned round."),
        (2.0, 6.0, "The result should be 2, but it is 6. Yours is 3 times the expected one."),
        (2.0, 6.5, "The result should be 2, but it is 6.5."),  # any two numbers have a factor
        (
            A,
            A + torch.tensor([[0.0, 0, 0], [0, 0.5, 0]]),
            "The result has the right shape, but 1 of 6 entries differ. At [1, 1] 5 is expected, and it is 5.5.",
        ),
        (
            torch.tensor([True, False]),
            torch.tensor([True, True]),
            "The result has the right shape, but 1 of 2 entries differ. At [1] False is expected, and it is True.",
        ),
    ],
)
def test_what_is_said(expected: Any, got: Any, sentence: str) -> None:
    assert said(expected, got) == sentence


def test_what_is_said_of_arguments_and_gradients() -> None:
    before = {"values": [A], "requires_grad": [False], "grad": [None]}
    assert said(before, before | {"values": [A + 1]}, "arguments").startswith("An argument was changed on the way.")
    assert "requires_grad was switched" in said(before, before | {"requires_grad": [True]}, "arguments")
    assert "left behind in the .grad" in said(before, before | {"grad": [A]}, "arguments")
    assert said([A], "cut off", "gradients").startswith("No gradient flows back")
    assert said([A], [None], "gradients").startswith("No gradient reaches one of the inputs")
    stopped = said([A], "stopped with RuntimeError: no grad for view.", "gradients")
    assert stopped == "With inputs that want gradients it stopped with RuntimeError: no grad for view."
    assert "floating-point numbers" in said([A], "no tensor to follow", "gradients")


def test_what_a_probe_saw_is_said_in_its_own_words() -> None:
    assert (
        said("hidden", "seen", "padding_in_the_encoder") == "Padding in the encoder should be hidden, but it is seen."
    )
    assert said("above 0", 3, "leak") == "Leak should be above 0, but it is the number 3."
    assert said("abc", "abd") == "The result should be the text 'abc', but it is the text 'abd'."


def test_what_is_said_of_errors() -> None:
    error = {"type": "ValueError", "message": "too short", "line": "x = y[3]"}
    assert say_error(error) == 'It stops with ValueError: too short. The line is "x = y[3]".'
    assert say_error({"type": "Oops", "message": "", "line": ""}) == "It stops with Oops."
    assert say_error(None) == "It should stop with a clear error here, and it goes on."


def test_places_and_kinds_in_words() -> None:
    assert [place(p) for p in ("output", "gradients[1]", "kind_of_losses", "output[0]['a']")] == [
        "the result",
        "the gradients[1]",
        "kind of losses",
        "the result[0]['a']",
    ]
    assert kind_of((1, 2)) == "a tuple of 2"
    assert kind_of({}) == "a dict"
    assert kind_of(0.123456789) == "the number 0.123457"


# --- how two arrays are related ---------------------------------------------------------------------------------

matrices = arrays.arrays(np.float64, (3, 4), elements=st.floats(-100, 100, width=32)).filter(
    # No row or column like another, so that only one relation can hold.
    lambda m: np.ptp(m) > 1 and np.abs(m).max() > 1
)


@given(matrices)
def test_the_same_has_no_relation_to_tell(matrix: np.ndarray) -> None:
    assert "sign" not in relation(matrix, matrix)
    assert "times" not in relation(matrix, matrix)
    assert "plus" not in relation(matrix, matrix)


@given(matrices)
def test_negated(matrix: np.ndarray) -> None:
    assert relation(matrix, -matrix) == " Yours is the expected one with the sign turned round."


@given(arrays.arrays(np.float64, (3, 3), elements=st.floats(-100, 100, width=32)))
def test_transposed(matrix: np.ndarray) -> None:
    scale = np.abs(matrix).max()
    assume(scale > 1)
    assume(np.abs(matrix - matrix.T).max() > 0.1 * scale)
    assume(np.abs(matrix + matrix.T).max() > 0.1 * scale)
    assert relation(matrix, matrix.T) == " Yours is the expected one with its last two axes swapped."


@given(matrices, st.sampled_from([0.01, 0.5, 2.0, 12.0, -3.0]))
def test_a_factor(matrix: np.ndarray, factor: float) -> None:
    assert relation(matrix, factor * matrix) == f" Yours is {factor:.4g} times the expected one everywhere."


@given(matrices, st.sampled_from([-7.5, 0.5, 1000.0]))
def test_a_shift(matrix: np.ndarray, shift: float) -> None:
    assume(np.ptp(matrix) > 0.1 * np.abs(matrix).max())
    assert relation(matrix, matrix + shift) == f" Yours is the expected one plus {shift:.4g} everywhere."


@given(matrices)
def test_zero_everywhere(matrix: np.ndarray) -> None:
    assert relation(matrix, np.zeros_like(matrix)) == " Yours is zero everywhere."


def test_lost_precision_and_no_relation() -> None:
    matrix = np.arange(1.0, 7.0).reshape(2, 3)
    assert "precision" in relation(matrix, matrix.astype(np.float16).astype(np.float64) * 1.00001)
    assert relation(matrix, matrix**2) == ""
    assert relation(np.zeros((2, 3)), matrix) == ""
    assert relation(matrix, matrix * np.inf) == ""
    assert relation(np.empty((0, 3)), np.empty((0, 3))) == ""


@given(st.data())
def test_every_difference_of_two_arrays_can_be_said(data: st.DataObject) -> None:
    shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    dtypes = st.sampled_from(["float32", "float64", "float16", "int64", "uint8", "bool"])
    any_array = arrays.arrays(dtypes, shapes)
    expected, got = data.draw(any_array), data.draw(any_array)
    for turn in (lambda array: array, lambda array: torch.from_numpy(array.copy())):
        for difference in compare({"output": turn(expected)}, {"output": turn(got)}):
            sentence = say(difference)
            assert sentence.startswith("The result")
            assert sentence.endswith((".", "?"))
            assert "\n" not in sentence

"""Sentences about a difference: what is said, and how two arrays are related."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cellcheck.authoring.observe import Opaque
from cellcheck.checking.compare import compare
from cellcheck.checking.words import kind_of, place, relation, say, say_error

A = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
EYE = torch.eye(2)


def said(expected: Any, got: Any, key: str = "output") -> str:
    return say(compare({key: expected}, {key: got})[0])


@pytest.mark.parametrize(
    ("expected", "got", "sentence"),
    [
        (A, A.numpy(), "The result should be a tensor of shape (2, 3), but it is a NumPy array of shape (2, 3)."),
        (
            A,
            None,
            "The result should be a tensor of shape (2, 3), but it is None. "
            "A function gives None where it ends without a return, and so do methods such as list.sort.",
        ),
        (1.5, Opaque("an object of type zip"), "The result should be the number 1.5, but it is an object of type zip."),
        (
            A,
            A.T.contiguous(),
            "The result should have the shape (2, 3), but it has (3, 2). "
            "These are the same sizes in another order: are two axes swapped?",
        ),
        (
            A,
            A[None],
            "The result should have the shape (2, 3), but it has (1, 2, 3). They differ only in axes of length 1.",
        ),
        (
            A,
            A.sum(1),
            "The result should have the shape (2, 3), but it has (2,). That is 1 axis too few.",
        ),
        ([A, A, A], [A], "The result should have length 3, but it has length 1."),
        (
            A,
            A.double(),
            "The result should have the dtype float32, but it has float64. "
            "Which line makes a new tensor, or converts one?",
        ),
        (
            A,
            A * float("nan"),
            "The result has NaN where numbers are expected. NaN comes from 0/0 or inf - inf, for example.",
        ),
        (
            A,
            A.masked_fill(A > 4, -float("inf")),
            "The result is minus infinity in places where numbers are expected.",
        ),
        (True, False, "The result should be True, but it is False."),
        ("a", "b", "The result should be the text 'a', but it is the text 'b'."),
        (2.5, -2.5, "The result should be 2.5, but it is -2.5. Yours has the opposite sign."),
        (2.25, 6.75, "The result should be 2.25, but it is 6.75."),  # any two numbers have a factor
        (
            A,
            A + torch.tensor([[0.0, 0, 0], [0, 0.5, 0]]),
            "1 of 6 entries of the result differs. Entry [1, 1] should be 5, but it is 5.5.",
        ),
        (
            torch.tensor([True, False]),
            torch.tensor([True, True]),
            "1 of 2 entries of the result differs. Entry [1] should be False, but it is True. "
            "Yours is True everywhere.",
        ),
    ],
)
def test_what_is_said(expected: Any, got: Any, sentence: str) -> None:
    assert said(expected, got) == sentence


def test_a_value_within_an_entry_has_another_word_than_the_entry() -> None:
    assert said([A], [A * 3]).startswith(
        "6 of 6 values in entry [0] of the result differ. The one at [0, 0] should be 1, but it is 3."
    )


def test_what_is_said_of_arguments_and_gradients() -> None:
    before = {"values": [A], "requires_grad": [False], "grad": [None]}
    assert said(before, before | {"values": [A + 1]}, "arguments").startswith(
        "An argument isn't what it was before the call. Work on a copy"
    )
    assert "An argument's requires_grad isn't what it was" in said(
        before, before | {"requires_grad": [True]}, "arguments"
    )
    assert "The .grad of an argument isn't what it was" in said(before, before | {"grad": [A]}, "arguments")
    assert said([A], "cut off", "gradients").startswith("No gradient flows back")
    assert said([A], [None], "gradients").startswith("No gradient reaches one of the inputs")
    stopped = said([A], "stopped with RuntimeError: no grad for view.", "gradients")
    assert stopped == "With inputs that need gradients, it stopped with RuntimeError: no grad for view."
    leaf = "stopped with RuntimeError: a leaf Variable that requires grad is being used in an in-place operation."
    assert said([A], leaf, "gradients").startswith("An argument or a weight is changed in place")
    assert "floating-point numbers" in said([A], "no tensor to follow", "gradients")
    assert place("arguments[0]['values'][0][0]") == "an argument, after the call"


DETACH = "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


@pytest.mark.parametrize(
    "sentence",
    [
        say_error({"type": "RuntimeError", "message": DETACH, "line": "x = np.maximum(x, 0)"}),
        said([A], f"stopped with RuntimeError: {DETACH}", "gradients"),
        say_error(
            {"type": "TypeError", "message": "mean() got an unexpected keyword argument 'axis'", "line": "np.mean(x)"}
        ),
        say_error(
            {
                "type": "TypeError",
                "message": "max() received an invalid combination of arguments - got (out=NoneType, axis=int, ), but",
                "line": "return np.max(x, 0)",
            }
        ),
    ],
)
def test_a_tensor_in_numpys_hands_is_led_back_to_pytorch(sentence: str) -> None:
    assert "detach" not in sentence
    assert "Does a NumPy function get a tensor there?" in sentence


def test_a_keyword_of_ones_own_is_no_matter_of_numpys() -> None:
    error = {"type": "TypeError", "message": "f() got an unexpected keyword argument 'axis'", "line": "f(x, axis=0)"}
    assert "NumPy" not in say_error(error)


def test_what_a_probe_saw_is_said_in_its_own_words() -> None:
    assert (
        said("hidden", "seen", "padding_in_the_encoder")
        == 'Padding in the encoder: expected "hidden", but found "seen".'
    )
    assert said("above 0", 3, "leak") == 'Leak: expected "above 0", but found "the number 3".'
    assert said("hidden", "Your encoder reads padding.", "padding") == "Your encoder reads padding."
    assert said(A, "Your module has no query.") == "Your module has no query."
    assert said("abc", "abd") == "The result should be the text 'abc', but it is the text 'abd'."


@pytest.mark.parametrize(
    ("key", "expected", "got", "sentence"),
    [
        ("parts", {"q.weight": "(4, 4)"}, {"q.weight": "missing"}, "Your module has no q.weight, which should have"),
        ("parts", {"q.weight": "(4, 4)"}, {"q.weight": "(4, 2)"}, "q.weight should have the shape (4, 4), but it has"),
        (
            "parts",
            {"q.weight": "(4, 4)"},
            {"q.weight": "(4, 4), not among the parameters"},
            "q.weight isn't among your module's parameters",
        ),
        ("unused", "none", "norm1.weight", "No gradient reaches norm1.weight."),
        ("training_mode", [[True], [False]], [[True], [True]], "After the call, the module isn't in the mode"),
    ],
)
def test_what_is_said_of_a_module(key: str, expected: Any, got: Any, sentence: str) -> None:
    assert said(expected, got, key).startswith(sentence)


def test_what_is_said_of_errors() -> None:
    error = {"type": "ValueError", "message": "too short", "line": "x = y[3]"}
    assert say_error(error) == 'It stops with ValueError: too short. The line is "x = y[3]".'
    assert say_error({"type": "Oops", "message": "", "line": ""}) == "It stops with Oops."
    error = {"type": "SyntaxError", "message": "invalid syntax (<ipython-input-6-e599>, line 4)", "line": ""}
    assert say_error(error) == "It stops with SyntaxError: invalid syntax (line 4)."
    assert say_error(None) == "It should stop with a clear error here, but it carries on."


@pytest.mark.parametrize(
    ("rows", "columns", "sentence"),
    [
        ([4], slice(None), "All that differ stand in the last row."),
        ([0, 0], [1, 2], "All that differ stand in the first row."),
        ([1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 0, 1, 2, 0, 1, 2], "Only the first row is right."),
        (slice(None), [2], "All that differ stand in the last column."),
        ([0, 1, 2, 3, 4, 4, 3, 0], [0, 1, 0, 1, 0, 1, 0, 1], "Only the last column is right."),
        ([1], [1], ""),
        ([1, 4], [1, 0], ""),
    ],
)
def test_where_all_that_differs_stands(rows: Any, columns: Any, sentence: str) -> None:
    expected = torch.arange(15.0).reshape(5, 3)
    wrong = expected.clone()
    wrong[rows, columns] = expected[rows, columns] ** 2 + 20
    whereabouts = re.search(r"(?:All that|Only).*", said(expected, wrong))
    assert (whereabouts[0] if whereabouts else "") == sentence


def test_of_two_rows_nothing_is_said_and_of_a_list_it_is_an_entry() -> None:
    """One of two is always the first or the last."""
    square, wrong = torch.eye(2), torch.tensor([[1.0, 3.0], [0.0, 1.0]])
    assert said(square, wrong).endswith("but it is 3.")
    assert said(torch.arange(4.0), torch.tensor([0.0, 1.0, 2.0, 9.0])).endswith(
        "but it is 9. Only the last one differs."
    )


def test_places_and_kinds_in_words() -> None:
    assert [place(p) for p in ("output", "gradients[1]", "kind_of_losses", "output[0]['a']")] == [
        "the result",
        "entry [1] of the gradients",
        "kind of losses",
        "entry [0]['a'] of the result",
    ]
    assert kind_of((1, 2)) == "a tuple of length 2"
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


@given(arrays.arrays(np.float64, (3, 3), elements=st.floats(-100, 100, width=32)))
def test_transposed(matrix: np.ndarray) -> None:
    scale = np.abs(matrix).max()
    assume(scale > 1)
    assume(np.abs(matrix - matrix.T).max() > 0.1 * scale)
    assume(np.abs(matrix + matrix.T).max() > 0.1 * scale)
    assert relation(matrix, matrix.T) == " Yours is transposed: its last two axes are swapped."


@given(matrices, st.sampled_from([0.01, 0.5, 0.7, 2.0, 12.0, -3.0]))
def test_a_factor(matrix: np.ndarray, factor: float) -> None:
    assume((np.abs(matrix) > 0.1 * np.abs(matrix).max()).sum() > 2)
    assume(np.ptp(np.abs(matrix)) > 0.1 * np.abs(matrix).max())
    words = {0.01: "the expected result divided by 100", 0.5: "the expected result divided by 2"}
    sentence = words.get(factor, f"{factor:.4g} times the expected result")
    assert relation(matrix, factor * matrix) == f" Yours is {sentence} everywhere."


@given(matrices, st.sampled_from([-7.5, 0.5, 1000.0]))
def test_a_shift(matrix: np.ndarray, shift: float) -> None:
    assume(np.ptp(matrix) > 0.1 * np.abs(matrix).max())
    assume(not np.allclose(matrix + shift, -matrix, rtol=1e-3, atol=1e-3 * np.abs(matrix).max()))
    assume(np.any(matrix + shift))
    words = relation(matrix, matrix + shift)
    assert words == f" Every entry of yours is too {'large' if shift > 0 else 'small'} by {abs(shift):.4g}."


@given(matrices)
def test_negated_and_zero(matrix: np.ndarray) -> None:
    assert relation(matrix, -matrix) == " Yours has the opposite sign everywhere."
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
            assert "he result" in sentence
            assert sentence.endswith((".", "?"))
            assert "\n" not in sentence


# --- what is said is true ------------------------------------------------------------------------------------------

numbers = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, 3.25, -2.0, 1e-8, float("nan"), -float("inf")])
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    numbers,
    st.text("ab$", max_size=3),
    st.lists(st.integers(0, 2), max_size=3),
    st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=2),
    st.builds(
        lambda shape, dtype, items: torch.tensor(items[: shape[0] * shape[1]]).reshape(shape).to(dtype),
        st.sampled_from([(1, 1), (2, 2), (1, 4), (4, 1), (2, 3)]),
        st.sampled_from([torch.float32, torch.float64, torch.int64, torch.bool]),
        st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.5, 3.25]), min_size=6, max_size=6),
    ),
)
keys = st.sampled_from(["output", "losses", "weights", "arguments", "gradients"])


def is_true(sentence: str, expected: Any, got: Any) -> None:
    """Looks at each claim that a sentence about two arrays or numbers may make."""
    e, g = (torch.as_tensor(value).double().numpy() for value in (expected, got))
    if "opposite sign" in sentence:
        assert np.allclose(e, -g, rtol=1e-3)
    if "transposed" in sentence:
        assert np.allclose(e, np.swapaxes(g, -1, -2), rtol=1e-3)
        assert not np.allclose(e, g)
    if "zero everywhere" in sentence:
        assert not g.any()
    if match := re.search(r"Yours is (\S+) times", sentence):
        assert np.allclose(g, float(match[1]) * e, rtol=1e-3, atol=1e-3)
    if match := re.search(r"divided by (\d+)", sentence):
        assert np.allclose(g, e / float(match[1]), rtol=1e-3, atol=1e-3)
    if match := re.search(r"too (large|small) by (\S+)\.", sentence):
        assert np.allclose(g - e, float(match[2]) * (1 if match[1] == "large" else -1), rtol=1e-3, atol=1e-3)
    if match := re.search(r"Yours is (True|False) everywhere", sentence):
        assert (g == (match[1] == "True")).all()
    if "True and False are swapped" in sentence:
        assert (e != g).all()
    if match := re.search(r"(\d+) of (\d+) entries", sentence):
        assert 0 < int(match[1]) <= int(match[2]) == e.size
    if "same sizes in another order" in sentence:
        assert sorted(e.shape) == sorted(g.shape)
        assert e.shape != g.shape
    if match := re.search(r"That is (\d) ax[ei]s too (few|many)", sentence):
        assert abs(e.ndim - g.ndim) == int(match[1])
        assert (g.ndim < e.ndim) == (match[2] == "few")
    if "NaN where numbers are expected" in sentence:
        assert np.isnan(g).any()
        assert not np.isnan(e).any()
    if "NaN in none" in sentence:
        assert np.isnan(e).any()
        assert not np.isnan(g).any()
    if "minus infinity in places where numbers" in sentence:
        assert np.isneginf(g).any()
        assert not np.isneginf(e).any()


@settings(max_examples=400)
@given(keys, values, values)
def test_what_is_said_is_true_of_the_pair(key: str, expected: Any, got: Any) -> None:
    for difference in compare({key: expected}, {key: got}):
        sentence = say(difference)
        assert sentence.endswith((".", "?"))
        assert "return?" not in sentence
        if match := re.search(r"should (?:be|have) (.+?), but it (?:is|has) (.+?)\.(?: |$)", sentence):
            assert match[1] != match[2], sentence
        numeric = torch.Tensor | int | float
        if isinstance(difference.expected, numeric) and isinstance(difference.got, numeric):
            is_true(sentence, difference.expected, difference.got)


def test_long_texts_and_containers_are_told_apart() -> None:
    one, other = "a" * 70 + "b", "a" * 70 + "c"
    assert said(one, other) == "The result is the expected text up to character 70, but not from there on."
    assert said({"a": 1, "b": 2}, {"a": 1}) == "The result should have the key 'b', but it doesn't."
    assert said({"a": 1}, {"a": 1, "c": 2}) == "The result has the key 'c', which isn't expected."
    assert said(1.0, 1.00002).startswith("The result should be 1, but it is 1.00002. The two agree in their first")


def test_an_exercise_has_words_of_its_own_for_what_is_seen() -> None:
    (difference,) = compare({"output": 1.5}, {"output": 2.0})
    assert say(difference, {"output": "the share of each token"}).startswith("The share of each token should be 1.5")

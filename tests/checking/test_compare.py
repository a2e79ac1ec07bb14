"""Expected beside got: which differences are seen, of what kind, and what rounding is forgiven."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cellcheck.authoring.observe import Opaque
from cellcheck.checking.compare import KINDS, Comparing, compare, is_number, near

NAN, INF = float("nan"), float("inf")
EYE = torch.eye(2)


def error(kind: str) -> dict[str, Any]:
    return {"error": {"type": kind, "message": "", "line": ""}}


def kinds(expected: Any, got: Any) -> list[str]:
    return [difference.kind for difference in compare({"output": expected}, {"output": got})]


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (EYE, EYE.numpy(), "type"),
        (EYE, [[1.0, 0.0], [0.0, 1.0]], "type"),
        (EYE, None, "type"),
        (EYE, EYE[None], "shape"),
        (EYE, EYE[0], "shape"),
        (EYE, EYE.double(), "dtype"),
        (EYE, EYE.long(), "dtype"),
        (EYE, torch.tensor([[NAN, 0], [0, 1]]), "nan"),
        (torch.tensor([NAN, 1.0]), torch.tensor([1.0, 1.0]), "nan"),
        (torch.tensor([-INF, 1.0]), torch.tensor([0.0, 1.0]), "mask"),
        (torch.tensor([0.0, 1.0]), torch.tensor([-INF, 1.0]), "mask"),
        (torch.tensor([0.0, 1.0]), torch.tensor([INF, 1.0]), "values"),
        (EYE, 1.001 * EYE, "values"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "values"),
        (torch.tensor([True, False]), torch.tensor([True, True]), "values"),
        (np.ones(2), np.ones(3), "shape"),
        (np.ones(2), np.ones(2, dtype=np.float32), "dtype"),
        ([1.0, 2.0], [1.0], "shape"),
        ([1.0, 2.0], 3.0, "type"),
        ([EYE, EYE], [EYE, -EYE], "values"),
        ({"a": 1}, {"b": 1}, "values"),
        ({"a": 1}, [1], "type"),
        ({"a": 1}, {"a": 2}, "values"),
        (1.0, 1.001, "values"),
        (1.0, NAN, "nan"),
        (1, 2, "values"),
        (1.0, "1.0", "type"),
        (True, 1, "type"),
        (1, True, "type"),
        (True, False, "values"),
        (None, 0, "type"),
        ("float", "Tensor", "values"),
        (1.0, Opaque("a zip object"), "type"),
        (Opaque("a zip object"), Opaque("a generator"), "type"),
    ],
)
def test_a_difference_is_called_by_its_kind(expected: Any, got: Any, kind: str) -> None:
    assert kinds(expected, got) == [kind]


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, 1.0),  # the number counts, not how Python writes it
        (1.0, 1.0 + 1e-6),
        ((1, 2), [1, 2]),
        (NAN, NAN),
        (torch.tensor([NAN, -INF, INF, 1.0]), torch.tensor([NAN, -INF, INF, 1.0])),
        (torch.empty(0, 3), torch.empty(0, 3)),
        (Opaque("a zip object"), Opaque("a zip object")),
        (EYE, EYE.T),
    ],
)
def test_what_is_the_same(expected: Any, got: Any) -> None:
    assert kinds(expected, got) == []


@pytest.mark.parametrize(
    ("dtype", "forgiven", "seen"),
    [
        (torch.float64, 1e-10, 1e-6),
        (torch.float32, 1e-5, 1e-3),
        (torch.float16, 5e-3, 1e-1),
        (torch.bfloat16, 5e-3, 1e-1),
    ],
)
def test_each_dtype_has_its_own_rounding(dtype: torch.dtype, forgiven: float, seen: float) -> None:
    one = torch.ones(3, dtype=dtype)
    assert kinds(one, (one.double() * (1 + forgiven)).to(dtype)) == []
    assert kinds(one, (one.double() * (1 + seen)).to(dtype)) == ["values"]


def test_a_small_entry_beside_a_large_one_may_be_lost_in_rounding() -> None:
    large = torch.tensor([1000.0, 1e-3])
    assert kinds(large, torch.tensor([1000.0, 2e-3])) == []
    assert kinds(torch.tensor([1.0, 1e-3]), torch.tensor([1.0, 2e-3])) == ["values"]


def test_the_coarser_of_two_dtypes_sets_the_rounding() -> None:
    thirds = torch.tensor([1 / 3, 2 / 3], dtype=torch.float64)
    assert kinds(thirds, thirds.float()) == ["dtype"]  # and not "values" as well
    assert kinds(thirds, thirds.half()) == ["dtype"]
    assert kinds(thirds, 2 * thirds.float()) == ["dtype", "values"]


def test_a_dtype_does_not_hide_wrong_values_and_integers_are_compared_exactly() -> None:
    assert kinds(EYE, 2 * EYE.double()) == ["dtype", "values"]
    assert kinds(torch.tensor([10**9]), torch.tensor([10**9 + 1])) == ["values"]


def test_the_first_thing_to_say_comes_first_and_knows_its_place() -> None:
    expected = {"output": [EYE, EYE, {"deep": EYE}], "gradients": EYE}
    got = {"output": [-EYE, EYE.double(), {"deep": EYE[0]}], "gradients": None}
    differences = compare(expected, got)
    assert [(d.kind, d.path, d.key) for d in differences] == [
        ("type", "gradients", "gradients"),
        ("shape", "output[2]['deep']", "output"),
        ("dtype", "output[1]", "output"),
        ("values", "output[0]", "output"),
    ]
    order = [KINDS.index(d.kind) for d in differences]
    assert order == sorted(order)


def test_an_observation_that_is_missing_is_a_difference_and_one_too_many_is_none() -> None:
    assert kinds_of({"output": 1, "gradients": EYE}, {"output": 1}) == ["type"]
    assert kinds_of({"output": 1}, {"output": 1, "more": 2}) == []


def kinds_of(expected: dict[str, Any], got: dict[str, Any]) -> list[str]:
    return [difference.kind for difference in compare(expected, got)]


def test_errors() -> None:
    fine = {"output": 1.0}
    assert kinds_of(fine, error("ValueError")) == ["error"]
    assert kinds_of(error("ValueError"), fine) == ["error"]
    assert kinds_of(error("ValueError"), error("IndexError")) == []  # which error is left open
    assert kinds_of(error("ValueError"), error("NotImplementedError")) == ["error"]  # a blank is no clear error


def test_what_is_compared_again_is_remembered_and_keys_can_be_chosen() -> None:
    comparing = Comparing()
    one, other = {"output": 1.0, "gradients": EYE}, {"output": 1.0, "gradients": -EYE}
    assert [d.key for d in comparing(one, other)] == ["gradients"]
    assert comparing(one, other) is comparing(one, other)
    assert comparing(one, other, ("output",)) == []
    assert [d.key for d in comparing(one, other, ("gradients",))] == ["gradients"]
    assert [d.kind for d in comparing(one, error("ValueError"), ("output",))] == ["error"]


def test_truth_is_no_number() -> None:
    assert [is_number(value) for value in (1, 1.5, True, False, None, "1")] == [True, True, False, False, False, False]


numbers = arrays.arrays(
    np.float64, arrays.array_shapes(max_dims=3, max_side=4), elements=st.floats(-1e6, 1e6, width=64)
)


@given(numbers)
def test_everything_agrees_with_itself_and_entries_are_judged_one_by_one(array: np.ndarray) -> None:
    tensor = torch.from_numpy(array)
    assert kinds(tensor, tensor.clone()) == []
    moved = tensor.clone()
    moved.view(-1)[0] += 1 + tensor.abs().max()
    assert kinds(tensor, moved) == ["values"]
    wrong = ~near(tensor, moved)
    assert wrong.flat[0]
    assert int(wrong.sum()) == 1

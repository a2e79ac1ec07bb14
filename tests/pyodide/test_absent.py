"""What stands in for a package that isn't there."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from cellcheck.authoring.arrays import is_tensor
from cellcheck.browser.absent import NotHere, is_absent, stand_in

NAME = "no_such_package"


@pytest.fixture
def absent() -> Iterator[Any]:
    before = list(sys.meta_path)
    stand_in(NAME, "json")
    yield importlib.import_module(NAME)
    sys.meta_path[:] = before
    for name in [each for each in sys.modules if each.partition(".")[0] == NAME]:
        del sys.modules[name]


def test_a_module_that_mentions_it_can_be_imported(absent: Any) -> None:
    space: dict[str, Any] = {}
    exec(
        f"""
import {NAME}
import {NAME}.nn.functional as F
from {NAME} import nn
Pairs = list[tuple[{NAME}.Tensor, {NAME}.Tensor]]
class Model(nn.Module):
    def __init__(self, d: int = 3) -> None:
        super().__init__()
def plain(x: {NAME}.Tensor | None, dtype: {NAME}.dtype = {NAME}.float32) -> nn.ModuleList[Model]:
    return 1
""",
        space,
    )
    assert space["plain"](None) == 1
    assert is_absent(space["F"])
    assert is_absent(space["nn"].Module)
    assert not is_absent(space["Model"])


@pytest.mark.parametrize("use", ["zeros(3)", "nn.Linear(2, 3)", "manual_seed(0)", "Tensor.from_numpy(1)"])
def test_whatever_asks_more_of_it_says_so(absent: Any, use: str) -> None:
    with pytest.raises(NotHere, match=f"This needs {NAME}, which isn't here in the browser"):
        eval(f"package.{use}", {"package": absent})


def test_a_class_built_on_it_says_so_too(absent: Any) -> None:
    model = type("Model", (absent.nn.Module,), {})
    with pytest.raises(NotHere, match=f"This needs {NAME}"):
        model()


def test_nothing_is_one_of_its_tensors(absent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not isinstance(3, absent.Tensor)
    monkeypatch.setitem(sys.modules, "torch", absent)
    assert not is_tensor(3)


def test_a_package_that_is_there_stays() -> None:
    before = list(sys.meta_path)
    stand_in("json", "numpy")
    assert sys.meta_path == before

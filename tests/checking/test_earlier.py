"""One mistake costs one exercise: what a symbol sees of the earlier ones while it is looked at."""

import functools
from typing import Any

import pytest

from cellcheck.checking.earlier import bound


def make(source: str, **names: Any) -> dict[str, Any]:
    """A notebook's namespace after a cell."""
    space = {"__name__": "__main__", **names}
    exec(source, space)
    return space


NOTEBOOK = """
def first(): return "the learner's"
def second(): return first()
class Third:
    def method(self): return first()
    @property
    def attribute(self): return first()
    @staticmethod
    def static(): return first()
    @classmethod
    def of_class(cls): return first()
class Fourth(Third):
    pass
"""


def test_functions_and_classes_see_the_courses_symbol_and_the_learners_afterwards() -> None:
    space = make(NOTEBOOK)
    third = space["Third"]
    asks = {
        space["second"]: space["second"],
        third: lambda: (third().method(), third().attribute, third.static(), third.of_class()),
        space["Fourth"]: lambda: space["Fourth"]().method(),
    }
    for symbol, ask in asks.items():
        before = ask()
        with bound(symbol, {"first": lambda: "the course's"}):
            assert "the learner's" not in ask()
            assert "the course's" in ask()
        assert ask() == before


def test_a_decorated_function_is_reached() -> None:
    space = make(NOTEBOOK)
    wrapped = functools.wraps(space["second"])(lambda: space["second"]())
    with bound(wrapped, {"first": lambda: "the course's"}):
        assert wrapped() == "the course's"


def test_what_was_absent_is_absent_again_and_an_exception_restores_too() -> None:
    space = make("def second(): return first()")
    with pytest.raises(ZeroDivisionError), bound(space["second"], {"first": lambda: 1 / 0}):
        space["second"]()
    assert "first" not in space


@pytest.mark.parametrize("symbol", [None, 3, "text", [1], len, dict])
def test_what_is_no_function_of_the_notebook_is_left_alone(symbol: Any) -> None:
    with bound(symbol, {"first": 1}):
        pass

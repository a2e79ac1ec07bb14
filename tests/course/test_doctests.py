"""Every example in a docstring of `course` runs, and says what the docstring says."""

import doctest
import importlib
import pkgutil

import pytest

import transformer_course

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(transformer_course.__path__, "transformer_course.")
    if not module.name.rpartition(".")[2][0].isdigit()  # the text of a lesson, which only a notebook runs
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    examples = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert examples >= 40

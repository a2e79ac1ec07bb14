"""What a lesson's `told.py` holds: wrong answers, and what is said of them in words.

ON_CARDS   each with a sentence that a learner's card shows
UNNAMED    each with a sentence that a card would show if the catalogue hadn't the mistake, whose advice comes first
BESIDE     each with a sentence that is there, though something else may be told first
RIGHT      variants that are right, of which nothing may be told
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cellcheck.authoring.spec import Observation
from cellcheck.checking.judge import Judge
from cellcheck.syllabus import lesson_names, load_lesson, load_probes

Told = tuple[str, Callable[..., Any], str]
"""An exercise, a wrong answer to it, and a sentence."""


def rows(table: str) -> Iterator[tuple[Any, ...]]:
    """Those of a table in all lessons, each with its lesson's name in front."""
    for lesson in lesson_names():
        module = f"tests.lessons.lesson_{lesson[:2]}.told"
        if find_spec(module):
            yield from ((lesson, *row) for row in getattr(import_module(module), table, ()))


@cache
def judge_of_words(lesson: str, symbol: str, seed: int) -> Judge:
    """The judge of an exercise who knows no mistakes, so that no advice comes before the words. Tests share one."""
    return Judge(replace(load_lesson(lesson)[symbol], mistakes=()), load_probes(lesson)[symbol], seed, combinations=0)


def texts(observations: Sequence[Observation]) -> list[dict[str, str]]:
    """What each case says in words, by name."""
    return [{key: text for key, text in seen.items() if isinstance(text, str)} for seen in observations]

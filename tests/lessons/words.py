"""What is seen of an answer where the exercise knows no mistakes, so that no advice comes before the words."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from cellcheck.authoring.spec import Observation
from cellcheck.checking.judge import Judge
from cellcheck.syllabus import load_lesson, load_probes


@cache
def judge_of_words(lesson: str, symbol: str, seed: int) -> Judge:
    """The judge of an exercise who has never heard of any mistake. Tests share one: they only ask it."""
    return Judge(replace(load_lesson(lesson)[symbol], mistakes=()), load_probes(lesson)[symbol], seed, combinations=0)


def texts(observations: Sequence[Observation]) -> list[dict[str, str]]:
    """What each case says in words, by name."""
    return [{key: text for key, text in seen.items() if isinstance(text, str)} for seen in observations]

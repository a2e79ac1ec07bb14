"""Honest notebooks, and copies of them: answers to the same exercises that were written apart.

They are the right answers in the lessons' catalogues and in `tests/lessons/*/answers.py`, each written in another way
on purpose. In one class no two learners have the same answer to an exercise, unless it is a short one: there two people
may well hit on the same.
"""

import builtins
import io
import keyword
import random
import tokenize
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cellcheck.authoring.catalogue import HONEST, VARIANTS, Catalogue
from cellcheck.authoring.spec import Exercise
from cellcheck.repository import Repository
from cellcheck.running.plain_cells import cells_of
from cellcheck.similarity.texts import Answer, Known, as_answer, known_text
from cellcheck.syllabus import load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
LEARNERS = 4
_PYTHONS = {"self", *dir(builtins)}
SHORT = 3  # lines without the signature and the docstring


@cache
def known(lesson: str) -> Known:
    return known_text([cells_of(REPOSITORY.solution(lesson).read_bytes())])


@cache
def pool(lesson: str) -> dict[str, list[str]]:
    """The text of each answer to each exercise."""
    return {exercise.symbol: list(texts_in(lesson, exercise)) for exercise in load_lesson(lesson).exercises}


def texts_in(lesson: str, exercise: Exercise) -> Iterable[str]:
    """Those of an exercise that are written out in its NAME.md."""
    catalogue = Catalogue(REPOSITORY.place(lesson) / f"{exercise.symbol}.md", exercise.references[0])
    return [catalogue.text_of(one) for kind in (HONEST, VARIANTS) for one in catalogue.entries(kind) if one.blocks]


def honest_class(lesson: str, seed: int) -> dict[str, tuple[Answer, ...]]:
    """Some learners who worked apart."""
    draw = random.Random(seed)
    wrote: dict[str, list[Answer]] = {f"learner {number}": [] for number in range(LEARNERS)}
    for symbol, texts in pool(lesson).items():
        long = [text for text in texts if not is_short(text)]
        short = [text for text in texts if is_short(text)]
        drawn = draw.sample(long, len(long))
        for answers in wrote.values():
            if short and (not drawn or draw.random() < 0.5):
                answers.append(as_answer(symbol, draw.choice(short), known(lesson)))
            elif drawn:
                answers.append(as_answer(symbol, drawn.pop(), known(lesson)))
    return {name: tuple(answers) for name, answers in wrote.items()}


def is_short(text: str) -> bool:
    body = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    return len(body) - 1 <= SHORT


def renamed(answers: Iterable[Answer], lesson: str) -> tuple[Answer, ...]:
    """The same answers with other names, and with comments."""
    return tuple(as_answer(answer.name, in_other_words(answer.shown), known(lesson)) for answer in answers)


def in_other_words(text: str) -> str:
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        own = token.type == tokenize.NAME and not keyword.iskeyword(token.string) and token.string not in _PYTHONS
        tokens.append((token.type, f"my_{token.string}" if own else token.string))
    return tokenize.untokenize(tokens) + "# my own work\n"

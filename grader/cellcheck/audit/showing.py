"""`cellcheck audit LESSON --show SYMBOL`: what each mistake of an exercise earns, and the card that learners read."""

import textwrap
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from cellcheck.authoring.spec import Exercise, Lesson
from cellcheck.checking.cards import plain
from cellcheck.checking.judge import PUBLIC_SEED, Judge
from cellcheck.checking.quiet import quiet
from cellcheck.errors import GraderError
from cellcheck.soundness import insist_on_sound
from cellcheck.syllabus import load_probes


def cards(lessons: Sequence[Lesson], symbol: str) -> Iterator[str]:
    """For each mistake its name, and the card that the notebook's check shows.

    Raises:
        GraderError: when none of the lessons has such an exercise, or the one that does is at fault.
    """
    symbols = [exercise.symbol for lesson in lessons for exercise in lesson.exercises]
    if symbol not in symbols:
        near = get_close_matches(symbol, symbols, n=1) or symbols
        raise GraderError(
            f"There is no exercise {symbol!r} in {', '.join(lesson.name for lesson in lessons)}: try {near[0]}."
        )
    for lesson in lessons:
        for exercise in lesson.exercises:
            if exercise.symbol == symbol:
                yield from _cards(lesson, exercise)


def _cards(lesson: Lesson, exercise: Exercise) -> Iterator[str]:
    insist_on_sound(lesson)
    judge = Judge(exercise, load_probes(lesson.name)[exercise.symbol], PUBLIC_SEED)
    for mistake in exercise.mistakes:
        with quiet():
            card = plain(judge.verdict(judge.observe(mistake.implementation)))
        yield f"{mistake.name}{' (central)' if mistake.central else ''}\n{textwrap.indent(card, '  ')}\n"

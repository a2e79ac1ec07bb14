"""What a reader guessed, beside what happened."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

Guess = tuple[str, Any, Any] | tuple[str, Any, Any, float]
"""A question, the guess (None where there is none), what happened, and how far off a number may be."""


def board(guesses: Iterable[Guess]) -> pd.DataFrame:
    """All guesses of a lesson as a table: what was guessed, what happened, and whether the two agree.

    >>> board([("share that is right", 0.4, 0.393), ("the winner", None, "GRU")])["right?"].tolist()
    ['yes', '']
    """
    rows = [
        (
            question,
            "-" if guess is None else str(guess),
            f"{answer:.3g}" if isinstance(answer, float) else str(answer),
            "yes" if is_close(guess, answer, *within) else "",
        )
        for question, guess, answer, *within in guesses
    ]
    return pd.DataFrame(rows, columns=["question", "your guess", "what happened", "right?"])


def is_close(guess: Any, answer: Any, within: float | None = None) -> bool:
    """Whether a guess counts as right.

    A number may be off by `within`; where that isn't said, by a tenth, and a share between 0 and 1 by 0.05. In words,
    capitals don't matter. No guess is never right.

    >>> is_close("Adam", "adam"), is_close(9.5, 10), is_close(9, 10, within=0.5), is_close(None, 0)
    (True, True, False, False)
    """
    if guess is None:
        return False
    numbers = [value for value in (guess, answer) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2:
        usual = 0.05 if isinstance(answer, float) and 0 <= answer <= 1 else abs(answer) / 10
        return bool(abs(guess - answer) <= (usual if within is None else within) + 1e-9)
    if isinstance(guess, str) and isinstance(answer, str):
        return guess.strip().casefold() == answer.strip().casefold()
    return bool(guess == answer)

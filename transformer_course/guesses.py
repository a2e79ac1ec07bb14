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

    An answer that couldn't be measured, for want of a library, is None.

    >>> board([("what the layer does", "cuts", None)])["what happened"].item()
    'not measured'
    """
    rows = [
        (
            question,
            "-" if guess is None else str(guess),
            _in_words(answer),
            "yes" if is_close(guess, answer, *within) else "",
        )
        for question, guess, answer, *within in guesses
    ]
    return pd.DataFrame(rows, columns=["question", "your guess", "what happened", "right?"])


def _in_words(answer: Any) -> str:
    if answer is None:
        return "not measured"
    return f"{answer:.3g}" if isinstance(answer, float) else str(answer)


def is_close(guess: Any, answer: Any, within: float | None = None) -> bool:
    """Whether a guess counts as right.

    A number may be off by `within`; where that isn't said, by a tenth, and a share between 0 and 1 by 0.05. In words,
    neither capitals nor quotes matter, and names may come in any order. No guess is never right.

    >>> is_close("'Adam'", "adam"), is_close("9.5", 10), is_close(9, 10, within=0.5), is_close(None, 0)
    (True, True, False, False)
    >>> is_close(["dan", "Ann"], ["Ann", "Dan"]), is_close([2, 5], (2, 5)), is_close((2, 5), (5, 2))
    (True, True, False)
    """
    if guess is None:
        return False
    guess, answer = _plain(guess), _plain(answer)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in (guess, answer)):
        usual = 0.05 if isinstance(answer, float) and 0 <= answer <= 1 else abs(answer) / 10
        return bool(abs(guess - answer) <= (usual if within is None else within) + 1e-9)
    return bool(guess == answer)


def _plain(value: Any) -> Any:
    """Words without capitals and quotes, a number in quotes as a number, and names in their order."""
    if isinstance(value, list | tuple) and value and all(isinstance(each, str) for each in value):
        return sorted(map(_plain, value), key=str)
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    words = value.strip(" \"'").casefold()
    try:
        return int(words) if words.lstrip("-").isdecimal() else float(words)
    except ValueError:
        return words

"""Questions that each learner gets in a different draw: other numbers, another city, other data.

A notebook for everybody asks for the learner's number in a cell of theirs, `learner = ""`. A locked cell below it
says `mine = cellcheck.variant("intro", learner)`. Whatever the questions and the tests need, they draw from `mine`, by
name. So the draw is the same in the learner's notebook, in its visible tests, and when it is graded, with nbgrader too.
Nothing is kept or handed around: who has the number has the draw.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
_ASKS = re.compile(r"\bvariant\([^(),\n]*,\s*([^\W\d]\w*)\s*\)")
"""How a locked cell asks for a draw; the second thing that it gives is a name."""


@dataclass(frozen=True)
class Variant:
    """The draw of one learner. The same name gives the same value, in whatever order cells are run.

    >>> mine = variant("intro", "Ada ")
    >>> mine.whole("width", 2, 9) == variant("intro", "ada").whole("width", 2, 9)
    True
    >>> mine.one_of("city", ["Oslo", "Rome"]) in ("Oslo", "Rome")
    True
    """

    assignment: str
    learner: str
    """In the form that names are compared in."""

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number from `low` to `high`, either included.

        Raises:
            ValueError: when there is none.
        """
        if high < low:
            raise ValueError(f"there is no whole number from {low} to {high}")
        return low + self._drawn(name) % (high - low + 1)

    def one_of(self, name: str, choices: Sequence[T]) -> T:
        """One of several things: numbers, texts, questions.

        Raises:
            ValueError: when there are none.
        """
        if not choices:
            raise ValueError(f"there is nothing to choose from for {name}")
        return choices[self._drawn(name) % len(choices)]

    def seed(self, name: str) -> int:
        """A seed for data, such as `np.random.RandomState(mine.seed("heights"))`; below 2**32."""
        return self._drawn(name) % 2**32

    def _drawn(self, name: str) -> int:
        text = "\0".join((self.assignment, self.learner, name))
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def variant(assignment: str, learner: str) -> Variant:
    """The draw of a learner in an assignment. Case, accents and whatever is no letter or digit don't matter.

    Raises:
        ValueError: when nobody is named, which stops the cell that asks.
    """
    if not plain_name(learner):
        raise ValueError("Write your name or number into the cell above, as your teacher asks for it. Run both cells.")
    return Variant(assignment, plain_name(learner))


def plain_name(name: str) -> str:
    """A name in the form that names are compared in.

    >>> plain_name("Zoë O'Brien") == plain_name("zoe_obrien")
    True
    """
    return "".join(letter for letter in unicodedata.normalize("NFKD", str(name)).casefold() if letter.isalnum())


def asks_for_draw(locked: Iterable[str]) -> bool:
    """Whether a notebook's locked cells ask for a draw."""
    return any(map(_ASKS.search, locked))


def drawn_for(locked: Iterable[str], cells: Iterable[str]) -> str | None:
    """Whose draw a notebook has: the text that was assigned last to what a locked cell gives to `variant`.

    None where no locked cell asks for a draw, nobody was named, or nobody can tell. The learner's code isn't run here.
    """
    asked = [name for text in locked for name in _ASKS.findall(text)]
    if not asked:
        return None
    given = re.compile(rf"^({'|'.join(asked)})[ \t]*=[ \t]*(?:\"([^\"\n]*)\"|'([^'\n]*)'|(\d+))", re.MULTILINE)
    draws = [max(values) for text in cells for _, *values in given.findall(text)]
    return (draws[-1] or None) if draws else None


def told_about_draw(drawn: str, student: str, known_as: Iterable[str]) -> str | None:
    """A sentence where the draw isn't that of the one who handed in, who may be known by other names as well."""
    names = {plain_name(name) for name in (student, *known_as)}
    if plain_name(drawn) in names:
        return None
    return f"It has the questions of {drawn[:80]!r}, and was handed in by {student}. They were graded as they are."

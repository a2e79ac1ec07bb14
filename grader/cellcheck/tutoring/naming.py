"""Does a reply name the true mistake? Found out by words, among all known mistakes of the exercise.

A matcher that doesn't know which mistake it is compares the reply with what the catalogue says about each of them: its
name, and the advice for those who make it. A word counts the more, the fewer of the exercise's mistakes use it. The
mistake whose words the reply has most of is the one that it names; where two share the first place, it names none.

Code in the reply isn't read, so quoting the learner's line names nothing. A reply that lists everything that might be
wrong gains nothing either: it has the words of all, and names one mistake at most.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from cellcheck.authoring.spec import Exercise
from cellcheck.tutoring.reading import prose

_TERM = re.compile(r"[a-z]+(?:'t)?|\d+")
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ed", "ies", "es", "s", "ly")
_STOP = frozenset(
    """
    a about after again all also an and any are as at be because been before but by can could did do does each
    every for from get had has have here how if in into is it its just let like look may me more most much my
    no not now of on one only or other our out over own same see should so some still such take than that the
    their them then there these they this those to too two up us use very was we were what when where which
    while who why will with would you your
    """.split()  # noqa: SIM905
)


def named(reply: str, exercise: Exercise) -> str | None:
    """The name of the mistake that a reply is about; None where no single one stands out."""
    scores = ranking(reply, exercise)
    ordered = sorted(scores.values(), reverse=True)
    if not ordered or ordered[0] <= 0 or (len(ordered) > 1 and ordered[0] - ordered[1] < 1e-9):
        return None
    return max(scores, key=lambda name: scores[name])


def ranking(reply: str, exercise: Exercise) -> dict[str, float]:
    """For each known mistake, the share of its words that the reply has, weighted; by the mistake's name."""
    words = set(terms(prose(reply)))
    return {
        name: sum(weight for term, weight in weights.items() if term in words) / norm
        for name, weights in _descriptions(tuple((m.name, m.advice) for m in exercise.mistakes)).items()
        if (norm := math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0)
    }


def terms(text: str) -> list[str]:
    """The words of a text, without their endings and without those that every text has."""
    return [
        _stem(word)
        for word in _TERM.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
        if word not in _STOP
    ]


@lru_cache(maxsize=256)
def _descriptions(mistakes: Sequence[tuple[str, str]]) -> Mapping[str, Mapping[str, float]]:
    described = {name: set(terms(f"{name.replace('_', ' ')} {advice}")) for name, advice in mistakes}
    spread = Counter(term for words in described.values() for term in words)
    return {
        name: {term: math.log((1 + len(mistakes)) / spread[term]) for term in words}
        for name, words in described.items()
    }


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word

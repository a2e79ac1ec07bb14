"""Which learners' answers are alike, by copydetect's fingerprints (winnowing, as in MOSS).

Names are replaced by what they are (a variable, a function, a string), and comments and spaces left out, so that a
new name changes nothing. Two answers share what is the same over at least `RUN` characters of what is left. Text that
was given out, the published solution, and what many in the class wrote say nothing about anybody.

copydetect's `window` is 1 here: each run counts. Notebooks are short, so nothing needs to be sampled, and what it would
sample depends on Python's hashes, which change from one run to the next.
"""

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from copydetect import CodeFingerprint, compare_files

from cellcheck.similarity.texts import Answer, Known

RUN = 25
"""copydetect's own."""
COMMON, AT_LEAST = 0.25, 4
"""What more than a quarter of the class wrote, and more than four of it, is what one writes."""
SHARE, SHARED = 0.5, 100
"""From here on a pair is listed; `tests/similarity/test_false_alarms.py` measures how often honest learners are."""


@dataclass(frozen=True)
class AlikeAnswers:
    """Two answers to the same exercise, and the lines of each, from 0, in which they are alike."""

    name: str
    texts: tuple[str, str]
    lines: tuple[frozenset[int], frozenset[int]]
    shared: int
    """Characters without names, comments and spaces."""


@dataclass(frozen=True)
class Pair:
    """Two learners, and how much of what they wrote is alike."""

    students: tuple[str, str]
    share: float
    """Of the learner who wrote less, from 0 to 1."""
    answers: tuple[AlikeAnswers, ...]

    @property
    def shared(self) -> int:
        """Characters that are alike, without names, comments and spaces."""
        return sum(answer.shared for answer in self.answers)

    @property
    def listed(self) -> bool:
        """Whether they are worth a look."""
        return self.share >= SHARE and self.shared >= SHARED


def alike(written: Mapping[str, Sequence[Answer]], known: Known) -> list[Pair]:
    """All pairs that share anything, those that share most first."""
    given = _hashes(_print(text, ()) for text in known.solutions)
    first = {student: _prints(answers, given) for student, answers in written.items()}
    having = Counter(
        gram
        for prints in first.values()
        for gram in set().union(*(fingerprint.hashes for fingerprint in prints.values()))
    )
    most = max(AT_LEAST, COMMON * len(written))
    common = np.array([gram for gram, count in having.items() if count > most], dtype=np.int64)
    left = np.union1d(given, common)
    prints = {student: _prints(answers, left) for student, answers in written.items()} if len(common) else first
    pairs = [pair for two in combinations(sorted(written), 2) if (pair := _pair(two, written, prints)) is not None]
    return sorted(pairs, key=lambda pair: (-pair.share * pair.shared, pair.students))


def _pair(
    two: tuple[str, str], written: Mapping[str, Sequence[Answer]], prints: Mapping[str, Mapping[str, Any]]
) -> Pair | None:
    left, right = (prints[student] for student in two)
    shown = [{answer.name: answer.shown for answer in written[student]} for student in two]
    pairs = []
    for name in left:
        if name in right and left[name].hashes & right[name].hashes:
            _, _, slices = compare_files(left[name], right[name])
            shared = min(_length(left[name], right[name]), _length(right[name], left[name]))
            texts = (shown[0][name], shown[1][name])
            lines = (_lines(texts[0], slices[0]), _lines(texts[1], slices[1]))
            pairs.append(AlikeAnswers(name, texts, lines, shared))
    if not pairs:
        return None
    own = min(sum(fingerprint.token_coverage for fingerprint in side.values()) for side in (left, right))
    return Pair(two, min(1.0, sum(answer.shared for answer in pairs) / float(own)), tuple(pairs))


def _prints(answers: Iterable[Answer], boilerplate: Any) -> dict[str, Any]:
    return {answer.name: _print(answer.own, boilerplate) for answer in answers}


def _print(text: str, boilerplate: Any) -> Any:
    return CodeFingerprint("", RUN, 1, boilerplate=boilerplate, language="python", fp=io.StringIO(text))


def _hashes(prints: Iterable[Any]) -> Any:
    return np.array(sorted(set().union(*(fingerprint.hashes for fingerprint in prints))), dtype=np.int64)


def _length(of: Any, other: Any) -> int:
    """How many characters of an answer stand in a run that another has too."""
    begins = [place for gram in of.hashes & other.hashes for place in of.hash_idx[gram]]
    return len({place + offset for place in begins for offset in range(RUN)})


def _lines(text: str, slices: Any) -> frozenset[int]:
    """The lines in which slices of a text lie."""
    return frozenset(
        line
        for begin, end in zip(*slices.astype(int), strict=True)
        for line in range(text.count("\n", 0, begin), text.count("\n", 0, max(begin, end - 1)) + 1)
        if text.split("\n")[line].strip()
    )

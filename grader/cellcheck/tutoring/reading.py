"""How long a reply is, and how hard to read."""

import re

SHORTEST, LONGEST = 80, 160
"""Words of a good hint, as 44 teachers have it (Howzat, arXiv 2411.18151)."""
HARDEST = 9.0
"""The school grade that its reading level may be at most, from the same study."""

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]*`")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_END = re.compile(r"[.!?:]+(?=\s|$)|\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)")


def prose(reply: str) -> str:
    """The reply without its code."""
    return _INLINE.sub(" code ", _FENCE.sub("\n\n", reply))


def words(reply: str) -> int:
    """How many words there are, code in fences not counted.

    >>> words("Which side of the diagonal do you keep?")
    8
    """
    return len(_WORD.findall(prose(reply)))


def grade(reply: str) -> float:
    """The reading level as a school grade, by the formula of Flesch and Kincaid (1975).

    >>> round(grade("The cat sat on the mat. It was warm."), 1)
    -2.0
    """
    text = prose(reply)
    sentences = [part for part in _END.split(text) if _WORD.search(part)]
    words = _WORD.findall(text)
    if not words:
        return 0.0
    syllables = sum(map(_syllables, words))
    return 0.39 * len(words) / max(len(sentences), 1) + 11.8 * syllables / len(words) - 15.59


def _syllables(word: str) -> int:
    """Groups of vowels, without a silent e at the end: right for most English words.

    >>> [_syllables(word) for word in ("mask", "table", "position", "make", "being")]
    [1, 2, 3, 1, 1]
    """
    letters = word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    groups = len(re.findall(r"[aeiouy]+", letters))
    if re.search(r"[^aeiouyl]e(?:s|'s)?$", letters) and groups > 1:
        groups -= 1
    return max(groups, 1)

"""`apply_merges`: how it is tried."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL, main, special, untouched, worded
from cellcheck.authoring.catalogue import MISTAKES, Catalogue
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.byte_pairs import apply_merges, byte_pair_merges, merge_pair
from transformer_course.lessons.lesson_02.drawing import LETTERS, draw_symbols, draw_words
from transformer_course.lessons.watching import AS_ASKED

ANSWERS = Catalogue(Path(__file__).with_suffix(".md"), apply_merges)
WRONG = dict(ANSWERS.answers(MISTAKES))
"""Words are drawn so that wrong answers show. Compiled here: where that is, no file of the lesson may be in sight."""
APART = ("last_merge_first", "longest_token_first", "leftmost_pair_first", "first_merge_only", "first_place_only")
"""The mistakes that show on each drawn word; on the long one, each in its own way."""
RUNS = special("runs, from left to right", meaning="In a run such as 'aaa', pairs are merged from left to right.")
WHOLE = special("whole tokens are compared", meaning="Only whole tokens make a pair, not parts of longer ones.")
STRANGE = special(
    "unknown characters stay",
    meaning="Characters that no merge mentions stay as they are, and a space may be part of a merge like any other.",
)
BARE = special("nothing to do", meaning="An empty list of merges and an empty word give the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def telling(count: int, length: int, told_apart: bool) -> dict[str, Any]:
        """Merges that were learnt from words, and another word on which each wrong way shows, or each in its own."""
        while True:
            merges = byte_pair_merges(draw_words(generator, draw_symbols(generator, 4, LETTERS), 10), count)
            if len(merges) < count or any(a == b for a, b in merges):
                continue
            tokens = [a + b for a, b in merges]
            pieces = [*tokens, *sorted({*"".join(tokens)})]  # what no merge mentions has a case of its own
            for _ in range(60):  # a word costs less to try than merges cost to learn
                word = "".join(pieces[i] for i in generator.integers(len(pieces), size=length))[:length]
                results = [apply_merges(word, merges[:-1])]  # so that none of them can be left out
                for name in APART:
                    results.append(WRONG[name](word, merges))
                    if told_apart and results[-1] in results[1:-1]:
                        break
                else:
                    if apply_merges(word, merges) not in results:
                        return {"word": word, "merges": merges}

    letter, other = draw_symbols(generator, 2, LETTERS)
    run = [(letter, letter), (letter + letter, letter)]
    guarded = [(other, letter), (letter, other)]
    joined = [(letter, other), (other + letter, other)]  # "bab": b and ab, which read like the second pair's ba and b
    known = telling(8, 16, told_apart=True)
    short = telling(4, 10, told_apart=False)
    place = int(generator.integers(1, 6))
    strange = {**short, "word": short["word"][:place] + "? " + short["word"][place:] + "!"}
    return [
        Case.of("on a word", **short),
        Case.of("on a long word", **known),
        Case.of("on a run of one letter", RUNS, word=letter * 7, merges=run),
        Case.of("on a run of an odd length", RUNS, word=letter * 3, merges=run[:1]),
        Case.of(
            "where a longer token ends like the first half of a pair",
            WHOLE,
            word=other + letter + other,
            merges=guarded,
        ),
        Case.of(
            "where two tokens read like a pair and are cut elsewhere", WHOLE, word=other + letter + other, merges=joined
        ),
        Case.of("on characters that are in no merge, a space among them", STRANGE, **strange),
        Case.of("where a merge has a space in it", STRANGE, word=f"{letter} {other}", merges=[(" ", other)]),
        Case.of("without any merges", BARE, **{**short, "merges": []}),
        Case.of("on an empty word", BARE, **{**short, "word": ""}),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The tokens, and where a pair is never merged, if that can be seen."""
    if "output" not in observation:
        return observation
    for tags, look in ((USUAL, _cut), (STRANGE.tags, _spaced)):
        if case.tags >= tags:
            return {"cut": look(observation["output"], **case.inputs), **observation}
    return observation


def _spaced(output: Any, word: str, merges: list[tuple[str, str]]) -> str:
    if (
        not isinstance(output, list)
        or output == apply_merges(word, merges)
        or not all(isinstance(t, str) for t in output)
    ):
        return AS_ASKED
    if "".join(output).count(" ") < word.count(" "):
        return "A space of the text is gone. Isn't it a character like the others?"
    if output == apply_merges(word, [pair for pair in merges if " " not in "".join(pair)]):
        return "A merge that has a space in it is never applied. Isn't a space a character like the others?"
    return AS_ASKED


_ORDERS: tuple[Callable[[tuple[str, str]], Any], ...] = (
    lambda pair: -len("".join(pair)),
    lambda pair: len("".join(pair)),
    lambda pair: pair,
)
"""Other orders in which people apply merges."""


def _cut(output: Any, word: str, merges: list[tuple[str, str]]) -> str:
    if output == apply_merges(word, merges):
        return AS_ASKED
    at_the_end, at_the_start = list(word), list(word)
    for pair in merges:
        at_the_end = [*merge_pair(at_the_end[:-1], pair), *at_the_end[-1:]]
        at_the_start = [*at_the_start[:1], *merge_pair(at_the_start[1:], pair)]
    others = [apply_merges(word, [*merges[:at], *merges[at + 1 :]]) for at in range(len(merges))]
    orders = [apply_merges(word, sorted(merges, key=key)) for key in _ORDERS]
    reasons = [
        *(["a pair at the very end of the word is never merged"] if output == at_the_end else []),
        *(["a pair at the very start of the word is never merged"] if output == at_the_start else []),
        *(
            f"the merge at place {at}, counted from 0, is never applied"
            for at, other in enumerate(others)
            if output == other
        ),
    ]
    if reasons and len(reasons) < 3 and output not in orders:
        return f"This comes out where {' or where '.join(reasons)}. What do your loops run over, from where to where?"
    if isinstance(output, list) and "".join(map(str, output)) != word:
        return "Your tokens don't spell the word any more. Which of its characters have changed, or are gone?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"cut": "where the word is cut"},
    aspects=(
        worded(main("the right tokens", meaning="The word is cut into the right tokens, in order."), "cut"),
        RUNS,
        WHOLE,
        worded(STRANGE, "cut"),
        BARE,
        untouched("the merges stay as they were"),
    ),
)

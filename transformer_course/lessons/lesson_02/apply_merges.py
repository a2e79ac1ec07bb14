"""`apply_merges`: how it is tried."""

from pathlib import Path
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import main, special, untouched
from cellcheck.authoring.catalogue import MISTAKES, Catalogue
from cellcheck.authoring.spec import Case, Trial
from transformer_course.byte_pairs import apply_merges, byte_pair_merges
from transformer_course.lessons.lesson_02.drawing import LETTERS, draw_symbols, draw_words

ANSWERS = Catalogue(Path(__file__).with_suffix(".md"), apply_merges)
WRONG = dict(ANSWERS.answers(MISTAKES))
"""Words are drawn so that wrong answers show. Compiled here: where that is, no file of the lesson may be in sight."""
APART = ("last_merge_first", "longest_token_first", "leftmost_pair_first", "first_merge_only", "first_place_only")
"""The mistakes that show on each drawn word; on the long one, each in its own way."""
RUNS = special("runs, from left to right", meaning="In a run such as 'aaa', pairs are merged from left to right.")
WHOLE = special("whole tokens are compared", meaning="Only whole tokens make a pair, not parts of longer ones.")
STRANGE = special("unknown characters stay", meaning="Characters that no merge mentions stay as they are.")
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
        Case.of("without any merges", BARE, **{**short, "merges": []}),
        Case.of("on an empty word", BARE, **{**short, "word": ""}),
    ]


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=2,
    cases=cases,
    aspects=(
        main("the right tokens", meaning="The word is cut into the right tokens, in order."),
        RUNS,
        WHOLE,
        STRANGE,
        BARE,
        untouched("the merges stay as they were"),
    ),
)

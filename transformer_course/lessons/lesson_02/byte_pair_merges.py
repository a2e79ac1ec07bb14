"""`byte_pair_merges`: how it is tried."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL, main, special, untouched, worded
from cellcheck.authoring.catalogue import MISTAKES, Catalogue
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.byte_pairs import byte_pair_merges, merge_pair
from transformer_course.lessons.lesson_02.drawing import LETTERS, draw_symbols, draw_words, ties_on_the_way
from transformer_course.lessons.watching import AS_ASKED

WRONG = dict(Catalogue(Path(__file__).with_suffix(".md"), byte_pair_merges).answers(MISTAKES))
"""Words are drawn so that these show. Compiled here: where words are drawn, no file of the lesson may be in sight."""
WHOLE = special("whole tokens are compared", meaning="Only whole tokens make a pair, not parts of longer ones.")
TIES = special(
    "ties: the larger pair",
    weight=3.0,
    meaning="Of several equally frequent pairs, the lexicographically largest is merged.",
)
RUNS = special("runs such as 'aaa'", meaning="Runs of one letter, such as 'aaa', are counted and merged correctly.")
END = special("until no pair is left", meaning="The list ends early when no pair is left to merge.")
NONE = special("nothing to merge", meaning="The list is empty if num_merges is 0, or if there are no pairs.")

USUALLY = (
    "frequencies_forgotten",
    "counted_once",
    "across_words",
    "rarest_first",
    "end_of_word_marked",
    "first_in_a_word_only",
    "counts_never_start_again",
    "counted_once_in_a_word",
)
"""The mistakes that show on usual words."""
IN_TIES = ("ties_first_seen", "ties_last_seen", "ties_smaller", "ties_by_the_second_token")
IN_RUNS = ("runs_counted_apart", "merged_from_the_right", "first_in_a_word_only", "replaced_in_a_text")


def cases(generator: np.random.Generator) -> list[Case]:
    def telling(letters: int, merges: int, *apart: str, ties: bool = False, **drawing: int) -> dict[str, Any]:
        """Words on which each wrong way in `apart` gives something else; without ties unless they are wanted.

        `replace` in a text with spaces goes wrong on more words and nowhere else here, and whoever stops at pairs seen
        once only where no pair is left: one slip, one mark.
        """
        while True:
            words = draw_words(generator, draw_symbols(generator, letters, LETTERS), **drawing)
            if not ties:
                words = _without_doubles(words)
            if len(set(words)) < 3 or ties_on_the_way(words, merges) != ties:
                continue
            right = byte_pair_merges(words, merges)
            if len(right) < merges or any(a == b for a, b in right):
                continue
            if byte_pair_merges(words[: len(words) // 2], merges) == right:  # all words should count
                continue
            if any(WRONG[name](words, merges) == right for name in reversed(apart)):  # the rarest to show first
                continue
            if WRONG["stops_at_pairs_seen_once"](words, merges) != right:
                continue
            if (WRONG["replaced_in_a_text"](words, merges) == right) == ("replaced_in_a_text" in apart):
                continue
            if _all_differ([WRONG[name](words, merges) for name in apart]):
                return {"words": words, "num_merges": merges}

    few = sorted(draw_symbols(generator, 4, LETTERS))  # the larger pair is the more frequent: no question of ties
    small = [few[2] + few[3], few[0] + few[1], few[2] + few[3]]
    return [
        Case.of("on a few words", **telling(4, 3, *USUALLY)),
        Case.of("on more words", **telling(5, 5, *USUALLY, "replaced_in_a_text", different=9)),
        Case.of("where pairs are equally frequent", TIES, **telling(6, 4, *IN_TIES, ties=True, most=2)),
        Case.of("where pairs of different lengths are equally frequent", TIES, words=_ties(generator), num_merges=4),
        Case.of("on words with runs such as 'aaa'", RUNS, words=_with_runs(generator), num_merges=4),
        Case.of("where a longer token ends like the pair", WHOLE, words=_look_alikes(generator), num_merges=6),
        Case.of("where no pair is left before the end", END, words=small, num_merges=20),
        Case.of("where no merge is asked for", NONE, words=small, num_merges=0),
        Case.of("on words of one character", NONE, words=few[:3] * 2, num_merges=2),
    ]


def _without_doubles(words: list[str]) -> list[str]:
    """The same words without the second of two equal neighbours, and in one of them all pairs come twice. Few others
    tell all mistakes apart."""
    short = {word: "".join(letter for letter, _ in groupby(word)) for word in words}
    short[words[0]] = 2 * short[words[0]][:3]
    return [short[word] for word in words]


def _all_differ(results: list[Any]) -> bool:
    return all(a != b for a, b in pairwise(sorted(results)))


def _look_alikes(generator: np.random.Generator) -> list[str]:
    """The pairs (a, b) and (e, c), when "xa" stands before a "b", and "cd" after an "e". No ties."""
    x, a, b, c, d, e = draw_symbols(generator, 6, LETTERS)
    words = [x + a] * 17 + [a + b] * 9 + [x + a + b] * 5 + [c + d] * 14 + [e + c] * 7 + [e + c + d] * 3
    return [str(word) for word in generator.permutation(words)]


def _ties(generator: np.random.Generator) -> list[str]:
    """After "ab" has been merged, ("e", "f"), ("ab", "c") and ("a", "d") are equally frequent."""
    a, b, c, d, e, f = sorted(draw_symbols(generator, 6, LETTERS))
    words = [a + b] * 9 + [a + b + c] * 4 + [a + d] * 4 + [e + f] * 4
    return [str(word) for word in generator.permutation(words)]


def _with_runs(generator: np.random.Generator) -> list[str]:
    """Words with long runs of one letter, on which each wrong way gives something else, and no ties."""
    while True:
        letters = draw_symbols(generator, 3, LETTERS)
        words: list[str] = []
        for _ in range(4):
            parts = [letters[int(generator.integers(3))] * int(generator.integers(1, 6)) for _ in range(3)]
            words += ["".join(parts)] * int(generator.integers(1, 12))
        words = [words[place] for place in generator.permutation(len(words)).tolist()]
        if ties_on_the_way(words, 4) or len(right := byte_pair_merges(words, 4)) < 4:
            continue
        results = [WRONG[name](words, 4) for name in IN_RUNS]
        if right not in results and _all_differ(results):
            return words


Pair = tuple[str, str]
TIES_GO_TO: Mapping[str, Callable[[Counter[Pair]], Pair]] = {
    "the largest": lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair)),
    "the smallest": lambda pairs: min(pairs, key=lambda pair: (-pairs[pair], pair)),
    "the one that was counted first": lambda pairs: max(pairs, key=lambda pair: pairs[pair]),
    "the one that was counted last": lambda pairs: sorted(pairs, key=lambda pair: pairs[pair])[-1],
    "the one whose second token is the largest": lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair[::-1])),
    "the one whose joined text is the largest": lambda pairs: max(pairs, key=lambda pair: (pairs[pair], "".join(pair))),
}


def in_words(observation: Observation, case: Case) -> Observation:
    """The merges, and two slips of which one makes the other show: where words count once, many pairs tie."""
    if "output" not in observation or not case.tags >= USUAL:
        return observation
    return {"counted": _counted(observation["output"], **case.inputs), **observation}


def _counted(output: Any, words: list[str], num_merges: int) -> str:
    if output == byte_pair_merges(words, num_merges):
        return AS_ASKED
    ways = [name for name, best in TIES_GO_TO.items() if output == _of_different_words(words, num_merges, best)]
    if len(ways) != 1 or ways == ["the largest"]:
        return AS_ASKED
    return (
        f"Each different word counts once, and of equally frequent pairs you take {ways[0]}. What do the repetitions "
        "in the list mean, and which of such pairs does the docstring ask for?"
    )


def _of_different_words(words: list[str], num_merges: int, best: Callable[[Counter[Pair]], Pair]) -> list[Pair]:
    pieces, merges = [list(word) for word in dict.fromkeys(words)], []
    for _ in range(num_merges):
        pairs = Counter(pair for tokens in pieces for pair in pairwise(tokens))
        if not pairs:
            break
        merges.append(best(pairs))
        pieces = [merge_pair(tokens, merges[-1]) for tokens in pieces]
    return merges


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=5,
    cases=cases,
    canonical=in_words,
    called={"counted": "what is counted"},
    aspects=(
        worded(
            main(
                "the most frequent pair each time",
                meaning="At each step, the pair that is most frequent at that point is merged.",
            ),
            "counted",
        ),
        WHOLE,
        TIES,
        RUNS,
        END,
        NONE,
        untouched("the words stay as they were"),
    ),
)

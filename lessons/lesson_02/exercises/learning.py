"""`byte_pair_merges`: cases, mistakes and variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from course.byte_pairs import byte_pair_merges, merge_pair
from grader.authoring.aspects import USUAL, main, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.drawing import LETTERS, draw_symbols, draw_words, ties_on_the_way

Pair = tuple[str, str]
Merges = list[Pair]


def _count(tokens: list[str]) -> list[Pair]:
    return list(pairwise(tokens))


def _without_overlap(tokens: list[str]) -> list[Pair]:
    """Pairs of neighbours, where a run such as "aaa" gives one pair and not two."""
    found: list[Pair] = []
    place = -1
    for i, pair in enumerate(pairwise(tokens)):
        if found and pair == found[-1] and pair[0] == pair[1] and place == i - 1:
            place = -1
            continue
        found.append(pair)
        place = i
    return found


def _from_the_right(tokens: list[str], pair: Pair) -> list[str]:
    backwards = merge_pair([token[::-1] for token in tokens][::-1], (pair[1][::-1], pair[0][::-1]))
    return [token[::-1] for token in backwards][::-1]


def _first_only(tokens: list[str], pair: Pair) -> list[str]:
    for i, found in enumerate(pairwise(tokens)):
        if found == pair:
            return [*tokens[:i], pair[0] + pair[1], *tokens[i + 2 :]]
    return tokens


def _learner(
    *,
    neighbours: Callable[[list[str]], list[Pair]] = _count,
    glue: Callable[[list[str], Pair], list[str]] = merge_pair,
    choose: Callable[[Counter[Pair]], Pair] = lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair)),
    weigh: Callable[[int], int] = lambda count: count,
    begin: Callable[[str], list[str]] = list,
    least: int = 1,
    strict: bool = False,
) -> Callable[[list[str], int], Merges]:
    """The usual loop with one thing changed."""

    def learn(words: list[str], num_merges: int) -> Merges:
        counts = Counter(words)
        pieces = {word: begin(word) for word in counts}
        merges: Merges = []
        for _ in range(num_merges):
            pairs: Counter[Pair] = Counter()
            for word, tokens in pieces.items():
                for pair in neighbours(tokens):
                    pairs[pair] += weigh(counts[word])
            if not strict and max(pairs.values(), default=0) < least:
                break
            best = choose(pairs)
            merges.append(best)
            pieces = {word: glue(tokens, best) for word, tokens in pieces.items()}
        return merges

    return learn


def _counted_once(words: list[str], num_merges: int) -> Merges:
    pairs = Counter(pair for word in words for pair in pairwise(word))
    ranked = sorted(pairs, key=lambda pair: (pairs[pair], pair), reverse=True)
    return ranked[:num_merges]


def _across_words(words: list[str], num_merges: int) -> Merges:
    return byte_pair_merges(["".join(words)], num_merges)


def _replaced_in_a_text(words: list[str], num_merges: int) -> Merges:
    """Words as texts with spaces, and `replace` without a look at where a token begins and ends."""
    counts = Counter(words)
    texts = {word: " ".join(word) for word in counts}
    merges: Merges = []
    for _ in range(num_merges):
        pairs: Counter[Pair] = Counter()
        for word, text in texts.items():
            for pair in pairwise(text.split()):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        texts = {word: text.replace(" ".join(best), "".join(best)) for word, text in texts.items()}
    return merges


def _return_inside_the_loop(words: list[str], num_merges: int) -> Merges | None:
    return byte_pair_merges(words, 1) if num_merges else None


def _words_sorted(words: list[str], num_merges: int) -> Merges:
    words.sort()
    return byte_pair_merges(words, num_merges)


_WRONG: dict[str, Callable[[list[str], int], Any]] = {
    "ties_first_seen": _learner(choose=lambda pairs: max(pairs, key=lambda pair: pairs[pair])),
    "ties_last_seen": _learner(choose=lambda pairs: sorted(pairs, key=lambda pair: pairs[pair])[-1]),
    "ties_smaller": _learner(choose=lambda pairs: min(pairs, key=lambda pair: (-pairs[pair], pair))),
    "ties_by_the_joined_text": _learner(
        choose=lambda pairs: max(pairs, key=lambda pair: (pairs[pair], pair[1], pair[0]))
    ),
    "frequencies_forgotten": _learner(weigh=lambda count: 1),
    "counted_once": _counted_once,
    "across_words": _across_words,
    "rarest_first": _learner(choose=lambda pairs: min(pairs, key=lambda pair: (pairs[pair], pair))),
    "first_in_a_word_only": _learner(glue=_first_only),
    "runs_counted_apart": _learner(neighbours=_without_overlap),
    "merged_from_the_right": _learner(glue=_from_the_right),
    "end_of_word_marked": _learner(begin=lambda word: [*word, "</w>"]),
    "one_too_few": lambda words, num_merges: byte_pair_merges(words, num_merges - 1),
    "stops_at_pairs_seen_once": _learner(least=2),
    "nothing_left_is_an_error": _learner(strict=True),
    "replaced_in_a_text": _replaced_in_a_text,
}


def _corpora(generator: np.random.Generator) -> list[Case]:
    def telling(tag: str, letters: int, merges: int, ties: bool, *apart: str, **drawing: int) -> dict[str, Any]:
        """Words on which each wrong way in `apart` gives something else; without ties unless they are wanted.

        `replace` in a text with spaces goes wrong on more words and nowhere else here: one slip, one mark.
        """
        while True:
            words = draw_words(generator, draw_symbols(generator, letters, LETTERS), **drawing)
            if len(set(words)) < 3 or (ties_on_the_way(words, merges) > 0) != ties:
                continue
            right = byte_pair_merges(words, merges)
            if len(right) < merges or (tag != "runs" and any(a == b for a, b in right)):
                continue
            if any(_WRONG[name](words, merges) == right for name in reversed(apart)):  # the rarest to show first
                continue
            if (_replaced_in_a_text(words, merges) == right) == ("replaced_in_a_text" in apart):
                continue
            found = [_WRONG[name](words, merges) for name in apart]
            if all(a != b for a, b in pairwise(sorted(found))):
                return {"words": words, "num_merges": merges}

    usual = (
        "frequencies_forgotten",
        "counted_once",
        "across_words",
        "rarest_first",
        "end_of_word_marked",
        "first_in_a_word_only",
    )
    tied = ("ties_first_seen", "ties_last_seen", "ties_smaller", "ties_by_the_joined_text")
    runs = ("runs_counted_apart", "merged_from_the_right", "first_in_a_word_only", "replaced_in_a_text")
    few = sorted(draw_symbols(generator, 4, LETTERS))  # the larger pair is the more frequent: no question of ties
    small = {"words": [few[2] + few[3], few[0] + few[1], few[2] + few[3]], "num_merges": 20}
    return [
        Case("on a few words", telling("usual", 4, 3, False, *usual), USUAL),
        Case("on more words", telling("usual", 5, 5, False, *usual, "replaced_in_a_text", different=9), USUAL),
        Case("where pairs are equally frequent", telling("ties", 6, 4, True, *tied, most=2), frozenset({"ties"})),
        Case("on words with runs such as 'aaa'", _runs(generator, runs), frozenset({"runs"})),
        Case("where a longer token ends like the pair", _look_alikes(generator), frozenset({"whole"})),
        Case("where no pair is left before the end", small, frozenset({"end"})),
        Case("where no merge is asked for", {**small, "num_merges": 0}, frozenset({"none"})),
        Case("on words of one character", {"words": few[:3] * 2, "num_merges": 2}, frozenset({"none"})),
    ]


def _look_alikes(generator: np.random.Generator) -> dict[str, Any]:
    """The pairs (a, b) and (e, c), when "xa" stands before a "b", and "cd" after an "e". No ties."""
    x, a, b, c, d, e = draw_symbols(generator, 6, LETTERS)
    words = [x + a] * 17 + [a + b] * 9 + [x + a + b] * 5 + [c + d] * 14 + [e + c] * 7 + [e + c + d] * 3
    return {"words": [str(word) for word in generator.permutation(words)], "num_merges": 6}


def _runs(generator: np.random.Generator, apart: tuple[str, ...]) -> dict[str, Any]:
    """Words with long runs of one letter, on which each wrong way gives something else, and no ties."""
    while True:
        letters = draw_symbols(generator, 3, LETTERS)
        words: list[str] = []
        for _ in range(4):
            parts = [letters[int(generator.integers(3))] * int(generator.integers(1, 6)) for _ in range(3)]
            words += ["".join(parts)] * int(generator.integers(1, 12))
        words = [str(word) for word in generator.permutation(words)]
        right = byte_pair_merges(words, 4)
        found = [_WRONG[name](words, 4) for name in apart]
        different = all(result != right for result in found) and all(a != b for a, b in pairwise(sorted(found)))
        if len(right) == 4 and ties_on_the_way(words, 4) == 0 and different:
            return {"words": words, "num_merges": 4}


def _on_every_word(words: list[str], num_merges: int) -> Merges:
    """Without counting words first: slow, and right."""
    pieces = [list(word) for word in words]
    merges: Merges = []
    while len(merges) < num_merges:
        counts: dict[Pair, int] = {}
        for tokens in pieces:
            for i in range(len(tokens) - 1):
                counts[tokens[i], tokens[i + 1]] = counts.get((tokens[i], tokens[i + 1]), 0) + 1
        if not counts:
            return merges
        best = sorted(counts.items(), key=lambda item: (item[1], item[0]))[-1][0]
        merges.append(best)
        for tokens in pieces:
            i = 0
            while i < len(tokens) - 1:
                if (tokens[i], tokens[i + 1]) == best:
                    tokens[i : i + 2] = [best[0] + best[1]]
                i += 1
    return merges


def _lists_for_pairs(words: list[str], num_merges: int) -> list[list[str]]:
    return [list(pair) for pair in byte_pair_merges(words, num_merges)]


def _by_sorting(words: list[str], num_merges: int) -> Merges:
    def choose(pairs: Counter[Pair]) -> Pair:
        most = max(pairs.values())
        return sorted(pair for pair in pairs if pairs[pair] == most)[-1]

    return _learner(choose=choose)(words, num_merges)


BYTE_PAIR_MERGES = Exercise(
    symbol="byte_pair_merges",
    points=3,
    cases=_corpora,
    references=(byte_pair_merges,),
    aspects=(
        main(
            "the most frequent pair each time",
            meaning="At each step, the pair that is most frequent at that point is merged.",
        ),
        special(
            "whole tokens are compared",
            "whole",
            meaning="Only whole tokens make a pair, not parts of longer ones.",
        ),
        special(
            "ties: the larger pair",
            "ties",
            meaning="Of several equally frequent pairs, the lexicographically largest is merged.",
        ),
        special(
            "runs such as 'aaa'", "runs", meaning="Runs of one letter, such as 'aaa', are counted and merged correctly."
        ),
        special("until no pair is left", "end", meaning="The list ends early when no pair is left to merge."),
        special("nothing to merge", "none", meaning="The list is empty if num_merges is 0, or if there are no pairs."),
        untouched("the words stay as they were"),
    ),
    mistakes=(
        Mistake(
            "ties_first_seen",
            _WRONG["ties_first_seen"],
            "Among equally frequent pairs you take the one that was counted first. Which one does the "
            "docstring ask for?",
        ),
        Mistake(
            "ties_last_seen",
            _WRONG["ties_last_seen"],
            "Among equally frequent pairs you take the one that was counted last. Which one does the "
            "docstring ask for?",
        ),
        Mistake(
            "ties_smaller",
            _WRONG["ties_smaller"],
            "Among equally frequent pairs you take the lexicographically smallest. Which one does the "
            "docstring ask for?",
        ),
        Mistake(
            "ties_by_the_second_token",
            _WRONG["ties_by_the_joined_text"],
            "Among equally frequent pairs you compare the second tokens first. In which order does Python compare "
            "two tuples?",
        ),
        Mistake(
            "frequencies_forgotten",
            _WRONG["frequencies_forgotten"],
            "You count each different word once, however often it occurs. What do the repetitions in the list mean?",
            central=True,
        ),
        Mistake(
            "counted_once",
            _WRONG["counted_once"],
            "All your pairs are pairs of characters, from a single count. What has changed in the words after a "
            "merge, and which pairs are there now?",
            central=True,
        ),
        Mistake(
            "across_words",
            _WRONG["across_words"],
            "Some of your pairs span the end of one word and the start of the next. Where may a pair be?",
            central=True,
        ),
        Mistake(
            "rarest_first",
            _WRONG["rarest_first"],
            "You merge the rarest pair. Which one would save the most tokens?",
        ),
        Mistake(
            "first_in_a_word_only",
            _WRONG["first_in_a_word_only"],
            "You merge only the first occurrence of a pair in each word. What about the others?",
        ),
        Mistake(
            "runs_counted_apart",
            _WRONG["runs_counted_apart"],
            'In "aaa" you count one pair. How many pairs of neighbours are there?',
        ),
        Mistake(
            "merged_from_the_right",
            _WRONG["merged_from_the_right"],
            'In "aaa" you merge the last two letters. From which end should you start?',
        ),
        Mistake(
            "end_of_word_marked",
            _WRONG["end_of_word_marked"],
            "You mark the end of each word, as some tokenizers do. Does ours?",
        ),
        Mistake(
            "replaced_in_a_text",
            _WRONG["replaced_in_a_text"],
            'Replacing "a b" in a spaced-out word also changes "xa b", where "a" is only the end of a longer token. '
            "How can you compare whole tokens?",
        ),
        Mistake(
            "return_inside_the_loop",
            _return_inside_the_loop,
            "You return after the first merge. Is the return inside the loop?",
        ),
        Mistake(
            "one_too_few",
            lambda words, num_merges: byte_pair_merges(words, max(num_merges - 1, 0)),
            "The merges are right, but the last one is missing. How often does your loop run?",
        ),
        Mistake(
            "stops_at_pairs_seen_once",
            _WRONG["stops_at_pairs_seen_once"],
            "You stop as soon as every pair occurs only once. Are there no pairs left at that point?",
        ),
        Mistake(
            "nothing_left_is_an_error",
            _WRONG["nothing_left_is_an_error"],
            "When no pair is left, your code raises an error. What should it return instead?",
        ),
        Mistake(
            "joined_texts",
            lambda words, num_merges: [a + b for a, b in byte_pair_merges(words, num_merges)],
            "You return the merged tokens, but a merged token doesn't say where its two parts meet. What should each "
            "entry of the list be?",
        ),
        Mistake(
            "counts_as_well",
            lambda words, num_merges: [(pair, 1) for pair in byte_pair_merges(words, num_merges)],
            "Each of your entries holds a pair and something else, such as its count. What should an entry be?",
        ),
        Mistake(
            "words_sorted",
            _words_sorted,
            "The merges are right, but the caller's list of words is now in a different order. Which call "
            "sorts in place?",
        ),
    ),
    variants={
        "every word on its own": _on_every_word,
        "lists for pairs": _lists_for_pairs,
        "sorting": _by_sorting,
        "a tuple of pairs": lambda words, num_merges: tuple(byte_pair_merges(list(reversed(words)), num_merges)),
    },
)

"""`apply_merges` and `byte_pair_decode`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from course.byte_pairs import apply_merges, byte_pair_decode, byte_pair_merges, merge_pair
from grader.authoring.aspects import USUAL, main, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.drawing import LETTERS, draw_symbols, draw_words
from lessons.lesson_02.exercises.learning import _first_only, _from_the_right

Pair = tuple[str, str]
Merges = list[Pair]
Cut = Callable[[str, Merges], Any]


def _longest_first(word: str, merges: Merges) -> list[str]:
    known, tokens, place = {a + b for a, b in merges}, [], 0
    while place < len(word):
        end = next(end for end in range(len(word), place, -1) if end == place + 1 or word[place:end] in known)
        tokens.append(word[place:end])
        place = end
    return tokens


def _replaced_in_a_text(word: str, merges: Merges) -> list[str]:
    text = " ".join(word)
    for a, b in merges:
        text = text.replace(f"{a} {b}", a + b)
    return text.split()


def _overlapping(word: str, merges: Merges) -> list[str]:
    tokens = list(word)
    for pair in merges:
        merged, place = [], 0
        while place < len(tokens):
            here = tuple(tokens[place : place + 2]) == pair
            merged.append(pair[0] + pair[1] if here else tokens[place])
            last = here and tuple(tokens[place + 1 : place + 3]) != pair
            place += 2 if last else 1
        tokens = merged
    return tokens


def _in_turn(merge: Callable[[list[str], Pair], list[str]], order: int = 1) -> Cut:
    def cut(word: str, merges: Merges) -> list[str]:
        tokens = list(word)
        for pair in merges[::order]:
            tokens = merge(tokens, pair)
        return tokens

    return cut


_WRONG: dict[str, Cut] = {
    "first_place_only": _in_turn(_first_only),
    "last_merge_first": _in_turn(merge_pair, order=-1),
    "longest_token_first": _longest_first,
    "replaced_in_a_text": _replaced_in_a_text,
    "first_merge_only": lambda word, merges: merge_pair(list(word), merges[0]) if merges else list(word),
    "from_the_right": _in_turn(_from_the_right),
    "overlapping": _overlapping,
}


def _words(generator: np.random.Generator) -> list[Case]:
    def telling(count: int, length: int, letters: int, *apart: str) -> dict[str, Any]:
        """Merges that were learnt from words, and another word on which each wrong way in `apart` shows."""
        while True:
            pool = draw_symbols(generator, letters, LETTERS)
            merges = byte_pair_merges(draw_words(generator, pool, 10), count)
            if len(merges) < count or any(a == b for a, b in merges):
                continue
            for _ in range(60):  # a word costs less to try than merges cost to learn
                word = "".join(str(letter) for letter in generator.choice(pool, length))
                right = apply_merges(word, merges)
                found = [_WRONG[name](word, merges) for name in apart]
                different = all(result != right for result in found) and all(a != b for a, b in pairwise(sorted(found)))
                if different and _lowest_rank_first(word, merges) == right:
                    return {"word": word, "merges": [list(pair) for pair in merges]}

    usual = ("last_merge_first", "longest_token_first", "first_merge_only", "first_place_only")
    letter, other = draw_symbols(generator, 2, LETTERS)
    run = [[letter, letter], [letter + letter, letter]]
    guarded = [[other, letter], [letter, other]]
    known = telling(6, 12, 4, *usual)
    short = telling(4, 10, 4, *usual)
    place = int(generator.integers(1, 6))
    strange = {**short, "word": short["word"][:place] + "? " + short["word"][place:] + "!"}
    return [
        Case("on a word", short, USUAL),
        Case("on a long word", known, USUAL),
        Case("on a run of one letter", {"word": letter * 7, "merges": run}, frozenset({"runs"})),
        Case("on a run of an odd length", {"word": letter * 3, "merges": run[:1]}, frozenset({"runs"})),
        Case(
            "where a longer token ends like the first half of a pair",
            {"word": other + letter + other, "merges": guarded},
            frozenset({"whole"}),
        ),
        Case("on characters that are in no merge, a space among them", strange, frozenset({"strange"})),
        Case("without any merges", {**short, "merges": []}, frozenset({"bare"})),
        Case("on an empty word", {**short, "word": ""}, frozenset({"bare"})),
    ]


def _lowest_rank_first(word: str, merges: Merges) -> list[str]:
    """As libraries do it: always the pair that was learnt first among those that are there."""
    ranks = {tuple(pair): rank for rank, pair in reversed(list(enumerate(merges)))}
    tokens = list(word)
    while True:
        there = [pair for pair in pairwise(tokens) if pair in ranks]
        if not there:
            return tokens
        tokens = merge_pair(tokens, min(there, key=lambda pair: ranks[pair]))


def _in_place(word: str, merges: Merges) -> list[str]:
    tokens = list(word)
    for first, second in merges:
        i = 0
        while i < len(tokens) - 1:
            if tokens[i] == first and tokens[i + 1] == second:
                tokens[i] += tokens.pop(i + 1)
            i += 1
    return tokens


def _used_up(word: str, merges: Merges) -> list[str]:
    tokens = list(word)
    while merges:
        tokens = merge_pair(tokens, merges.pop(0))
    return tokens


def _recursive(word: str, merges: Merges) -> list[str]:
    return merge_pair(_recursive(word, merges[:-1]), merges[-1]) if merges else list(word)


def _strange_left_out(word: str, merges: Merges) -> list[str]:
    known = {symbol for pair in merges for token in pair for symbol in token} or set(word)
    return [token for token in apply_merges(word, merges) if set(token) <= known]


def _strange_replaced(word: str, merges: Merges) -> list[str]:
    known = {symbol for pair in merges for token in pair for symbol in token} or set(word)
    return [token if set(token) <= known else "[UNK]" for token in apply_merges(word, merges)]


APPLY_MERGES = Exercise(
    symbol="apply_merges",
    points=2,
    cases=_words,
    references=(apply_merges,),
    aspects=(
        main("the right tokens", meaning="The word is cut into the right tokens, in order."),
        special(
            "runs, from left to right", "runs", meaning="In a run such as 'aaa', pairs are merged from left to right."
        ),
        special(
            "whole tokens are compared",
            "whole",
            meaning="Only whole tokens make a pair, not parts of longer ones.",
        ),
        special("unknown characters stay", "strange", meaning="Characters that no merge mentions stay as they are."),
        special(
            "nothing to do", "bare", meaning="An empty list of merges and an empty word give the right result too."
        ),
        untouched("the merges stay as they were"),
    ),
    mistakes=(
        Mistake(
            "first_place_only",
            _WRONG["first_place_only"],
            "You merge each pair once per word. What if it occurs twice?",
            central=True,
        ),
        Mistake(
            "last_merge_first",
            _WRONG["last_merge_first"],
            "You start with the merge that was learnt last. Are its two tokens there at the start?",
            central=True,
        ),
        Mistake(
            "longest_token_first",
            _WRONG["longest_token_first"],
            "You take the longest known token each time. The merges have an order: what is it for?",
            central=True,
        ),
        Mistake(
            "first_merge_only",
            _WRONG["first_merge_only"],
            "Only the first merge was applied. Is the return inside the loop?",
            central=True,
        ),
        Mistake(
            "from_the_right",
            _WRONG["from_the_right"],
            'In "aaa" you merge the last two letters. From which end should you start?',
        ),
        Mistake(
            "overlapping",
            _WRONG["overlapping"],
            "You use one token in two merges, so letters are doubled. How far should you move after a merge?",
        ),
        Mistake(
            "replaced_in_a_text",
            _WRONG["replaced_in_a_text"],
            'Replacing "a b" in a spaced-out word also changes "xa b", where "a" is only the end of a longer token. '
            "How can you compare whole tokens?",
        ),
        Mistake(
            "spaces_lost",
            lambda word, merges: [token for token in apply_merges(word, merges) if token.strip()],
            "A space in the text is gone, as after a split. Isn't it a character in no merge, like the others?",
        ),
        Mistake(
            "strange_left_out",
            _strange_left_out,
            "Characters that are in no merge are gone. Could you still put the word back together?",
        ),
        Mistake(
            "strange_replaced",
            _strange_replaced,
            "Characters that are in no merge became an unknown token. What can every character be, if nothing else?",
        ),
        Mistake(
            "no_merges",
            lambda word, merges: list(word),
            "Your tokens are single characters. What should each pair of the merges do to them?",
        ),
        Mistake(
            "whole_word",
            lambda word, merges: [word] if word else [],
            "Your only token is the whole word. What are the tokens before the first merge?",
        ),
        Mistake(
            "text_returned",
            lambda word, merges: " ".join(apply_merges(word, merges)),
            "You return the tokens as one string with spaces. Which type keeps them apart?",
        ),
        Mistake(
            "merges_used_up",
            _used_up,
            "The tokens are right, but the caller's list of merges is empty afterwards. How can you walk through a "
            "list without removing anything from it?",
        ),
    ),
    variants={
        "in place": _in_place,
        "recursive": _recursive,
        "lowest rank first": _lowest_rank_first,
        "a tuple": lambda word, merges: tuple(apply_merges(word, merges)),
    },
)


def _tokens(generator: np.random.Generator) -> list[Case]:
    def draw(count: int) -> list[str]:
        while True:
            symbols = draw_symbols(generator, 5, LETTERS)
            tokens = [
                "".join(str(s) for s in generator.choice(symbols, int(generator.integers(1, 4)))) for _ in range(count)
            ]
            tokens[-1] = tokens[0]  # one comes twice
            text = "".join(tokens)
            others = [text[::-1], "".join(tokens[::-1]), "".join(sorted(tokens)), max(tokens, key=len)]
            if text not in others and len(tokens[1]) > 1:
                return tokens

    single = draw(4)[1]
    return [
        Case("on a few tokens", {"tokens": draw(4)}, USUAL),
        Case("on more tokens", {"tokens": draw(7)}, USUAL),
        Case("on a single token", {"tokens": [single]}, frozenset({"one"})),
        Case("on no tokens", {"tokens": []}, frozenset({"empty"})),
    ]


def _popped(tokens: list[str]) -> str:
    word = ""
    while tokens:
        word += tokens.pop(0)
    return word


def _added(tokens: list[str]) -> str:
    word = ""
    for token in tokens:
        word += token
    return word


BYTE_PAIR_DECODE = Exercise(
    symbol="byte_pair_decode",
    points=1,
    cases=_tokens,
    references=(byte_pair_decode,),
    aspects=(
        main("the word again", meaning="The tokens are joined into the word they came from."),
        special("a single token", "one", meaning="A single token gives the right word too."),
        special("no tokens", "empty", meaning="An empty list of tokens gives an empty word."),
        untouched("the tokens stay as they were"),
    ),
    mistakes=(
        Mistake(
            "joined_with_spaces",
            " ".join,
            "You put a space between every two tokens. Was there one in the word?",
            central=True,
        ),
        Mistake(
            "characters_listed",
            lambda tokens: list("".join(tokens)),
            "You return a list of characters. What type is a word?",
        ),
        Mistake(
            "backwards",
            lambda tokens: "".join(tokens[::-1]),
            "You join the tokens from last to first. Which one should the word start with?",
        ),
        Mistake(
            "each_token_once",
            lambda tokens: "".join(dict.fromkeys(tokens)),
            "A token that occurs again is missing the second time. Can't a word contain a token twice?",
        ),
        Mistake(
            "first_token_only",
            lambda tokens: tokens[0] if tokens else "",
            "Only the first token came back. Is the return inside the loop?",
        ),
        Mistake(
            "sorted_tokens",
            lambda tokens: "".join(sorted(tokens)),
            "You sort the tokens before joining them. What does the order of the list mean?",
        ),
        Mistake(
            "nothing_is_an_error",
            lambda tokens: tokens[0] + "".join(tokens[1:]),
            "Without any tokens your code raises an error. Which word has no letters?",
        ),
        Mistake(
            "tokens_used_up",
            _popped,
            "The word is right, but the caller's list is empty afterwards. How can you read a list without "
            "removing anything from it?",
        ),
    ),
    variants={
        "added one by one": _added,
        "every character": lambda tokens: "".join(symbol for token in tokens for symbol in token),
        "format": lambda tokens: ("{}" * len(tokens)).format(*tokens),
    },
)

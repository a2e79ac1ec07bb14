"""`byte_pair_vocabulary` and `byte_pair_ids`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course.byte_pairs import apply_merges, byte_pair_ids, byte_pair_vocabulary
from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.drawing import LETTERS, draw_symbols

Pair = tuple[str, str]
Merges = list[Pair]
Vocabulary = dict[str, int]
FOREIGN = ["é", "ï", "ß", "€", "鯨", "🐋"]  # two, three and four bytes each


def draw_merges(generator: np.random.Generator, doubled: bool = False) -> Merges:
    """Merges of letters, some of merged tokens; with `doubled`, two of them make the same token."""
    a, b, c, d, e = draw_symbols(generator, 5, LETTERS)
    merges = [(a, b), (c, d), (a + b, c)]
    return [*merges, (b, c), (a, b + c), (c, e), (d, e)] if doubled else [*merges, (c + d, e), (e, a)]


# --- byte_pair_vocabulary


def _merges(generator: np.random.Generator) -> list[Case]:
    def case(label: str, merges: Merges, *tags: str) -> Case:
        return Case.of(label, *tags, merges=[list(pair) for pair in merges])

    plain = draw_merges(generator)
    return [
        case("on a few merges", plain[:3]),
        case("on more merges", plain),
        case("where two merges make the same token", draw_merges(generator, doubled=True), "doubled"),
        case("on a single merge", plain[:1], "one"),
        case("without any merges", [], "none"),
    ]


def _last_id_wins(merges: Merges) -> Vocabulary:
    return {a + b: place for place, (a, b) in enumerate(merges, start=257)}


def _ids_skipped(merges: Merges) -> Vocabulary:
    vocabulary: Vocabulary = {}
    for place, (a, b) in enumerate(merges, start=257):
        vocabulary.setdefault(a + b, place)
    return vocabulary


def _shifted(by: int) -> Callable[[Merges], Vocabulary]:
    return lambda merges: {token: place + by for token, place in byte_pair_vocabulary(merges).items()}


def _characters_first(merges: Merges) -> Vocabulary:
    letters = dict.fromkeys("".join(a + b for a, b in merges))
    tokens = dict.fromkeys([*letters, *(a + b for a, b in merges)])
    return {token: place for place, token in enumerate(tokens, start=257)}


def _return_inside_the_loop(merges: Merges) -> Vocabulary:
    return byte_pair_vocabulary(merges[:1])


def _by_steps(merges: Merges) -> Vocabulary:
    vocabulary: Vocabulary = {}
    next_id = 257
    for pair in merges:
        token = "".join(pair)
        if token not in vocabulary:
            vocabulary[token] = next_id
            next_id += 1
    return vocabulary


def _used_up(merges: Merges) -> Vocabulary:
    result = byte_pair_vocabulary(merges)
    merges.clear()
    return result


BYTE_PAIR_VOCABULARY = Exercise(
    symbol="byte_pair_vocabulary",
    points=1,
    cases=_merges,
    references=(byte_pair_vocabulary,),
    aspects=(
        main("an id for each merged token", meaning="Each merged token gets the id that the docstring gives it."),
        special(
            "the same token twice",
            "doubled",
            meaning="A token that two merges make has one id, the first, and no id is left out.",
        ),
        special("a single merge", "one", meaning="A single merge gives the right vocabulary too."),
        special("no merges", "none", meaning="An empty list of merges gives an empty vocabulary."),
        untouched("the merges stay as they were"),
    ),
    mistakes=(
        Mistake(
            "from_one",
            _shifted(-256),
            "Your ids start at 1. Which ids are taken by the bytes?",
            central=True,
        ),
        Mistake(
            "from_256",
            _shifted(-1),
            "Your ids start at 256. There are 256 bytes, but where do their ids start?",
            central=True,
        ),
        Mistake(
            "from_zero",
            _shifted(-257),
            "Your ids start at 0. Which ids are taken by padding and by the bytes?",
        ),
        Mistake(
            "last_id_wins",
            _last_id_wins,
            "If two merges make the same token, you give it a new id the second time. Which id should it keep?",
        ),
        Mistake(
            "ids_left_out",
            _ids_skipped,
            "If two merges make the same token, one of your ids is never used. Should the place in the list of merges "
            "decide, or how many tokens there are so far?",
        ),
        Mistake(
            "characters_added",
            _characters_first,
            "You give single characters ids of their own. Which ids do they have already?",
            central=True,
        ),
        Mistake(
            "turned_round",
            lambda merges: {place: token for token, place in byte_pair_vocabulary(merges).items()},
            "Your dictionary goes from ids to tokens. Which of the two will we look up?",
        ),
        Mistake(
            "list_returned",
            lambda merges: list(byte_pair_vocabulary(merges)),
            "You return the tokens in the right order, but in a list. How does each of them get its id?",
        ),
        Mistake(
            "alphabetical",
            lambda merges: {t: place for place, t in enumerate(sorted({a + b for a, b in merges}), start=257)},
            "Your tokens are in alphabetical order. Which order should their ids follow?",
        ),
        Mistake(
            "return_inside_the_loop",
            _return_inside_the_loop,
            "Only the first merge got an id. Is the return inside the loop?",
        ),
        Mistake(
            "merges_used_up",
            _used_up,
            "The ids are right, but the caller's list of merges is empty afterwards. How can you walk through a list "
            "without removing anything from it?",
        ),
    ),
    variants={
        "step by step": _by_steps,
        "without repetitions first": lambda merges: {
            token: 257 + i for i, token in enumerate(dict.fromkeys("".join(pair) for pair in merges))
        },
        "zip": lambda merges: dict(zip(dict.fromkeys(a + b for a, b in merges), range(257, 9999), strict=False)),
    },
)


# --- byte_pair_ids


def _texts(generator: np.random.Generator) -> list[Case]:
    merges = draw_merges(generator)
    letters = list(dict.fromkeys("".join(a + b for a, b in merges)))
    vocabulary = byte_pair_vocabulary(merges)

    def word() -> str:
        """Letters in which merged tokens occur, one made of another. In "abcd", the longest token comes too late."""
        (a, b), (c, d), (_, _), _, _ = merges
        parts = [a + b + c + d, a + b + c, letters[-1], *generator.choice(letters, 3)]
        return "".join(str(part) for part in generator.permutation(parts))

    def case(label: str, text: str, *tags: str) -> Case:
        return Case.of(label, *tags, text=text, merges=[list(pair) for pair in merges], vocabulary=dict(vocabulary))

    two, three = (str(s) for s in generator.permutation(FOREIGN[:3])[:2]), str(generator.choice(FOREIGN[3:]))
    capital = letters[0].upper() + letters[1]
    return [
        case("on a word", word()),
        case("on a longer word", word() + word()),
        case("on a text with spaces and a capital", f" {capital} {word()}.  {word()}", "text"),
        case("on letters that take several bytes", three.join([word(), *two]), "bytes"),
        case("on a text without any merged token", letters[1] + letters[0] + "?", "plain"),
        case("on an empty text", "", "empty"),
    ]


def _per_token(other: Callable[[str], list[Any]]) -> Callable[[str, Merges, Vocabulary], list[Any]]:
    """Merged tokens as they should be, and something of its own for every other token."""

    def ids(text: str, merges: Merges, vocabulary: Vocabulary) -> list[Any]:
        found: list[Any] = []
        for token in apply_merges(text, merges):
            found += [vocabulary[token]] if token in vocabulary else other(token)
        return found

    return ids


def _refused(text: str, merges: Merges, vocabulary: Vocabulary) -> list[int]:
    return [vocabulary[token] if token in vocabulary else _single(token) for token in apply_merges(text, merges)]


def _single(token: str) -> int:
    (byte,) = token.encode("ascii")
    return byte + 1


def _first_token_only(text: str, merges: Merges, vocabulary: Vocabulary) -> list[int] | None:
    tokens = apply_merges(text, merges)
    return byte_pair_ids(tokens[0], merges, vocabulary) if tokens else None


def _nested(text: str, merges: Merges, vocabulary: Vocabulary) -> list[Any]:
    return [
        vocabulary[token] if token in vocabulary else [byte + 1 for byte in token.encode()]
        for token in apply_merges(text, merges)
    ]


def _words_split(text: str, merges: Merges, vocabulary: Vocabulary) -> list[int]:
    return [i for word in text.split() for i in byte_pair_ids(word, merges, vocabulary)]


def _longest_first(text: str, merges: Merges, vocabulary: Vocabulary) -> list[int]:
    ids: list[int] = []
    while text:
        known = [token for token in vocabulary if text.startswith(token)]
        token = max(known, key=len) if known else text[0]
        ids += byte_pair_ids(token, merges, vocabulary)
        text = text[len(token) :]
    return ids


def _characters_in_the_table(text: str, merges: Merges, vocabulary: Vocabulary) -> list[int]:
    table = {chr(byte): byte + 1 for byte in range(128)} | vocabulary
    ids = []
    for token in apply_merges(text, merges):
        if token in table:
            ids.append(table[token])
        else:
            ids.extend(np.frombuffer(token.encode("utf-8"), dtype=np.uint8).astype(int) + 1)
    return [int(i) for i in ids]


BYTE_PAIR_IDS = Exercise(
    symbol="byte_pair_ids",
    points=2,
    cases=_texts,
    references=(byte_pair_ids,),
    aspects=(
        main("the right ids", meaning="The text becomes the right ids, in order."),
        special(
            "spaces, capitals, punctuation", "text", meaning="Spaces, capitals and punctuation get the right ids too."
        ),
        special(
            "characters of several bytes",
            "bytes",
            weight=5.0,
            meaning="Characters that take several bytes in UTF-8, such as 'é', get the right ids.",
        ),
        special("bytes alone", "plain", meaning="A text without any merged token becomes its bytes' ids."),
        special("an empty text", "empty", meaning="An empty text gives an empty list of ids."),
        untouched("the arguments stay as they were"),
    ),
    mistakes=(
        Mistake(
            "code_points",
            _per_token(lambda token: [ord(token) + 1]),
            "Letters such as ï become a single id. Which ids run from 1 to 256, and how many of them does an ï need?",
            central=True,
        ),
        Mistake(
            "only_one_byte",
            _refused,
            "Characters that take more than one byte stop your code. How many ids may a token become?",
            central=True,
        ),
        Mistake(
            "bytes_not_shifted",
            _per_token(lambda token: list(token.encode())),
            "Your bytes are one too small: byte 0 would be padding. Which id does byte b have?",
        ),
        Mistake(
            "unknown_left_out",
            _per_token(lambda token: []),
            "Only merged tokens got ids; every other character is gone. What should become of those?",
            central=True,
        ),
        Mistake(
            "unknown_becomes_padding",
            _per_token(lambda token: [0]),
            "Characters without a merged token become 0, and 0 is padding. What should become of them?",
        ),
        Mistake(
            "looked_up_only",
            lambda text, merges, vocabulary: [vocabulary[token] for token in apply_merges(text, merges)],
            "Your code stops at a token that isn't in the vocabulary. What should such a token become?",
        ),
        Mistake(
            "no_merges_applied",
            lambda text, merges, vocabulary: [byte + 1 for byte in text.encode()],
            "Your ids are bytes throughout. Which function of yours cuts a text into longer tokens?",
            central=True,
        ),
        Mistake(
            "longest_token_first",
            _longest_first,
            "You take the longest known token each time. Which function of yours knows the order of the merges?",
        ),
        Mistake(
            "nested_lists",
            _nested,
            "Some of your ids are inside lists of their own. How do you add several ids to one flat list?",
        ),
        Mistake(
            "spaces_dropped",
            _words_split,
            "The spaces are gone. Does the text need to be split before the merges are applied?",
        ),
        Mistake(
            "tokens_returned",
            lambda text, merges, vocabulary: apply_merges(text, merges),
            "You return the tokens themselves. Where do you find their ids?",
        ),
        Mistake(
            "return_inside_the_loop",
            _first_token_only,
            "Only the first token got its ids. Is the return inside the loop?",
        ),
    ),
    variants={
        "token by token": _per_token(lambda token: [byte + 1 for byte in token.encode("utf-8")]),
        "ASCII in the table": _characters_in_the_table,
        "a comprehension": lambda text, merges, vocabulary: [
            i
            for token in apply_merges(text, merges)
            for i in ([vocabulary[token]] if token in vocabulary else (byte + 1 for byte in token.encode()))
        ],
    },
)

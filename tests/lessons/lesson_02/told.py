"""What is told of wrong answers that match no mistake, by the ids, texts and merges that come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from tests.lessons.words import Told
from transformer_course import byte_pairs, vocabulary

Merges = list[tuple[str, str]]
Ids = dict[str, int]


def all_but_the_last_character(text: str, ids: Ids) -> list[int]:
    return vocabulary.encode(text, ids)[:-1]


def sorted_ids(text: str, ids: Ids) -> list[int]:
    return sorted(vocabulary.encode(text, ids))


def capitals_ignored(text: str, ids: Ids) -> list[int]:
    return [ids[symbol] for symbol in text.lower() if symbol in ids]


def all_but_the_first_id(ids: Sequence[int], table: Ids) -> str:
    return vocabulary.decode(ids, table)[1:]


def merged_tokens_alone(ids: Sequence[int], table: Ids) -> str:
    return byte_pairs.ids_to_text([each for each in ids if each > 256], table)


def bytes_after_the_merged(ids: Sequence[int], table: Ids) -> str:
    return byte_pairs.ids_to_text(sorted(ids, key=lambda each: each <= 256), table)


def utf_16(text: str, merges: Merges, table: Ids) -> list[int]:
    ids: list[int] = []
    for token in byte_pairs.apply_merges(text, merges):
        ids += [table[token]] if token in table else [byte + 1 for byte in token.encode("utf-16-le")]
    return ids


def code_points(text: str, merges: Merges, table: Ids) -> list[int]:
    ids: list[int] = []
    for token in byte_pairs.apply_merges(text, merges):
        ids += [table[token]] if token in table else [ord(symbol) + 1 for symbol in token]
    return ids


def second_halves(merges: Merges) -> Ids:
    return {second: 257 + place for place, (_, second) in enumerate(merges)}


def alphabetical_from_300(merges: Merges) -> Ids:
    return {token: place for place, token in enumerate(sorted({a + b for a, b in merges}), start=300)}


def each_word_once_and_first_pair_seen(words: list[str], num_merges: int) -> Merges:
    pieces, merges = [list(word) for word in dict.fromkeys(words)], []
    for _ in range(num_merges):
        pairs = Counter(pair for tokens in pieces for pair in pairwise(tokens))
        if not pairs:
            break
        merges.append(pairs.most_common(1)[0][0])
        pieces = [byte_pairs.merge_pair(tokens, merges[-1]) for tokens in pieces]
    return merges


def end_untouched(word: str, merges: Merges) -> list[str]:
    tokens = list(word)
    for pair in merges:
        tokens = [*byte_pairs.merge_pair(tokens[:-1], pair), *tokens[-1:]]
    return tokens


def first_merge_skipped(word: str, merges: Merges) -> list[str]:
    return byte_pairs.apply_merges(word, merges[1:])


def first_character_dropped(word: str, merges: Merges) -> list[str]:
    return byte_pairs.apply_merges(word[1:], merges)


def without_spaces(word: str, merges: Merges) -> list[str]:
    return byte_pairs.apply_merges(word.replace(" ", ""), merges)


def spaces_never_merged(word: str, merges: Merges) -> list[str]:
    return byte_pairs.apply_merges(word, [pair for pair in merges if " " not in "".join(pair)])


ON_CARDS: list[Told] = [
    ("encode", all_but_the_last_character, "The last id is missing."),
    ("encode", capitals_ignored, "All letters are looked up as lower-case letters"),
    ("decode", all_but_the_first_id, "The first character is missing."),
    ("byte_pair_ids", utf_16, "Your bytes are those of UTF-16."),
    ("ids_to_text", merged_tokens_alone, "Only the merged tokens are in your text."),
    ("ids_to_text", bytes_after_the_merged, "Your text has all merged tokens first, then all bytes."),
    ("byte_pair_vocabulary", second_halves, "Your tokens are the second halves of the pairs alone."),
    ("byte_pair_vocabulary", alphabetical_from_300, "Your smallest id is 300."),
    ("byte_pair_vocabulary", alphabetical_from_300, "The ids don't follow the order of the merges."),
    (
        "byte_pair_merges",
        each_word_once_and_first_pair_seen,
        "Each different word counts once, and of equally frequent pairs you take the one that was counted first.",
    ),
    ("apply_merges", end_untouched, "a pair at the very end of the word is never merged"),
    ("apply_merges", first_merge_skipped, "the merge at place 0, counted from 0, is never applied"),
    ("apply_merges", first_character_dropped, "Your tokens don't spell the word any more."),
    ("apply_merges", without_spaces, "A space of the text is gone."),
    ("apply_merges", spaces_never_merged, "A merge that has a space in it is never applied."),
]
UNNAMED: list[Told] = [
    ("encode", sorted_ids, "Each id is there, and some are in another place."),
]
BESIDE: list[Told] = [
    ("byte_pair_ids", code_points, "Characters such as ï have become one id each."),
]
RIGHT = [
    ("encode", "map"),
    ("byte_pair_ids", "a comprehension"),
    ("ids_to_text", "by way of Latin-1"),
    ("byte_pair_vocabulary", "without repetitions first"),
    ("byte_pair_merges", "every word on its own"),
    ("apply_merges", "lowest rank first"),
]

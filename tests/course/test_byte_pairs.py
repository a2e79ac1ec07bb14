"""Byte pairs: held against a slow twin that counts every word, on random words."""

import random
import time
from collections import Counter
from itertools import pairwise

import pytest

from course.byte_pairs import (
    apply_merges,
    byte_pair_decode,
    byte_pair_ids,
    byte_pair_merges,
    byte_pair_vocabulary,
    ids_to_text,
    merge_pair,
)
from course.data import moby_dick
from lessons.lesson_02.experiments import words_in


def slow_merges(words: list[str], num_merges: int) -> list[tuple[str, str]]:
    pieces = [list(word) for word in words]
    merges: list[tuple[str, str]] = []
    for _ in range(num_merges):
        pairs = Counter(pair for tokens in pieces for pair in pairwise(tokens))
        if not pairs:
            break
        most = max(pairs.values())
        merges.append(sorted(pair for pair, count in pairs.items() if count == most)[-1])
        pieces = [merge_pair(tokens, merges[-1]) for tokens in pieces]
    return merges


@pytest.mark.parametrize("seed", range(20))
def test_counting_words_once_changes_nothing(seed: int) -> None:
    generator = random.Random(seed)
    words = ["".join(generator.choices("abc", k=generator.randint(1, 8))) for _ in range(30)]
    merges = byte_pair_merges(words, 12)
    assert merges == slow_merges(words, 12)
    for word in words:
        assert byte_pair_decode(apply_merges(word, merges)) == word


def test_merging_goes_from_left_to_right() -> None:
    assert merge_pair(["a"] * 5, ("a", "a")) == ["aa", "aa", "a"]
    assert merge_pair(["b", "ab", "a", "b"], ("a", "b")) == ["b", "ab", "ab"]
    assert merge_pair([], ("a", "b")) == []


def test_a_run_of_three_holds_two_pairs() -> None:
    assert byte_pair_merges(["aaa", "bc", "bc"], 1) == [("b", "c")]  # two against two: the larger
    assert byte_pair_merges(["aaa", "aaa", "bc", "bc", "bc"], 1) == [("a", "a")]  # four against three


def test_it_ends_when_no_pair_is_left() -> None:
    assert byte_pair_merges(["ab", "c", ""], 9) == [("a", "b")]
    assert byte_pair_merges(["a", "b"], 9) == byte_pair_merges([], 9) == byte_pair_merges(["ab"], 0) == []


def test_characters_that_no_merge_knows_stay() -> None:
    assert apply_merges("a?b", [("a", "b")]) == ["a", "?", "b"]
    assert apply_merges("", [("a", "b")]) == []


def test_a_token_made_twice_has_one_id() -> None:
    merges = [("b", "c"), ("a", "b"), ("a", "bc"), ("ab", "c"), ("d", "e")]
    assert byte_pair_vocabulary(merges) == {"bc": 257, "ab": 258, "abc": 259, "de": 260}


@pytest.mark.parametrize("text", ["", "abc", " a  b\n", "Naïve whale, 鯨 or 🐋", "\x00ÿ"])
def test_any_text_comes_back_from_its_ids(text: str) -> None:
    merges = byte_pair_merges(["whale", "whale", "naive", "abc"], 6)
    vocabulary = byte_pair_vocabulary(merges)
    ids = byte_pair_ids(text, merges, vocabulary)
    assert all(1 <= place <= 256 + len(vocabulary) for place in ids)
    assert ids_to_text([*ids, 0, 0], vocabulary) == text
    with pytest.raises(KeyError):
        ids_to_text([257 + len(vocabulary)], vocabulary)


def test_the_novel_is_quick_enough() -> None:
    start = time.process_time()
    assert len(byte_pair_merges(words_in(moby_dick()), 50)) == 50
    assert time.process_time() - start < 10

"""Ten pairs, spelling and sounds: the data is what it says, the split is clean, and the scores count right."""

import pytest

from transformer_course.tasks.spelling import (
    LETTERS,
    cmudict,
    edits,
    has_relative,
    pronunciations,
    score,
    spelling_task,
)
from transformer_course.tasks.symbols import Symbols
from transformer_course.tasks.ten_pairs import PAIRS, ten_pairs


def test_the_dictionary_is_read_whole() -> None:
    words = cmudict()
    assert len(words) == 126_052
    assert sum(map(len, words.values())) == 135_166
    assert words["aalto"] == [("AA1", "L", "T", "OW2")]  # its line ends with a remark
    assert words["granting"][1] == ("G", "R", "AE1", "N", "IH0", "NG")


def test_words_are_letters_and_sounds_have_no_stress() -> None:
    words = pronunciations()
    assert len(words) == 117_364
    assert all(set(word) <= set(LETTERS.symbols) and 2 <= len(word) <= 16 for word in words)
    assert all(spoken and all(one and not one[0][-1].isdigit() for one in spoken) for spoken in words.values())


def test_the_split_is_clean_and_another_seed_gives_another() -> None:
    first, second = spelling_task(0), spelling_task(1, train=500, test=300)
    assert len(first.test) == 2000
    assert not set(first.train) & set(first.test)
    assert len(first.train) + len(first.test) == len(pronunciations())
    assert (len(second.train), len(second.test)) == (500, 300)
    assert set(first.test) != set(second.test)
    related = sum(has_relative(word, first.train) for word in first.test) / len(first.test)
    assert 0.3 < related < 0.45  # "unseen" does not mean unrelated


def test_examples_are_ids_with_a_start_and_an_end() -> None:
    data = spelling_task(0, train=50, test=5)
    word = next(iter(data.train))
    ((source, target),) = data.examples([word])
    assert LETTERS.decode(source) == list(word)
    assert (target[0], target[-1]) == (Symbols.start_id, Symbols.end_id)
    assert tuple(data.sounds.decode(target)) == data.train[word][0]
    assert len(data.examples()) == 50


@pytest.mark.parametrize(
    ("sounds", "wanted", "count"), [("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)]
)
def test_edits(sounds: str, wanted: str, count: int) -> None:
    assert edits(sounds, wanted) == edits(wanted, sounds) == count


def test_a_word_is_right_if_any_pronunciation_is() -> None:
    wanted = {"either": [("IY", "DH", "ER"), ("AY", "DH", "ER")], "a": [("AH",)]}
    scores = score({"either": ["AY", "DH", "ER"], "a": []}, wanted)
    assert (scores.words, scores.sounds) == (0.5, 0.75)


def test_ten_pairs_come_back_as_they_were() -> None:
    english, german, examples = ten_pairs()
    assert len(examples) == len(set(PAIRS)) == 10
    for (source, target), (one, other) in zip(examples, PAIRS, strict=True):
        assert (" ".join(english.decode(source)), " ".join(german.decode(target))) == (one, other)
    with pytest.raises(ValueError, match="'whale' is not in the vocabulary"):
        english.encode(["whale"])

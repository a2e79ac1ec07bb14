"""Characters to ids and back, padding, examples with a CLS token, and the clinic's test."""

import pytest
import torch

from course.data import moby_dick
from course.vocabulary import build_vocabulary, decode, encode, pad_sequences, prepare_example, round_trips

VOCABULARY = {"1": 1, "2": 2, "-": 3}


def test_the_most_frequent_comes_first_and_ties_come_as_they_appear() -> None:
    assert build_vocabulary(["ba", "ab", "ccc", "d"]) == {"c": 1, "b": 2, "a": 3, "d": 4}
    assert build_vocabulary([]) == {}


def test_a_novel_survives() -> None:
    vocabulary = build_vocabulary([moby_dick()])
    assert sorted(vocabulary.values()) == list(range(1, len(vocabulary) + 1))
    assert decode(encode(moby_dick(), vocabulary), vocabulary) == moby_dick()


def test_what_is_unknown_is_refused_and_named() -> None:
    with pytest.raises(ValueError, match=r"\+"):
        encode("2+1", VOCABULARY)
    with pytest.raises(ValueError, match="9"):
        decode([1, 9], VOCABULARY)


def test_padding_decodes_to_nothing_wherever_it_stands() -> None:
    assert decode([0, 1, 0, 2, 0], VOCABULARY) == "12"
    assert decode([0, 0], VOCABULARY) == decode([], VOCABULARY) == ""


def test_decoding_goes_by_id_and_not_by_place() -> None:
    assert decode([1, 2], {"b": 2, "a": 1}) == "ab"


def test_rows_are_filled_up_on_the_right() -> None:
    sequences: list[list[int]] = [[1, 2, 3], [], [4]]
    padded = pad_sequences(sequences, 3, pad_id=9)
    assert padded.dtype == torch.int64
    assert padded.tolist() == [[1, 2, 3], [9, 9, 9], [4, 9, 9]]
    assert sequences == [[1, 2, 3], [], [4]]
    assert pad_sequences([], 3).shape == (0, 3)
    with pytest.raises(ValueError, match="does not fit"):
        pad_sequences([[1], [1, 2, 3, 4]], 3)


def test_an_example_ends_in_the_cls_token() -> None:
    tokens, label = prepare_example("2-1", 0, VOCABULARY, max_length=4, cls_id=4)
    assert tokens.tolist() == [2, 3, 1, 4]
    assert tokens.dtype == torch.int64
    assert label == 0
    with pytest.raises(ValueError, match="does not fit"):
        prepare_example("2-12", 0, VOCABULARY, max_length=4, cls_id=4)
    with pytest.raises(ValueError, match="not in the vocabulary"):
        prepare_example("2+1", 0, VOCABULARY, max_length=9, cls_id=4)


@pytest.mark.parametrize("text", ["", "a", "Call me Ishmael.", " two  spaces ", "naïve\n"])
def test_a_pair_that_changes_nothing_is_sound(text: str) -> None:
    assert round_trips(list, "".join, text) is True


@pytest.mark.parametrize("text", ["A b", " ab", "a  b", "ab\n"])
def test_losses_are_found(text: str) -> None:
    assert round_trips(lambda t: t.lower().split(), " ".join, text) is False


def test_an_error_is_an_answer() -> None:
    assert round_trips(lambda text: [{"a": 1}[symbol] for symbol in text], str, "ab") is False
    assert round_trips(list, lambda ids: ids, "ab") is False  # a list is no text

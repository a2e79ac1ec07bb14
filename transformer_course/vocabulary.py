"""From text to numbers and back: a vocabulary of characters, ids, padding, and a test that nothing is lost."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch


def build_vocabulary(corpus: list[str]) -> dict[str, int]:
    """Give each character in the corpus a number, its id.

    `corpus` is a list of strings, which is left unchanged. Returns {character: id}. The
    ids are 1, 2, 3, ...: the most frequent character gets 1. Equally frequent
    characters are ranked in the order in which they first appear. Id 0 is reserved for
    padding.

    >>> build_vocabulary(["hello", "hole"])
    {'l': 1, 'h': 2, 'e': 3, 'o': 4}
    """
    ### BEGIN SOLUTION
    counts: Counter[str] = Counter()
    for text in corpus:
        counts.update(text)  # a string is a sequence of characters
    ranked = counts.most_common()  # ties stay in the order of their first appearance
    return {symbol: place for place, (symbol, _) in enumerate(ranked, start=1)}
    ### END SOLUTION


def encode(text: str, vocabulary: dict[str, int]) -> list[int]:
    """Turn each character of a text into its id.

    Returns a list of `len(text)` ids. A character that isn't in the vocabulary raises
    an error (a ValueError, or another one that says what is wrong); it is never dropped
    silently.

    >>> encode("hole", {"l": 1, "h": 2, "e": 3, "o": 4})
    [2, 4, 1, 3]
    """
    ### BEGIN SOLUTION
    unknown = sorted(set(text) - set(vocabulary))
    if unknown:
        raise ValueError(f"not in the vocabulary: {unknown}")
    return [vocabulary[symbol] for symbol in text]
    ### END SOLUTION


def decode(ids: Sequence[int], vocabulary: dict[str, int]) -> str:
    """Turn ids back into text.

    `ids` is a list of integers, which is left unchanged. Id 0 is padding and becomes
    nothing, wherever it is. Any other id that isn't in the vocabulary raises an error.

    >>> decode([2, 4, 1, 3, 0, 0], {"l": 1, "h": 2, "e": 3, "o": 4})
    'hole'
    """
    ### BEGIN SOLUTION
    symbols = {place: symbol for symbol, place in vocabulary.items()}
    unknown = sorted(set(ids) - set(symbols) - {0})
    if unknown:
        raise ValueError(f"no symbol has the id {unknown}")
    return "".join(symbols[place] for place in ids if place != 0)
    ### END SOLUTION


def pad_sequences(sequences: list[list[int]], max_length: int, pad_id: int = 0) -> torch.Tensor:
    """Put sequences of different lengths into one tensor, each padded on the right with
    `pad_id`.

    `sequences` is a list of n lists of ids, which are left unchanged. Returns a
    LongTensor (n, max_length). If any sequence has more than `max_length` ids, that is
    an error (a ValueError, or another one that says so).

    >>> pad_sequences([[5, 6, 7], [8]], max_length=4)  # (2, 4)
    tensor([[5, 6, 7, 0],
            [8, 0, 0, 0]])
    """
    ### BEGIN SOLUTION
    longest = max((len(sequence) for sequence in sequences), default=0)
    if longest > max_length:
        raise ValueError(f"a sequence of {longest} ids does not fit into {max_length}")
    padded = torch.full((len(sequences), max_length), pad_id)  # (n, max_length), int64
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = torch.tensor(sequence, dtype=torch.long)
    return padded
    ### END SOLUTION


def prepare_example(
    text: str, label: int, vocabulary: dict[str, int], max_length: int, cls_id: int
) -> tuple[torch.Tensor, int]:
    """Turn a text and its label into one example for a classifier.

    Returns (tokens, label). `tokens` is a LongTensor (max_length,): first the text's
    ids, then padding (0), and at the very end, at index -1, `cls_id`. The label is
    passed on unchanged, and `vocabulary` stays as it is. A text that leaves no room for
    `cls_id` raises an error.

    >>> prepare_example("hole", 1, {"l": 1, "h": 2, "e": 3, "o": 4}, max_length=7, cls_id=5)
    (tensor([2, 4, 1, 3, 0, 0, 5]), 1)
    """
    ### BEGIN SOLUTION
    ids = encode(text, vocabulary)
    row = pad_sequences([ids], max_length - 1)[0]  # (1, max_length - 1) -> (max_length - 1,)
    return torch.cat([row, torch.tensor([cls_id])]), label
    ### END SOLUTION


def round_trips(encode: Callable[[str], Any], decode: Callable[[Any], Any], text: str) -> bool:
    """Does the text survive being encoded and decoded again?

    `encode(text)` returns ids, and `decode(ids)` returns a text; what the ids look like
    doesn't matter. True if exactly the same text comes back. False if it doesn't, or if
    `encode` or `decode` raises an error: then the text didn't come back either.

    >>> round_trips(list, "".join, "Call me Ishmael.")
    True
    >>> round_trips(str.split, " ".join, "two  spaces")
    False
    """
    ### BEGIN SOLUTION
    try:
        back = decode(encode(text))
    except Exception:  # whatever went wrong, the text didn't come back
        return False
    return isinstance(back, str) and back == text
    ### END SOLUTION

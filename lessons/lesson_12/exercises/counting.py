"""`bag_of_words`: cases, mistakes and variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.beyond.words import bag_of_words
from grader.authoring import draw
from grader.authoring.aspects import USUAL, shape, special, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, Observation, tagged


def _rows(generator: np.random.Generator) -> list[Case]:
    b, n, v = (int(generator.integers(low, low + 3)) for low in (2, 6, 10))

    def tokens(batch: int, length: int, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
        """Rows with a word that occurs three times, padding on the right in all but the first, no largest id."""
        ids = draw.integers(generator, 1, vocab_size - 1, batch, length)
        ids[ids == pad_id] = vocab_size - 2
        ids[:, 0] = ids[:, 2] = ids[:, 3] = 1 if pad_id != 1 else 2
        for row in range(1, batch):
            ids[row, length - 1 - row % (length - 4) :] = pad_id
        return ids

    pad_id = int(generator.integers(3, 6))
    scattered = tokens(b, n, v)
    scattered[:, 1] = 0
    blank = tokens(b, n, v)
    blank[0] = 0
    with_zeros = tokens(b, n, v, pad_id)
    with_zeros[:, 1] = 0  # an ordinary token here
    largest = tokens(b, n, v)
    largest[:, 0] = v - 1

    def case(label: str, tag: str, ids: torch.Tensor, size: int, **other: Any) -> Case:
        return Case(label, {"tokens": ids, "vocab_size": size, **other}, tagged(tag) if tag else USUAL)

    return [
        case("with padding on the right", "", tokens(b, n, v), v),
        case("with more rows than tokens", "", tokens(n + 2, n, v + 1), v + 1),
        case("with a large vocabulary", "", tokens(b, n, 4 * v), 4 * v),
        case("with padding anywhere in a row", "anywhere", scattered, v),
        case("with a row that is all padding", "anywhere", blank, v),
        case("with another pad_id", "pad_id", with_zeros, v, pad_id=pad_id),
        case("with the largest id", "largest", largest, v),
        case("on a batch of one", "one", tokens(1, n, v), v),
        case("with a single token", "one", draw.integers(generator, 1, v - 1, b, 1), v),
        case("with tokens that are not contiguous", "strided", draw.strided(tokens(b, n, v)), v),
    ]


def _any_numbers(observation: Observation, case: Case) -> Observation:
    """Whole numbers or floating-point ones: the contract leaves the choice."""
    kept, output = dict(observation), observation.get("output")
    if isinstance(output, torch.Tensor) and output.dtype != torch.bool and not output.is_complex():
        kept["output"] = output.detach().double()
    return kept


def _changed(change: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The right counts, changed; the tokens are at hand."""
    return lambda tokens, vocab_size, pad_id=0: change(bag_of_words(tokens, vocab_size, pad_id), tokens)


def _padding_counted(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    return F.one_hot(tokens, vocab_size).sum(dim=1)


def _assigned(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    """`counts[rows, tokens] += 1` adds once, however often an index comes."""
    counts = torch.zeros(len(tokens), vocab_size)
    counts[torch.arange(len(tokens))[:, None], tokens] += 1
    counts[:, pad_id] = 0
    return counts


def _column_dropped(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    counts = F.one_hot(tokens, vocab_size).sum(dim=1)
    return torch.cat([counts[:, :pad_id], counts[:, pad_id + 1 :]], dim=1)


def _whole_batch(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    return bag_of_words(tokens, vocab_size, pad_id).sum(dim=0)


def _width_of_the_data(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    return bag_of_words(tokens, int(tokens.max()) + 1, pad_id)


def _overwritten(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    counts = bag_of_words(tokens, vocab_size, pad_id)
    tokens[tokens == pad_id] = 0
    tokens.clamp_(max=1)
    return counts


def _counters(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    rows = [Counter(row) for row in tokens.tolist()]
    return torch.tensor([[0 if word == pad_id else row[word] for word in range(vocab_size)] for row in rows])


def _bincounts(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    return torch.stack([torch.bincount(row[row != pad_id], minlength=vocab_size) for row in tokens])


def _looped(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    counts = torch.zeros(len(tokens), vocab_size)
    for row, ids in enumerate(tokens):
        for one in ids:
            if one != pad_id:
                counts[row, one] += 1
    return counts


def _one_hot(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    return (F.one_hot(tokens, vocab_size) * (tokens != pad_id)[..., None]).sum(1)


BAG_OF_WORDS = Exercise(
    symbol="bag_of_words",
    points=2,
    cases=_rows,
    references=(bag_of_words,),
    canonical=_any_numbers,
    aspects=(
        shape("shape (batch, vocab_size)", "The result has one row for each text, and one column for each word."),
        values(8.0),
        special("padding anywhere", "anywhere", meaning="Padding isn't counted, wherever it is and however much."),
        special("another pad_id", "pad_id", 2.0, meaning="The result is also right when pad_id isn't 0."),
        special("the largest id", "largest", meaning="Ids go up to vocab_size - 1."),
        special("a batch of one, a single token", "one", meaning="A batch of one and rows of a single token work too."),
        special("any layout in memory", "strided", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "padding_counted",
            _padding_counted,
            "You count the padding too, so a row's counts tell how long it is padded. What should that column hold?",
            central=True,
        ),
        Mistake(
            "each_word_once",
            _assigned,
            "A word that occurs three times counts once. If you index with the tokens and use +=, how often is an "
            "index that comes three times added to?",
            central=True,
        ),
        Mistake(
            "shares",
            _changed(lambda counts, tokens: counts / counts.sum(dim=1, keepdim=True).clamp(min=1)),
            "Your rows sum to 1: these are shares. Does the docstring ask you to divide?",
            central=True,
        ),
        Mistake(
            "pad_id_ignored",
            lambda tokens, vocab_size, pad_id=0: bag_of_words(tokens, vocab_size),
            "You empty column 0, whatever pad_id is. Which argument says what padding looks like?",
        ),
        Mistake(
            "pad_column_dropped",
            _column_dropped,
            "The column of pad_id is missing, so every later word is one column too far to the left. What should the "
            "column hold?",
        ),
        Mistake(
            "whole_batch_together",
            _whole_batch,
            "You count over the whole batch. Which axis should be left, besides that of the words?",
            central=True,
        ),
        Mistake(
            "width_of_the_batch",
            _width_of_the_data,
            "The number of your columns depends on the largest id in the batch. How many should there always be?",
        ),
        Mistake(
            "one_column_too_far",
            _changed(lambda counts, tokens: counts.roll(1, dims=1)),
            "Every count is one column too far to the right. Which column belongs to id 0?",
        ),
        Mistake(
            "order_kept",
            lambda tokens, vocab_size, pad_id=0: F.one_hot(tokens, vocab_size) * (tokens != pad_id)[..., None],
            "You return one row for each token, in order. What has to happen to the axis of the length?",
            central=True,
        ),
        Mistake(
            "tokens_overwritten",
            _overwritten,
            "The counts are right, but the caller's tokens have changed. Which operation makes a new tensor?",
        ),
    ),
    variants={
        "one-hot vectors": _one_hot,
        "bincount": _bincounts,
        "Counter": _counters,
        "token by token": _looped,
        "compared with every id": lambda tokens, vocab_size, pad_id=0: (
            (tokens[..., None] == torch.arange(vocab_size)) & (tokens != pad_id)[..., None]
        ).sum(dim=1),
        "float64": lambda tokens, vocab_size, pad_id=0: bag_of_words(tokens, vocab_size, pad_id).double(),
    },
)

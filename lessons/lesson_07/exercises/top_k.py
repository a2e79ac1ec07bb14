"""`top_k_filter`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.sampling import top_k_filter
from grader.authoring.aspects import also, any_numbers, shape, untouched, values
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_07.exercises.drawing import HIDDEN, with_hidden


def _uneven(
    generator: np.random.Generator, batch: int, vocabulary: int, kind: torch.dtype = torch.float32
) -> torch.Tensor:
    """Logits in no order, no two of which are close within a row; rows lie above and below row 0."""
    order = generator.permuted(np.tile(np.arange(vocabulary), (batch, 1)), axis=1)
    jitter = generator.uniform(-0.3, 0.3, (batch, vocabulary))
    level = np.arange(batch)[:, None] * (-1) ** np.arange(batch)[:, None] * 2
    return torch.from_numpy((order - vocabulary / 2 + jitter + level) * 0.7).to(kind)


def _numbers(generator: np.random.Generator) -> list[Case]:
    batch, vocabulary = dims(generator, 2, 3, 4)
    vocabulary += 3
    k = int(generator.integers(2, 4))

    def draw(rows: int, tokens: int, k: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"logits": _uneven(generator, rows, tokens, kind), "k": k}

    below = draw(batch, vocabulary, k)
    below["logits"] -= below["logits"].max() + 1
    hidden = {"logits": with_hidden(_uneven(generator, batch, vocabulary), vocabulary - 2), "k": 3}
    some = {"logits": with_hidden(_uneven(generator, batch, vocabulary), 2), "k": 2}
    return [
        Case(f"with k = {k}", draw(batch, vocabulary, k), frozenset({"usual"})),
        Case(f"with {vocabulary + 8} tokens and k = {k + 3}", draw(2, vocabulary + 8, k + 3), frozenset({"usual"})),
        Case("with as many rows as tokens", draw(5, 5, k), frozenset({"usual"})),
        Case("where all logits are negative", below, frozenset({"usual"})),
        Case("with k = 1", draw(batch, vocabulary, 1), frozenset({"ends"})),
        Case("with one less than all", draw(batch, vocabulary, vocabulary - 1), frozenset({"ends"})),
        Case("with k = vocab_size", draw(batch, vocabulary, vocabulary), frozenset({"ends"})),
        Case("with k above vocab_size", draw(batch, vocabulary, vocabulary + 4), frozenset({"above"})),
        Case("on a batch of one", draw(1, vocabulary, k), frozenset({"one"})),
        Case("where some logits are -inf already", some, frozenset({"hidden"})),
        Case("where fewer than k logits are finite", hidden, frozenset({"hidden"})),
        Case("with float64", draw(batch, vocabulary, k, torch.float64), frozenset({"float64"})),
        Case(
            "with logits that are not contiguous",
            {"logits": strided(_uneven(generator, batch, vocabulary)), "k": k},
            frozenset({"strided"}),
        ),
    ]


def _smallest(logits: torch.Tensor, k: int) -> torch.Tensor:
    """The k-th largest of each row, (batch, 1)."""
    return logits.topk(min(k, logits.shape[-1]), dim=-1).values[:, -1:]


def _over_the_batch(logits: torch.Tensor, k: int) -> torch.Tensor:
    least = logits.flatten().topk(min(k, logits.numel())).values[-1]
    return logits.masked_fill(logits < least, HIDDEN)


def _in_place(logits: torch.Tensor, k: int) -> torch.Tensor:
    logits[logits < _smallest(logits, k)] = HIDDEN
    return logits


def _by_loop(logits: torch.Tensor, k: int) -> torch.Tensor:
    rows = []
    for row in logits:
        kept = set(row.argsort(descending=True)[:k].tolist())
        rows.append(torch.stack([x if i in kept else x - torch.inf for i, x in enumerate(row)]))
    return torch.stack(rows)


def _by_scatter(logits: torch.Tensor, k: int) -> torch.Tensor:
    found = torch.topk(logits, min(k, logits.size(1)))
    return torch.full_like(logits, HIDDEN).scatter_(1, found.indices, found.values)


def _by_rank(logits: torch.Tensor, k: int) -> torch.Tensor:
    rank = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
    return torch.where(rank < k, logits, torch.tensor(HIDDEN, dtype=logits.dtype))


def _by_counting(logits: torch.Tensor, k: int) -> torch.Tensor:
    larger = (logits[:, None, :] > logits[:, :, None]).sum(-1)  # how many beat each token
    return logits.clone().masked_fill_(larger >= k, float("-inf"))


TOP_K = Exercise(
    symbol="top_k_filter",
    points=2,
    cases=_numbers,
    references=(top_k_filter,),
    aspects=(
        shape(),
        values(),
        special("k = 1 to all", "ends", meaning="The result is right from the smallest k to k = vocab_size."),
        special("k above vocab_size", "above", meaning="If k is larger than vocab_size, every token is kept."),
        special("a batch of one", "one"),
        special("logits that are -inf already", "hidden"),
        *any_numbers(),
        also("a new tensor", "tensor", meaning="The result shares no memory with the argument."),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "zeros_for_minus_infinity",
            lambda logits, k: logits.masked_fill(logits < _smallest(logits, k), 0.0),
            "You set dropped logits to 0, which is more than every negative one. Which logit has probability 0?",
        ),
        Mistake(
            "large_negative_number",
            lambda logits, k: logits.masked_fill(logits < _smallest(logits, k), -1e9),
            "You set dropped logits to a large negative number. The docstring names another value: which one is "
            "smaller than any number?",
        ),
        Mistake(
            "one_too_few",
            lambda logits, k: logits.masked_fill(logits <= _smallest(logits, k), HIDDEN),
            "You keep one token too few: the k-th largest is dropped along with everything below it. Is it one of the "
            "k largest?",
        ),
        Mistake(
            "one_too_many",
            lambda logits, k: top_k_filter(logits, k + 1),
            "You keep one token too many. Counting from 0, at which index of a sorted row is the k-th largest?",
        ),
        Mistake(
            "smallest_kept",
            lambda logits, k: (
                -top_k_filter(-logits, k) + 0.0 * k
                if k >= logits.shape[-1]
                else logits.masked_fill(logits > logits.sort(-1).values[:, k - 1 : k], HIDDEN)
            ),
            "You keep the k smallest. In which order does your sort put them?",
            central=True,
        ),
        Mistake(
            "over_the_whole_batch",
            _over_the_batch,
            "You keep k tokens of the whole batch, so some rows may keep none. Along which axis should you take the "
            "k largest?",
            central=True,
        ),
        Mistake(
            "threshold_of_row_0",
            lambda logits, k: logits.masked_fill(logits < _smallest(logits, k)[:1], HIDDEN),
            "Every row is cut at the k-th largest logit of row 0. Does each row have a threshold of its own?",
            central=True,
        ),
        Mistake(
            "down_the_columns",
            lambda logits, k: top_k_filter(logits.T, k).T,
            "You keep the k largest of each column. Which axis holds the tokens of one row?",
        ),
        Mistake(
            "sorted",
            lambda logits, k: _by_rank(logits.sort(-1, descending=True).values, k),
            "Your logits come out sorted, so nobody can tell which token is which. Where should each logit stay?",
        ),
        Mistake(
            "cut_off",
            lambda logits, k: logits.topk(min(k, logits.shape[-1]), dim=-1).values,
            "You return only k numbers per row. What should be in the places of the dropped tokens?",
            central=True,
        ),
        Mistake(
            "k_above_is_an_error",
            lambda logits, k: logits.masked_fill(logits < logits.topk(k, dim=-1).values[:, -1:], HIDDEN),
            "With k above vocab_size your code stops with an error. How many tokens can be kept at most?",
        ),
        Mistake(
            "probabilities_returned",
            lambda logits, k: top_k_filter(logits, k).softmax(-1),
            "You return probabilities. What does the function that samples from the result expect?",
        ),
        Mistake(
            "own_tensor_returned",
            lambda logits, k: logits if k >= logits.shape[-1] else top_k_filter(logits, k),
            "Where nothing is dropped you return the caller's own tensor, so writing into the result changes both. How "
            "do you make a new one?",
        ),
        Mistake(
            "in_place",
            _in_place,
            "The result is right, but the caller's logits were changed too. Which method makes a new tensor instead?",
        ),
        Mistake(
            "multiplied_by_a_mask",
            lambda logits, k: (
                (logits >= _smallest(logits, k)) * logits - torch.inf * (logits < _smallest(logits, k)).to(logits.dtype)
            ),
            "Infinity times 0 is NaN, and that is what you get where a token was kept. How can you choose between two "
            "values without multiplying?",
        ),
        Mistake(
            "in_float32",
            lambda logits, k: top_k_filter(logits.float(), k),
            "With float64 logits the result is float32. Which line makes a tensor of a fixed dtype?",
        ),
    ),
    variants={
        "threshold": lambda logits, k: torch.where(logits >= _smallest(logits, k), logits, HIDDEN),
        "scatter": _by_scatter,
        "rank": _by_rank,
        "counting what is larger": _by_counting,
        "loop": _by_loop,
        "k-th smallest from below": lambda logits, k: logits.masked_fill(
            logits < logits.kthvalue(max(logits.shape[-1] - k, 0) + 1, dim=-1, keepdim=True).values, HIDDEN
        ),
    },
)

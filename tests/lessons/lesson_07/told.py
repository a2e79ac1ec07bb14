"""What is told of wrong answers that match no mistake: how rows begin and end, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.lessons.words import Told
from transformer_course import decoding, sampling

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def most_likely_ids(model: Model, source: torch.Tensor, start_id: int, length: int) -> torch.Tensor:
    """The most likely tokens after the start, whatever they are."""
    ids = torch.full_like(source[:, :1], start_id)
    for _ in range(length):
        ids = torch.cat([ids, model(source, ids)[:, -1:].argmax(dim=-1)], dim=1)
    return ids[:, 1:]


def start_in_front(model: Model, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    ids = decoding.greedy_decode(model, source, start_id, end_id, max_length)
    return torch.cat([torch.full_like(ids[:, :1], start_id), ids], dim=1)[:, :max_length]


def without_an_end(model: Model, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    return most_likely_ids(model, source, start_id, max_length)


def first_end_ends_all(model: Model, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    ids = most_likely_ids(model, source, start_id, max_length)
    ends = (ids == end_id).any(dim=0).int()
    return ids[:, : int(ends.argmax()) + 1] if ends.any() else ids


def samples(model: Model, source: torch.Tensor, start_id: int, end_id: int, max_length: int, generator: Any) -> Any:
    """One sample for each row, and its log-likelihood."""
    ids, total = torch.full_like(source[:, :1], start_id), torch.zeros(len(source))
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        logits = model(source, ids)[:, -1]
        drawn = sampling.sample_with_temperature(logits, 1.0, generator).masked_fill(ended, 0)
        total += logits.log_softmax(dim=-1).gather(1, drawn[:, None])[:, 0].masked_fill(ended, 0)
        ids = torch.cat([ids, drawn[:, None]], dim=1)
        ended |= drawn == end_id
    return ids[:, 1:], total


def first_of_n(
    model: Model, source: torch.Tensor, start_id: int, end_id: int, max_length: int, n: int, generator: Any
) -> torch.Tensor:
    ids, _ = samples(model, source, start_id, end_id, max_length, generator)
    several: torch.Tensor = ids
    return several


def worst_of_n(
    model: Model, source: torch.Tensor, start_id: int, end_id: int, max_length: int, n: int, generator: Any
) -> torch.Tensor:
    ids, total = samples(model, source.repeat_interleave(n, dim=0), start_id, end_id, max_length, generator)
    worst = total.reshape(-1, n).argmin(dim=1)
    rows: torch.Tensor = ids.reshape(len(source), n, -1)[torch.arange(len(source)), worst]
    return rows


def top_k_of_log_softmax(logits: torch.Tensor, k: int) -> torch.Tensor:
    return sampling.top_k_filter(logits.log_softmax(dim=-1), k)


def top_k_shared(logits: torch.Tensor, k: int) -> torch.Tensor:
    columns = logits[0].topk(min(k, logits.shape[1])).indices
    return torch.full_like(logits, -torch.inf).index_copy(1, columns, logits[:, columns])


def top_p_of_log_softmax(logits: torch.Tensor, p: float) -> torch.Tensor:
    return sampling.top_p_filter(logits.log_softmax(dim=-1), p)


def mask_of_the_sorted_row(logits: torch.Tensor, p: float) -> torch.Tensor:
    shares = logits.softmax(dim=-1).sort(dim=-1, descending=True).values
    dropped = shares.cumsum(dim=-1) - shares >= p
    dropped[:, 0] = False
    return logits.masked_fill(dropped, -torch.inf)


ON_CARDS: list[Told] = [
    ("greedy_decode", start_in_front, "Your rows begin with the start token."),
    ("best_of_n", first_of_n, "Among 96 samples the most likely answer is there for both"),
    ("top_k_filter", top_k_of_log_softmax, "You keep the right tokens, but not with their own logits: entry [0, "),
    ("top_p_filter", top_p_of_log_softmax, "You keep the right tokens, but not with their own logits: entry [0, "),
]
UNNAMED: list[Told] = [
    ("greedy_decode", without_an_end, "goes on after its end. What should stand there?"),
    ("greedy_decode", first_end_ends_all, "tokens, and none of them is the end."),
    ("best_of_n", worst_of_n, "Among 96 samples for row 0 there is one with the probability"),
    ("top_p_filter", mask_of_the_sorted_row, "Each row keeps as many tokens as it should, but row 0 keeps one"),
]
BESIDE: list[Told] = [
    ("top_k_filter", top_k_shared, "You keep the same columns in every row."),
]
RIGHT = [
    ("greedy_decode", "cleaned afterwards"),
    ("best_of_n", "samples first and likelihoods afterwards"),
    ("top_k_filter", "k-th smallest from below"),
    ("top_p_filter", "every pair compared"),
]

"""What is told of wrong scores that match no mistake: what is rotated, divided, turned and summed up."""

from __future__ import annotations

import math

import torch

from tests.lessons.words import Told
from transformer_course import positions as course


def keys_as_they_came(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return course.rotary_embedding(query, positions) @ key.mT


def queries_as_they_came(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return query @ course.rotary_embedding(key, positions).mT


def nothing_rotated(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return query @ key.mT


def waves_added(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    waves = course.sinusoidal_positional_encoding(int(positions.max()) + 1, query.shape[-1])[positions]
    return (query + waves) @ (key + waves).mT


def scaled_down(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return course.relative_attention_scores(query, key, positions) / math.sqrt(query.shape[-1])


def divided_by_d(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return course.relative_attention_scores(query, key, positions) / query.shape[-1]


def weights_of_scaled_scores(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return scaled_down(query, key, positions).softmax(dim=-1)


def keys_in_rows_unrotated(query: torch.Tensor, key: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    return key @ query.mT


ON_CARDS: list[Told] = [
    ("relative_attention_scores", divided_by_d, "Your scores are divided by d."),
]
UNNAMED: list[Told] = [
    ("relative_attention_scores", keys_as_they_came, "those of rotated queries and keys that aren't rotated."),
    ("relative_attention_scores", queries_as_they_came, "those of rotated keys and queries that aren't rotated."),
    ("relative_attention_scores", nothing_rotated, "Your scores are those of the vectors as they came in."),
    ("relative_attention_scores", waves_added, "Waves have been added to your queries and keys."),
    ("relative_attention_scores", scaled_down, "Your scores are divided by the root of d."),
]
BESIDE: list[Told] = [
    ("relative_attention_scores", weights_of_scaled_scores, "Your scores are divided by the root of d."),
    ("relative_attention_scores", weights_of_scaled_scores, "Your rows sum to 1: a softmax has been taken."),
    ("relative_attention_scores", keys_in_rows_unrotated, "Your scores are those of the vectors as they came in."),
    ("relative_attention_scores", keys_in_rows_unrotated, "Your rows belong to keys, and your columns to queries."),
]
RIGHT = [
    ("relative_attention_scores", "by distances"),
    ("relative_attention_scores", "everything moved by three"),
]

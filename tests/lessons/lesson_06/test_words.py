"""What is told of wrong scores that match no mistake: what is rotated, divided, turned and summed up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from cellcheck.checking.judge import PASSED, PUBLIC_SEED
from cellcheck.syllabus import load_lesson
from tests.lessons.words import judge_of_words, texts
from tests.nightly import both_seeds
from transformer_course import positions as course

LESSON = "06_positional_encodings"


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


SENTENCES: list[tuple[str, Callable[..., Any], str]] = [
    ("relative_attention_scores", keys_as_they_came, "those of rotated queries and keys that aren't rotated."),
    ("relative_attention_scores", queries_as_they_came, "those of rotated keys and queries that aren't rotated."),
    ("relative_attention_scores", nothing_rotated, "Your scores are those of the vectors as they came in."),
    ("relative_attention_scores", waves_added, "Waves have been added to your queries and keys."),
    ("relative_attention_scores", scaled_down, "Your scores are divided by the root of d."),
    ("relative_attention_scores", divided_by_d, "Your scores are divided by d."),
]
BESIDE: list[tuple[str, Callable[..., Any], str]] = [
    ("relative_attention_scores", weights_of_scaled_scores, "Your scores are divided by the root of d."),
    ("relative_attention_scores", weights_of_scaled_scores, "Your rows sum to 1: a softmax has been taken."),
    ("relative_attention_scores", keys_in_rows_unrotated, "Your scores are those of the vectors as they came in."),
    ("relative_attention_scores", keys_in_rows_unrotated, "Your rows belong to keys, and your columns to queries."),
]
"""What stands where something else may be told first."""
RIGHT = [
    ("relative_attention_scores", "by distances"),
    ("relative_attention_scores", "everything moved by three"),
]


def names(rows: list[tuple[str, Callable[..., Any], str]]) -> list[str]:
    return [f"{answer.__name__}-{words[:20]}" for _, answer, words in rows]


@both_seeds
@pytest.mark.parametrize(("symbol", "answer", "sentence"), SENTENCES, ids=names(SENTENCES))
def test_a_card_says_what_the_answer_does(symbol: str, answer: Callable[..., Any], sentence: str, seed: int) -> None:
    judge = judge_of_words(LESSON, symbol, seed)
    verdict = judge.verdict(judge.observe(answer))
    assert verdict.score < verdict.max_score
    assert sentence in verdict.message


@both_seeds
@pytest.mark.parametrize(("symbol", "answer", "sentence"), BESIDE, ids=names(BESIDE))
def test_words_stand_beside_the_result(symbol: str, answer: Callable[..., Any], sentence: str, seed: int) -> None:
    judge = judge_of_words(LESSON, symbol, seed)
    seen = judge.keep(judge.observe(answer))
    assert judge.judged(seen).status != PASSED
    assert any(sentence in text for case in texts(seen) for text in case.values())


@pytest.mark.parametrize(("symbol", "variant"), RIGHT)
def test_a_right_answer_is_told_nothing(symbol: str, variant: str) -> None:
    judge = judge_of_words(LESSON, symbol, PUBLIC_SEED)
    seen = judge.keep(judge.observe(load_lesson(LESSON)[symbol].variants[variant]))
    assert judge.judged(seen).status == PASSED
    assert texts(seen) == texts(judge.references[0])

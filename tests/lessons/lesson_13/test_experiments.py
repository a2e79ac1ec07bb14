"""Lesson 13's experiments: who wins, and the table of the reviews."""

import torch

from transformer_course.lessons.lesson_13.experiments import reading


def test_a_lead_within_two_standard_errors_is_too_close() -> None:
    right = torch.arange(20) < 18
    assert reading.ahead(right, torch.arange(20) < 17) == "too close"
    assert reading.ahead(right, torch.arange(20) < 9) == "yes"
    assert reading.ahead(torch.arange(20) < 9, right) == "no"


def test_each_reader_has_its_row() -> None:
    reviews = torch.zeros(4, 3, dtype=torch.long), torch.tensor([1, 1, 1, 0])
    data = reading.Corpus(reviews, reviews, reviews, [], {})
    table = reading.scores(data, reading.Learnt([], [], 0.9, 0.76), reading.Learnt([], [], 0.95, 0.74), mixed=0.7354)
    assert table["test"].tolist() == [0.75, 0.76, 0.74, 0.735]
    assert table["training"].tolist() == ["", 0.9, 0.95, ""]

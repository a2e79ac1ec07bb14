"""`PositionwiseFeedForward`: lesson 3's network, with dropout; its cases, mistakes and variants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from course.paper.layers import PositionwiseFeedForward
from grader.authoring.catalogue import exercise_of
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.lesson_03 import FeedForward

FEED_FORWARD = exercise_of(FeedForward.TRIAL, Path(FeedForward.__file__))

_LEFT_OUT = {"dropout_added", "made from its end"}
"""What is wrong or special in lesson 3 because nobody asks for dropout there."""


def _with_a_rate(network: Any) -> Any:
    """A network of lesson 3 that drops some of its output in training, as the signature asks."""

    class Dropping(network):  # type: ignore[misc]
        def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
            super().__init__(d_model, d_ff)
            self.rate = dropout

        def forward(self, x: torch.Tensor) -> Any:
            return nn.functional.dropout(super().forward(x), self.rate, self.training)

    return Dropping


def _cases(generator: np.random.Generator) -> list[Case]:
    cases = FEED_FORWARD.cases(generator)
    return [
        *cases,
        replace(cases[0], label="with dropout", inputs={**cases[0].inputs, "rate": 0.5}, tags=tagged("rate")),
    ]


class _Network(nn.Module):
    """The right network; mistakes change where and when it drops."""

    def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.linear_in, self.linear_out = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> Any:
        return self.linear_out(self.dropout(torch.relu(self.linear_in(x))))


class _Never(_Network):
    def forward(self, x: torch.Tensor) -> Any:
        return self.linear_out(torch.relu(self.linear_in(x)))


class _Always(_Network):
    def forward(self, x: torch.Tensor) -> Any:
        return nn.functional.dropout(_Never.forward(self, x), self.dropout.p)  # type: ignore[arg-type]


class _Fixed(_Network):
    def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__(d_model, d_ff, 0.1)


POSITIONWISE_FEED_FORWARD = Exercise(
    symbol="PositionwiseFeedForward",
    points=1,
    cases=_cases,
    references=(PositionwiseFeedForward,),
    aspects=(
        *FEED_FORWARD.aspects,
        Aspect(
            "dropout in training, and only there",
            keys=("dropout",),
            tags=tagged("rate"),
            weight=3.0,
            meaning="In training mode numbers are dropped at random, at the rate given; in evaluation mode none are.",
        ),
    ),
    mistakes=(
        *(
            Mistake(mistake.name, _with_a_rate(mistake.implementation), mistake.advice, mistake.central)
            for mistake in FEED_FORWARD.mistakes
            if mistake.name not in _LEFT_OUT
        ),
        Mistake(
            "never_drops",
            _Never,
            "Nothing is ever dropped. You made the layer for it, perhaps; where does x pass through it?",
        ),
        Mistake(
            "drops_in_evaluation_too",
            _Always,
            "Numbers are dropped in evaluation mode too. How does nn.Dropout know which mode it is in?",
        ),
        Mistake(
            "rate_ignored",
            _Fixed,
            "Your rate is always 0.1. Which argument says how much is dropped?",
        ),
    ),
    variants={
        **{name: _with_a_rate(variant) for name, variant in FEED_FORWARD.variants.items() if name not in _LEFT_OUT},
        "hidden numbers dropped": _Network,
    },
)

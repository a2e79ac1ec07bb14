"""Lesson 06: where a token stands, as waves, as a rotation, and as a test that it counts."""

from __future__ import annotations

import torch

from course import positions
from grader.exercises.aspects import USUAL, main
from grader.exercises.draw import normal
from grader.exercises.spec import Case, Exercise, Lesson


def _inputs(symbol, g):
    match symbol:
        case "sinusoidal_positional_encoding":
            return {"length": 5, "d_model": int(g.integers(2, 6)) * 2}
        case "shift_matrix":
            return {"offset": int(g.integers(1, 9)), "d_model": 6}
        case "SinusoidalPositionalEncoding":
            return {"x": normal(g, 2, 5, 8)}
        case "rotary_embedding" | "relative_attention_scores":
            return {"x": normal(g, 2, 5, 8), "positions": torch.arange(5)}
    return {"tokens": torch.from_numpy(g.integers(1, 9, (3, 5)))}


def _exercise(symbol, points):
    return Exercise(
        symbol,
        points,
        lambda g: [Case("on a small case", _inputs(symbol, g), USUAL)],
        (getattr(positions, symbol),),
        (main("the right result"),),
        (),
        {},
    )


LESSON = Lesson(
    name="06_positional_encodings",
    title="Positional encodings",
    exercises=(
        _exercise("sinusoidal_positional_encoding", 3),
        _exercise("shift_matrix", 3),
        _exercise("SinusoidalPositionalEncoding", 2),
        _exercise("rotary_embedding", 3),
        _exercise("relative_attention_scores", 2),
        _exercise("sees_order", 3),
    ),
)

"""Weights of blocks by dotted name, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from lessons.lesson_09.exercises import drawing
from lessons.lesson_09.exercises.drawing import Inputs

D, HEADS, WIDE = 4, 2, 6


def block_weights(generator: np.random.Generator, attentions: tuple[str, ...], kind: Any) -> Inputs:
    drawn: Inputs = {}
    for place, name in enumerate(attentions, start=1):
        drawn |= drawing.norm(generator, f"norm{place}", D, kind) | drawing.attention(generator, name, D, kind)
    drawn |= drawing.norm(generator, f"norm{len(attentions) + 1}", D, kind)
    return drawn | drawing.feed_forward(generator, "feed_forward", D, WIDE, kind)

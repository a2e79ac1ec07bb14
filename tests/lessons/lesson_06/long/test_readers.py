"""Lesson 6's readers: what each kind of position, and each size of the waves, gets right on the digit operations."""

from collections.abc import Callable

import pandas as pd
from torch import nn

from course.blocks import LearnedPositionalEmbedding
from course.positions import SinusoidalPositionalEncoding
from course.tasks import digit_operations
from lessons.lesson_06 import experiments as lab
from tests.lessons.tables import write

Build = Callable[[], nn.Module]


def waves() -> nn.Module:
    return SinusoidalPositionalEncoding(64, 4)


def scaled(factor: float) -> Build:
    return lambda: lab.Reader(lab.Scaled(waves(), factor))


READERS: dict[str, tuple[Build, int]] = {  # a model, and the steps that the lesson trains it for
    "none": (lambda: lab.Reader(nn.Identity()), 400),
    "causal mask, no positions": (lambda: lab.CausalReader(nn.Identity()), 800),
    "learned": (lambda: lab.Reader(LearnedPositionalEmbedding(4, 64)), 400),
    "sinusoidal": (lambda: lab.Reader(waves()), 400),
    "the colleague's": (lambda: lab.ColleaguesReader(waves()), 400),
    **{f"waves times {factor}": (scaled(factor), 300) for factor in (0.01, 1, 100)},
}


def test_readers() -> None:
    rows = []
    for seed in (0, 1):
        data = digit_operations.digit_operations(seed)
        for name, (build, steps) in READERS.items():
            shares = lab.by_operation(lab.seeded(build, seed), data, steps=steps, seed=seed)
            rows += [{"line": name, "seed": seed, "operation": op, "right": share} for op, share in shares.items()]
    write("06_readers", pd.DataFrame(rows))

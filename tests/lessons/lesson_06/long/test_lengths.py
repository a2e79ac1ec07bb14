"""Lesson 6's main plot: four kinds of positions on reversal, inside and beyond the lengths of the training."""

import pandas as pd
from torch import nn

from tests.lessons.tables import write
from transformer_course.blocks import LearnedPositionalEmbedding
from transformer_course.lessons.lesson_06 import experiments as lab
from transformer_course.positions import SinusoidalPositionalEncoding, rotary_embedding
from transformer_course.tasks import reversal

WRITERS = {
    "none": lambda: lab.writer(nn.Identity, num_layers=2),
    "learned": lambda: lab.writer(lambda: LearnedPositionalEmbedding(32, 64), num_layers=2),
    "sinusoidal": lambda: lab.writer(lambda: SinusoidalPositionalEncoding(64, 32), num_layers=2),
    "rotary": lambda: lab.rotate(lab.writer(nn.Identity, num_layers=2), rotary_embedding),
}


def test_lengths() -> None:
    rows = []
    for seed in (0, 1):
        data = reversal.reversal_task(seed)
        for name, build in WRITERS.items():
            model = lab.seeded(build, seed)
            lab.train_writer(model, data, steps=1500, seed=seed)
            shares = lab.reversed_by_length(model, data)
            rows += [{"line": name, "seed": seed, "length": at, "exact": share} for at, share in shares.items()]
    write("06_lengths", pd.DataFrame(rows))

"""Lesson 6's small writer with sinusoidal positions, as the notebook trains it: rows reversed, by length."""

import pandas as pd

from course.positions import SinusoidalPositionalEncoding
from course.tasks import reversal
from lessons.lesson_06 import experiments as lab
from tests.lessons.tables import write


def test_your_waves() -> None:
    rows = []
    for seed in (0, 1):
        letters = reversal.reversal_task(seed)
        model = lab.seeded(lambda: lab.writer(lambda: SinusoidalPositionalEncoding(64, 32)), seed)
        lab.train_writer(model, letters, steps=600, seed=seed)
        shares = lab.reversed_by_length(model, letters)
        rows += [{"line": "your waves", "seed": seed, "length": at, "exact": share} for at, share in shares.items()]
    write("06_your_waves", pd.DataFrame(rows))

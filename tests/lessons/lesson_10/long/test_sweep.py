"""The sweep of lesson 10 over learning rates and warm-ups, on three seeds."""

import pandas as pd

from lessons.lesson_10.experiments.tricks import RATES, WARMUPS, sweep
from tests.lessons.tables import write

SEEDS = (0, 1, 2)


def test_10_sweep() -> None:
    table = pd.concat([sweep(seed) for seed in SEEDS])
    write("10_sweep", table)
    print(table.to_string())
    assert len(table) == len(SEEDS) * len(RATES) * len(WARMUPS)

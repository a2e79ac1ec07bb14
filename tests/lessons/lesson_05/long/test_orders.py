"""Both digit orders over 1,000 steps, as in the lesson's own cell, on two seeds; the claims read this table."""

import pandas as pd

from course.causal import CausalSeq2SeqTransformer
from course.tasks.addition import Writing
from lessons.lesson_05.experiments import DIGITS, as_rows, by_digit_order
from tests.lessons.tables import write

LAST, FIRST = "last digit first", "first digit first"
WRITINGS = {LAST: Writing(least_first=True, width=DIGITS), FIRST: Writing(least_first=False, width=DIGITS)}
SEEDS, STEPS, EVERY = (0, 1), 1000, 100


def test_05_orders() -> None:
    rows = []
    for seed in SEEDS:
        found = by_digit_order(CausalSeq2SeqTransformer, WRITINGS, seed=seed, steps=STEPS, every=EVERY)
        rows += [row for order, curves in found.items() for row in as_rows(curves, EVERY, order=order, seed=seed)]
    table = pd.DataFrame(rows)
    write("05_orders", table)
    last = table[table["step"] == STEPS].set_index("order")
    assert (last.loc[LAST, ["random_sums", "long_carries", "no_carry"]] > 0.95).all(axis=None)
    assert (last.loc[FIRST, "long_carries"] < 0.9).all()

"""First digit first with 150,000 sums instead of 8,000, on two seeds: so many that none is seen twice in 2,000 steps.

If the sums had merely been memorised, this is where the score would fall. It also tells apart "carries were not learnt"
from "there were too few to learn from".
"""

import pandas as pd

from course.causal import CausalSeq2SeqTransformer
from course.tasks.addition import Writing
from lessons.lesson_05.experiments import DIGITS, as_rows, by_digit_order
from tests.lessons.tables import write

WRITING = Writing(least_first=False, width=DIGITS)
SEEDS, SUMS, STEPS, EVERY = (0, 1), 150_000, 2000, 250


def test_05_many_sums() -> None:
    rows = []
    for seed in SEEDS:
        found = by_digit_order(CausalSeq2SeqTransformer, {"": WRITING}, seed=seed, train=SUMS, steps=STEPS, every=EVERY)
        rows += as_rows(found[""], EVERY, seed=seed)
    table = pd.DataFrame(rows)
    write("05_many_sums", table)
    last = table[table["step"] == STEPS]
    assert (last["random_sums"] > 0.95).all()
    assert (last["long_carries"] < 0.9).all()

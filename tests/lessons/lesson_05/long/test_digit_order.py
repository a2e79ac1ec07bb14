"""Digit order and carries over 2,000 steps, on three seeds: which way of writing sums lets a model learn carries?"""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.lesson_05.experiments import DIGITS, by_digit_order
from transformer_course.tasks.addition import Writing

LAST, FIRST = "last digit first", "first digit first"
WRITINGS = {LAST: Writing(least_first=True, width=DIGITS), FIRST: Writing(least_first=False, width=DIGITS)}
TESTS = ("random sums", "long carries")
SEEDS, STEPS, EVERY = (0, 1, 2), 2000, 250


def test_05_digit_order() -> None:
    rows = []
    for seed in SEEDS:
        results = by_digit_order(CausalSeq2SeqTransformer, WRITINGS, seed=seed, steps=STEPS, every=EVERY)
        print(seed, results, flush=True)
        for order, curves in results.items():
            for place, shares in enumerate(zip(*(curves[test] for test in TESTS), strict=True)):
                rows.append((order, seed, EVERY * place, *shares))
    table = pd.DataFrame(rows, columns=["order", "seed", "step", "random_sums", "long_carries"])
    write("05_digit_order", table)
    last = table[table["step"] == STEPS]
    assert (last[last["order"] == LAST][["random_sums", "long_carries"]] > 0.97).all(axis=None)
    assert (last[last["order"] == FIRST]["long_carries"] < 0.90).all()

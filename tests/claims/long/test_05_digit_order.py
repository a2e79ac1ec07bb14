"""Digit order and carries over 2,000 steps, on three seeds: which way of writing sums lets a model learn carries?"""

import pandas as pd
from tables import write

from course.causal import CausalSeq2SeqTransformer
from course.experiments.lesson_05 import by_digit_order
from course.tasks.addition import Writing

LAST, FIRST, USUAL = "last digit first", "first digit first", "as usual"
WRITINGS = {
    (LAST, USUAL): Writing(least_first=True, width=5),
    (LAST, LAST): Writing(least_first=True, operands_least_first=True, width=5),
    (FIRST, USUAL): Writing(least_first=False, width=5),
    (FIRST, LAST): Writing(least_first=False, operands_least_first=True, width=5),
}
SEEDS, STEPS, EVERY = (0, 1, 2), 2000, 250


def test_05_digit_order() -> None:
    rows = []
    for seed in SEEDS:
        for (answer, numbers), writing in WRITINGS.items():
            way = {f"answer {answer}, numbers {numbers}": writing}
            ((name, curves),) = by_digit_order(
                CausalSeq2SeqTransformer, way, seed=seed, steps=STEPS, every=EVERY
            ).items()
            print(seed, name, curves, flush=True)
            for place, (random_sums, long_carries) in enumerate(zip(*curves.values(), strict=True)):
                rows.append((answer, numbers, seed, EVERY * place, random_sums, long_carries))
    table = pd.DataFrame(rows, columns=["answer", "numbers", "seed", "step", "random_sums", "long_carries"])
    write("05_digit_order", table)
    last = table[table["step"] == STEPS]
    assert (last[last["answer"] == LAST][["random_sums", "long_carries"]] > 0.97).all(axis=None)
    assert (last[last["answer"] == FIRST]["long_carries"] < 0.90).all()

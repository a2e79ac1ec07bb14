"""Above how many 9s in a row the adder with the largest place first is right, once it has practised, on two seeds.

It learns from the usual sums and from `practice_sums`, in two goes of 1,500 steps. `carry` is the share of 100 sums of
ten digits in which the digit above `chain` 9s is right although a carry comes from below, `no_carry` that without one.
"""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_14 import experiments as lab


def test_practice() -> None:
    rows = []
    for seed in (0, 1):
        sums = lab.learnt_sums(seed) + lab.practice_sums(seed)
        model = lab.Recipe(window=True).model(seed)
        for go in (0, 1):
            lab.train(model, sums, seed=seed + 10 * go)
        above = lab.right_above_chains(model, digits=10, longest=6, seed=seed)
        shares = above.set_axis(["carry", "no_carry"], axis=1).reset_index(names="chain")
        rows.append(shares.assign(seed=seed)[["seed", "chain", "carry", "no_carry"]])
        print(shares, flush=True)
    write("14_practice", pd.concat(rows))

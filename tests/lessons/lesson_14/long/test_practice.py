"""Above how many 9s in a row the adder with the largest place first is right, once it has practised, on two seeds.

It learns from the usual sums and from `practice_sums`, in two goes of 1,500 steps. `kind` is that, or what shows that
it takes both: "one go", or "usual sums" alone, in two goes. `carry` is the share of 100 sums of ten digits in which the
digit above `chain` 9s is right although a carry comes from below, `no_carry` that without one.
"""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_14 import experiments as lab


def test_practice() -> None:
    rows = []
    for kind, practice, goes in (("practice", True, 2), ("one go", True, 1), ("usual sums", False, 2)):
        for seed in (0, 1):
            sums = lab.learnt_sums(seed) + (lab.practice_sums(seed) if practice else [])
            model = lab.Recipe(window=True).model(seed)
            for go in range(goes):
                lab.train(model, sums, seed=seed + 10 * go)
            above = lab.right_above_chains(model, digits=10, longest=6, seed=seed)
            shares = above.set_axis(["carry", "no_carry"], axis=1).reset_index(names="chain")
            rows.append(shares.assign(kind=kind, seed=seed)[["kind", "seed", "chain", "carry", "no_carry"]])
            print(kind, shares, flush=True)
    write("14_practice", pd.concat(rows))

"""What adders with reversed digits get right when the parts of "offsets" and "window" are taken apart, on two seeds.

`exact` is the share of 200 random sums that are right, `long_carries` that of 200 sums in which a carry travels through
three places or more. Both numbers have `length` digits.
"""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_14 import experiments as lab

COUNT = 200


def test_told() -> None:
    rows = []
    for seed in (0, 1):
        learnt = lab.learnt_sums(seed)
        for told in lab.TOLD:
            model = told.model(seed)
            lab.train(model, learnt, seed=seed)
            right = lab.both_kinds(model, learnt, lab.PARTS_LENGTHS, count=COUNT, seed=seed)
            for length in lab.PARTS_LENGTHS:
                shares = {"exact": right["random sums"][length], "long_carries": right["long carries"][length]}
                rows.append({"line": told.name, "seed": seed, "length": length} | shares)
            print(told.name, seed, {name: list(shares.values()) for name, shares in right.items()}, flush=True)
    write("14_told", pd.DataFrame(rows))

"""All sixteen combinations of lesson 14's four ingredients, on two seeds, each trained for as long as the others.

`exact` is the share of 50 random sums that are right, `long_carries` that of 50 sums in which a carry travels through
three places or more. Both numbers have `length` digits.
"""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.length_generalization.examining import LENGTHS
from transformer_course.lessons.lesson_14 import experiments as lab


def test_recipes() -> None:
    rows = []
    for seed in (0, 1):
        learnt = lab.learnt_sums(seed)
        for recipe in lab.RECIPES:
            model = recipe.model(seed)
            lab.train(model, learnt, seed=seed)
            right = lab.both_kinds(model, learnt, LENGTHS, seed=seed)
            for length in LENGTHS:
                shares = {"exact": right["random sums"][length], "long_carries": right["long carries"][length]}
                rows.append({"line": recipe.name, "seed": seed, "length": length} | shares)
            print(recipe.name, seed, {name: list(shares.values()) for name, shares in right.items()}, flush=True)
    write("14_recipes", pd.DataFrame(rows))

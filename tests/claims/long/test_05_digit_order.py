"""Digit order and carries, with two blocks on each side and 3,000 steps: which way of writing sums can be learnt?"""

import pandas as pd
from tables import write

from course.causal import CausalSeq2SeqTransformer
from course.experiments.lesson_05 import by_digit_order
from course.tasks.addition import Writing

WRITINGS = {
    ("least significant first", "as usual"): Writing(least_first=True, width=5),
    ("least significant first", "least significant first"): Writing(True, operands_least_first=True, width=5),
    ("most significant first", "as usual"): Writing(least_first=False, width=5),
    ("most significant first", "least significant first"): Writing(False, operands_least_first=True, width=5),
}
SEEDS = (0, 1)


def test_05_digit_order() -> None:
    rows = []
    for seed in SEEDS:
        ways = {str(number): writing for number, writing in enumerate(WRITINGS.values())}
        found = by_digit_order(
            CausalSeq2SeqTransformer, ways, seed=seed, steps=3000, every=500, learning_rate=0.001, num_layers=2
        )
        for (answer, operands), curves in zip(WRITINGS, found.values(), strict=True):
            for place in range(len(curves["random sums"])):
                shares = {name.replace(" ", "_"): shares[place] for name, shares in curves.items()}
                rows.append({"answer": answer, "operands": operands, "seed": seed, "step": 500 * place, **shares})
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    write("05_digit_order", table)
    last = table[table["step"] == 3000]
    least = last[last["answer"] == "least significant first"]
    most = last[last["answer"] == "most significant first"]
    assert (least[["random_sums", "long_carries"]] > 0.97).all(axis=None)
    assert (most["long_carries"] < 0.85).all()

"""First digit first with 150,000 sums instead of 8,000, on two seeds: so many that none is seen twice in 2,000 steps.

If the model only did well on random sums because it had memorised its own, this is where the score would fall. The
twins of the long carries tell whether it works a carry out, or bets.
"""

from typing import Any

import pandas as pd

from tests.lessons.tables import write
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.lesson_05.experiments import DIGITS, by_digit_order, digit_order_pairs
from transformer_course.seq2seq_fitting import predict
from transformer_course.tasks.addition import START_ID, Writing

WRITING = Writing(least_first=False, width=DIGITS)
SEEDS, SUMS, STEPS = (0, 1), 150_000, 2000


def test_05_many_sums() -> None:
    rows = []
    for seed in SEEDS:
        models: list[CausalSeq2SeqTransformer] = []

        def build(*sizes: Any, models: list[CausalSeq2SeqTransformer] = models) -> CausalSeq2SeqTransformer:
            models.append(CausalSeq2SeqTransformer(*sizes))
            return models[0]

        curves = by_digit_order(build, {"": WRITING}, seed=seed, train=SUMS, steps=STEPS, every=STEPS)[""]
        pairs = digit_order_pairs(seed, SUMS)
        right = []
        for test in ("long carries", "no carry"):
            source, target = WRITING.tensors(pairs[test])
            answers = predict(models[0], source, target, start_id=START_ID).argmax(-1)
            right.append((answers == target).all(dim=1))
        both = float((right[0] & right[1]).float().mean())
        last = {test.replace(" ", "_"): shares[-1] for test, shares in curves.items()}
        rows.append({"seed": seed, **last, "both_right": both})
    table = pd.DataFrame(rows)
    write("05_many_sums", table)
    assert (table["random_sums"] > 0.95).all()
    assert (table["long_carries"] < 0.9).all()
    assert (table["both_right"] < 0.5).all()

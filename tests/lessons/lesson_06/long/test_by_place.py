"""Lesson 6's last plot: adders trained on sums of five-digit numbers, tested on up to fifty digits.

"by place, window 2" turns queries and keys by the places of the digits and sees only places at most 2 apart. The
others lack the window, or count positions as usual instead of places.
"""

import pandas as pd
from torch import nn

from tests.lessons.tables import write
from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.lesson_06 import experiments as lab
from transformer_course.positions import rotary_embedding
from transformer_course.tasks import addition

WIDTHS = (5, 6, 7, 8, 10, 20, 50)


def usual_positions() -> CausalSeq2SeqTransformer:
    return lab.rotate(lab.writer(nn.Identity, addition.VOCAB_SIZE), rotary_embedding)


ADDERS = {
    "by place, window 2": lambda: lab.place_adder(rotary_embedding, window=2),
    "by place, no window": lambda: lab.place_adder(rotary_embedding, window=None),
    "usual positions": usual_positions,
}


def test_by_place() -> None:
    rows = []
    for seed in (0, 1):
        learnt = addition.draw_pairs(seed, 20_000, 5, min_digits=5)
        for name, build in ADDERS.items():
            model = lab.seeded(build, seed)
            lab.train_adder(model, learnt, steps=1500, seed=seed)
            for width in WIDTHS:
                tests = {
                    "exact": addition.draw_pairs(seed + 1000, 200, width, min_digits=width, exclude=learnt),
                    "long_carries": addition.long_carries(seed + 1000, 200, width, exclude=learnt),
                }
                shares = {kind: lab.sums_right(model, pairs, width) for kind, pairs in tests.items()}
                rows.append({"line": name, "seed": seed, "length": width} | shares)
    write("06_by_place", pd.DataFrame(rows))

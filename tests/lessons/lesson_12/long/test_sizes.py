"""Loss against size and steps, on two seeds, and the point that the line predicts. The plays are downloaded."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.tasks.shakespeare import shakespeare


def test_12_sizes() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    corpus = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
    rows = []
    for seed in (0, 1):
        wanted = [(width, lab.STEPS) for width in (*lab.SMALL, lab.NEXT)]
        wanted += [(32, steps) for steps in lab.LOOKS if steps != lab.STEPS]
        for width, steps in wanted:
            rows.append(lab.trained(corpus, width, steps, seed))
            print(rows[-1], flush=True)
    write("12_sizes", pd.DataFrame(rows))

"""An output matrix of its own, in the old model and in the new, on two seeds. The plays are downloaded."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.tasks.shakespeare import shakespeare


def test_12_outputs() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    corpus = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
    write("12_outputs", pd.concat([lab.untied(corpus, seed) for seed in (0, 1)]))

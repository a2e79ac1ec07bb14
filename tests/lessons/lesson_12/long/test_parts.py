"""Old parts and new ones, one at a time and all together, on three seeds. The plays are downloaded."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.tasks.shakespeare import shakespeare


def test_12_parts() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    corpus = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
    tables = [lab.compared(corpus, 500, seed) for seed in (0, 1, 2)]
    print(pd.concat(tables).to_string(), flush=True)
    write("12_parts", pd.concat(tables))

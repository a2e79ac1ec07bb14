"""Old parts and new ones, one at a time and all together, on two seeds. The plays are downloaded, as in test_plays."""

import pandas as pd

from course.tasks.shakespeare import shakespeare
from lessons.lesson_11 import experiments as lab
from tests.lessons.tables import write


def test_11_parts() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    corpus = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
    found = [lab.compared(corpus, 500, seed) for seed in (0, 1)]
    print(pd.concat(found).to_string(), flush=True)
    write("11_parts", pd.concat(found))

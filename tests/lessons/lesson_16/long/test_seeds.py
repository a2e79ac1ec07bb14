"""When does learning from rewards take off? The main run of lesson 16 on four seeds that the lesson doesn't show.

`right` is the share of 1,000 unseen sums that are right. All go on for twice as long as in the lesson, and the first
one for three times as long.
"""

import pandas as pd

from tests.lessons.lesson_16.long.test_runs import start_of
from tests.lessons.tables import write
from transformer_course.lessons.lesson_16 import experiments as lab

UPDATES = {2: 600, 3: 400, 4: 400, 5: 400}


def test_seeds() -> None:
    tables = []
    for seed, updates in UPDATES.items():
        model, learnt, test = start_of(seed)
        run = lab.reinforce(model, learnt, updates, test=test, seed=seed)
        tables.append(run.table.assign(seed=seed))
    write("16_seeds", pd.concat(tables)[["seed", "step", "right"]])

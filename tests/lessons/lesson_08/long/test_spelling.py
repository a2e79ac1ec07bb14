"""Lesson 8's table about spelling: what the speller says of unseen words, on two seeds."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_08 import experiments as lab
from transformer_course.tasks.spelling import spelling_task


def test_spelling() -> None:
    rows = []
    for seed in (0, 1):
        words = spelling_task(seed)
        model, _ = lab.train_speller(words, seed=seed)
        spoken = {**lab.baselines(words), "the model": lab.say_all(model, list(words.test), words.sounds)}
        rows.append(lab.spelling_scores(spoken, words).assign(seed=seed))
    write("08_spelling", pd.concat(rows))

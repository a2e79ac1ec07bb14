"""Lesson 9's table of wrong gradients, with more seeds, and on a harder task as well."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_09.experiments import wrong_gradients as wrong
from transformer_course.numpy_transformer import tasks
from transformer_course.numpy_transformer.functions import cross_entropy
from transformer_course.numpy_transformer.optimisers import Adam


def test_wrong_gradients() -> None:
    rows = []
    for name in wrong.MODELS:
        for seed in range(5):
            record = wrong.trained(name, tasks.questions(seed), cross_entropy, Adam, seed=seed)
            rows.append(("three digits", name, seed, record.validation_right[-1]))
        for seed in range(2):
            rows.append(("nested", name, seed, wrong.nested_right(name, seed)))
    write("09_wrong_gradients", pd.DataFrame(rows, columns=["task", "backward pass", "seed", "validation"]))

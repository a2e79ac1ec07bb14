"""Lesson 3's large table: every variant of the classifier on four seeds, each with its own texts and weights."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.lessons.lesson_03 import experiments as lab

PARTS = lab.Parts(MultiHeadAttention, FeedForward, LearnedPositionalEmbedding, LayerNorm, padding_mask)


def test_ablations() -> None:
    tables = []
    for seed in range(4):
        sets = lab.draw_sets(seed)
        tables.append(lab.as_table(lab.compare(PARTS, lab.VARIANTS, sets, seeds=[seed])))
    table = pd.concat(tables)
    assert len(table) == 4 * len(lab.VARIANTS)
    write("03_ablations", table)

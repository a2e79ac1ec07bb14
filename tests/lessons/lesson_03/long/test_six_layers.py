"""Lesson 3's deep models: six layers, with the norm before, after or nowhere, at three learning rates."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.lessons.lesson_03 import experiments as lab

PARTS = lab.Parts(MultiHeadAttention, FeedForward, LearnedPositionalEmbedding, LayerNorm, padding_mask)


def test_six_layers() -> None:
    tables = []
    for seed in range(3):
        sets = lab.draw_sets(seed)
        for rate in (0.001, 0.003, 0.01):
            results = lab.compare(PARTS, lab.SIX_LAYERS, sets, seeds=[seed], steps=400, rate=rate)
            tables.append(lab.as_table(results).assign(**{"learning rate": rate}))
    table = pd.concat(tables)
    assert len(table) == 9 * len(lab.SIX_LAYERS)
    write("03_six_layers", table)

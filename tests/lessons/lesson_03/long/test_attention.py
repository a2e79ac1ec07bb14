"""Lesson 3's first picture: where the CLS token of a trained classifier looks in the text 321-4, in its first layer."""

import pandas as pd
import torch

from tests.lessons.tables import write
from transformer_course.classifier import TransformerClassifier
from transformer_course.fitting import fit
from transformer_course.lessons.lesson_03 import experiments as lab


def test_attention() -> None:
    sets = lab.draw_sets(seed=0)
    torch.manual_seed(0)
    model = TransformerClassifier(**lab.SIZES)
    fit(model, *lab.prepared(sets.train), steps=800, learning_rate=3e-3)
    tokens = lab.prepared([("321-4", 1)])[0]
    weights = lab.head_maps(model, tokens)[0][0, :, -1]  # of the first layer: (heads, length)
    table = {"token": [symbol.replace("·", "pad") for symbol in lab.symbols_of(tokens[0])]}
    table |= {f"head {head}": weights[head].tolist() for head in range(len(weights))}
    write("03_attention", pd.DataFrame(table))

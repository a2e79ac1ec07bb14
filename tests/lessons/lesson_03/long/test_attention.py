"""Lesson 3's first picture: where the CLS token of a trained classifier looks in the text 321-4, in its first layer."""

import pandas as pd
import torch

from course.classifier import TransformerClassifier
from course.fitting import fit
from course.tracing import attention_maps
from lessons.lesson_03 import experiments as lab
from tests.lessons.tables import write


def test_attention() -> None:
    sets = lab.draw_sets(seed=0)
    torch.manual_seed(0)
    model = TransformerClassifier(**lab.SIZES)
    fit(model, *lab.prepared(sets.train), steps=800, learning_rate=3e-3)
    tokens = lab.prepared([("321-4", 1)])[0]
    weights = attention_maps(model, tokens)["blocks.0.attention"][0, :, -1]  # (heads, length)
    table = {"token": [symbol.replace("·", "pad") for symbol in lab.symbols_of(tokens[0])]}
    table |= {f"head {head}": weights[head].tolist() for head in range(len(weights))}
    write("03_attention", pd.DataFrame(table))

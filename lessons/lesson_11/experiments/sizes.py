"""Loss against size: a line on paper with two logarithmic axes, and a point beyond it."""

import numpy as np
import pandas as pd
import torch
from torch import nn

from course.language_model.modern import ModernLanguageModel
from lessons.lesson_11.experiments.corpus import Corpus
from lessons.lesson_11.experiments.training import bits, fit, gated_width, parameters

SMALL, NEXT, STEPS, LENGTH = (8, 12, 16, 24, 32, 48), 96, 600, 32
LOOKS = (75, 150, 300, 600)


def sized(vocab_size: int, d_model: int, kind: type[nn.Module] = ModernLanguageModel) -> nn.Module:
    """A model of this width: 2 blocks, 4 heads that share 2 key heads."""
    return kind(vocab_size, d_model, 4, 2, gated_width(d_model), 2)


def in_blocks(model: nn.Module) -> int:
    """The parameters that count here: those outside the two tables."""
    return parameters(model) - sum(table.weight.numel() for table in (model.embedding, model.output))  # type: ignore[operator, union-attr, misc]


def trained(
    corpus: Corpus, d_model: int, steps: int = STEPS, seed: int = 0, kind: type[nn.Module] = ModernLanguageModel
) -> dict[str, float]:
    """The size of one model, and its bits per character after so many steps."""
    torch.manual_seed(seed)
    model = sized(corpus.vocab_size, d_model, kind)
    run = fit(model, corpus, steps, length=LENGTH, batch_size=16, seed=seed, name=f"width {d_model}, {steps} steps")
    found = {"width": d_model, "seed": seed, "parameters": in_blocks(model), "steps": steps, "seconds": run.seconds}
    return {**found, "bits": bits(model, corpus, LENGTH)}


def line(table: pd.DataFrame, x: str = "parameters") -> tuple[float, float]:
    """Slope and height of the straight line through the logarithms: bits = e ** height * x ** slope."""
    slope, height = np.polyfit(np.log(table[x]), np.log(table["bits"]), 1)
    return float(slope), float(height)


def predicted(table: pd.DataFrame, value: float, x: str = "parameters") -> float:
    """Where the line is at `value`."""
    slope, height = line(table, x)
    return float(np.exp(height) * value**slope)

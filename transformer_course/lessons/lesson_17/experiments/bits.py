"""The storyteller in few bits: what it costs in surprise, and what it saves in bytes."""

import copy
from collections.abc import Callable

import pandas as pd
import torch
from torch import nn

from transformer_course.fast_answers.quantized import bits_per_weight, dequantize, quantize
from transformer_course.lessons.lesson_12.experiments.stories import some_stories, surprise
from transformer_course.lessons.lesson_17.experiments.drafts import target_and_words

Quantize = Callable[[torch.Tensor, int, int], tuple[torch.Tensor, torch.Tensor]]


def in_few_bits(model: nn.Module, bits: int, group: int | None = None, quantizing: Quantize = quantize) -> nn.Module:
    """A copy of the model whose matrices have been quantized and turned back. Without a group, a row is one.

    Rows whose length is no multiple of the group get zeros at their end meanwhile.
    """
    copied = copy.deepcopy(model)
    with torch.no_grad():
        for weights in copied.parameters():
            if weights.dim() == 2:
                columns = weights.shape[1]
                size = group or columns
                padded = nn.functional.pad(weights, (0, -columns % size))
                weights.copy_(dequantize(*quantizing(padded, bits, size))[:, :columns])
    return copied


def by_bits(
    quantizing: Quantize = quantize, all_bits: tuple[int, ...] = (8, 6, 5, 4, 3, 2), stories: int = 10, seed: int = 1
) -> pd.DataFrame:
    """Bits per character of new stories, for each number of bits, with a scale for each row
    and for each 32 weights; in the first row, the weights as they were published."""
    model, words = target_and_words()
    told = some_stories(stories, seed)
    rows = [
        {
            "bits": 16.0,
            "a scale for each": "-",
            "bits per weight": 16.0,
            "bits per character": surprise(model, words, told),
        }
    ]
    for bits in all_bits:
        for name, group in (("row", None), ("32 weights", 32)):
            quantized = in_few_bits(model, bits, group, quantizing)
            rows.append(
                {
                    "bits": float(bits),
                    "a scale for each": name,
                    "bits per weight": bits_per_weight(bits, group or 128),
                    "bits per character": surprise(quantized, words, told),
                }
            )
    return pd.DataFrame(rows)


def storage(bits: float, weights: int = 811_776) -> float:
    """Kilobytes that the storyteller's weights take with so many bits each."""
    return bits * weights / 8 / 1000

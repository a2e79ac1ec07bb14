"""One matrix for embedding and output, or two, and how large it starts: what is that worth, to either model?"""

from collections.abc import Callable
from functools import partial

import pandas as pd
import torch
from torch import nn

from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.lessons.lesson_11.experiments import PAIRS, Corpus, Preset, bits, new_gpt, parameters, read
from transformer_course.lessons.lesson_12.experiments.plays import new_llama

WIDER = 394
"""The d_ff with which a tied GPT learns as many numbers as one with an output matrix of its own."""


class UntiedGPT(DecoderOnlyTransformer):
    """The GPT of lesson 11 with an output matrix of its own, and nothing else changed."""

    def __init__(self, vocab_size: int, max_length: int, d_model: int, *sizes: int) -> None:
        super().__init__(vocab_size, max_length, d_model, *sizes)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.positions(self.embedding(tokens))
        for block in self.blocks:
            x = block(x)
        return self.output(self.final_norm(x))  # type: ignore[no-any-return]


class LouderGPT(DecoderOnlyTransformer):
    """The GPT of lesson 11, its one matrix at first as large as a Linear layer's: 1 / sqrt(3 d_model), not 0.02."""

    def __init__(self, vocab_size: int, max_length: int, d_model: int, *sizes: int) -> None:
        super().__init__(vocab_size, max_length, d_model, *sizes)
        nn.init.normal_(self.embedding.weight, std=(3 * d_model) ** -0.5)


class QuieterUntiedGPT(UntiedGPT):
    """Two matrices, which both start as small as the one did."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        nn.init.normal_(self.output.weight, std=0.02)


class LouderInGPT(UntiedGPT):
    """The GPT with an output matrix of its own, whose embedding starts as nn.Embedding does: with numbers of size 1."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        nn.init.normal_(self.embedding.weight)


class QuieterInLlama(ModernLanguageModel):
    """This lesson's model, its embedding at first as small as lesson 11's."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        nn.init.normal_(self.embedding.weight, std=0.02)


class TiedLlama(ModernLanguageModel):
    """This lesson's model with one matrix for embedding and output, which starts as small as lesson 11's."""

    def __init__(self, vocab_size: int, *sizes: int) -> None:
        super().__init__(vocab_size, *sizes)
        self.output.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=0.02)


class LouderTiedLlama(TiedLlama):
    """The same, its one matrix as large at first as a Linear layer's weight."""

    def __init__(self, vocab_size: int, d_model: int, *sizes: int) -> None:
        super().__init__(vocab_size, d_model, *sizes)
        nn.init.normal_(self.embedding.weight, std=(3 * d_model) ** -0.5)


def _wider_gpt(corpus: Corpus, preset: Preset) -> nn.Module:
    sizes = (preset.length, preset.d_model, preset.num_heads, WIDER, preset.num_layers)
    return DecoderOnlyTransformer(corpus.vocab_size, *sizes)


MODELS: dict[str, Callable[[Corpus, Preset], nn.Module]] = {
    "GPT, tied": new_gpt,
    "GPT, tied, wider": _wider_gpt,
    "GPT, tied, starts larger": partial(new_gpt, kind=LouderGPT),
    "GPT, own output": partial(new_gpt, kind=UntiedGPT),
    "GPT, own output, starts at 0.02": partial(new_gpt, kind=QuieterUntiedGPT),
    "GPT, own output, embedding starts at 1": partial(new_gpt, kind=LouderInGPT),
    "Llama, tied": partial(new_llama, kind=TiedLlama),
    "Llama, tied, starts larger": partial(new_llama, kind=LouderTiedLlama),
    "Llama, own output": new_llama,
    "Llama, own output, embedding starts at 0.02": partial(new_llama, kind=QuieterInLlama),
}


def untied(corpus: Corpus, seed: int, preset: Preset = PAIRS) -> pd.DataFrame:
    """Bits per character of each model, after the same number of steps."""
    rows = []
    for name, make in MODELS.items():
        run = read(make, corpus, preset, seed=seed, name=name)
        rows.append(
            {
                "model": name,
                "seed": seed,
                "parameters": parameters(run.model),
                "bits": bits(run.model, corpus, preset.length),
            }
        )
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)

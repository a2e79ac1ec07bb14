"""Reading Shakespeare: as long as a notebook can wait."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from transformer_course.language_model.batches import next_token_batches
from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.lessons.lesson_11.experiments.corpus import Corpus
from transformer_course.lessons.lesson_11.experiments.training import Run, fit


@dataclass(frozen=True)
class Preset:
    """How large a model is, and how it reads."""

    d_model: int = 64
    num_heads: int = 4
    num_kv_heads: int = 2
    """Only the next lesson's model shares keys."""
    num_layers: int = 2
    length: int = 32
    batch_size: int = 16
    steps: int = 650
    rate: float = 4e-3


PAIRS = Preset()
"""Byte pairs: 32 of them are some 62 characters."""
CHARACTERS = replace(PAIRS, length=64, steps=500)
"""Characters: as many of them in a window, and about as much processor time in all."""
NAMES = replace(PAIRS, d_model=48, length=16, batch_size=32, steps=1000)


def new_gpt(corpus: Corpus, preset: Preset, kind: Callable[..., nn.Module] = DecoderOnlyTransformer) -> nn.Module:
    """This lesson's model, of this preset's size."""
    d = preset.d_model
    return kind(corpus.vocab_size, preset.length, d, preset.num_heads, 4 * d, preset.num_layers)


def scaled_residuals(model: nn.Module) -> nn.Module:
    """The model, with the layers that write into the residual stream divided by the root of their number, as GPT-2
    begins (Radford et al. 2019, section 2.3)."""
    writing = [layer for block in model.blocks for layer in (block.attention.output, block.feed_forward.linear_out)]  # type: ignore[union-attr]
    with torch.no_grad():
        for layer in writing:
            layer.weight.mul_(len(writing) ** -0.5)
    return model


def with_tables_of_one(model: nn.Module, *tables: nn.Embedding) -> nn.Module:
    """The model, with these tables as PyTorch makes them: with a standard deviation of 1."""
    for table in tables:
        nn.init.normal_(table.weight)
    return model


def read(
    make: Callable[..., nn.Module],
    corpus: Corpus,
    preset: Preset,
    kind: Callable[..., nn.Module] | None = None,
    *,
    batches: Callable[..., Any] = next_token_batches,
    seed: int = 0,
    name: str = "reading",
    **looks: Any,
) -> Run:
    """A new model, trained on a text."""
    torch.manual_seed(seed)
    model = make(corpus, preset) if kind is None else make(corpus, preset, kind)
    return fit(
        model,
        corpus,
        preset.steps,
        length=preset.length,
        batch_size=preset.batch_size,
        rate=preset.rate,
        batches=batches,
        seed=seed,
        name=name,
        **looks,
    )


def read_names(
    corpus: Corpus, kind: Callable[..., nn.Module], batches: Callable[..., Any] = next_token_batches, **looks: Any
) -> Run:
    """A new model of names, trained, and looked at on the way."""
    return read(new_gpt, corpus, NAMES, kind, batches=batches, name="names", **looks)

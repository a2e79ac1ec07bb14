"""Reading Shakespeare: as long as a notebook can wait, and as long as a GPU would."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from course.language_model.adapting import LoRALinear
from course.language_model.batches import next_token_batches
from course.language_model.gpt import DecoderOnlyTransformer
from course.language_model.modern import ModernLanguageModel
from lessons.lesson_11.experiments.adapting import with_lora
from lessons.lesson_11.experiments.corpus import Book, Corpus
from lessons.lesson_11.experiments.training import Run, fit, gated_width


@dataclass(frozen=True)
class Preset:
    """How large a model is, and how it reads."""

    d_model: int = 64
    num_heads: int = 4
    num_kv_heads: int = 2
    num_layers: int = 2
    length: int = 32
    batch_size: int = 16
    steps: int = 650
    rate: float = 4e-3


PAIRS = Preset()
"""Byte pairs: 32 of them are some 62 characters."""
CHARACTERS = replace(PAIRS, length=64, steps=500)
"""Characters: as many of them in a window, and about as much processor time in all."""
GPU = Preset(d_model=384, num_heads=6, num_kv_heads=2, num_layers=6, length=256, batch_size=64, steps=5000, rate=1e-3)
"""For a GPU. No GPU was at hand when this lesson was written: it has never been run."""
NAMES = replace(PAIRS, d_model=48, length=16, batch_size=32, steps=1000)

LORA_RANK, LORA_ALPHA, LORA_STEPS = 4, 8.0, 150


def new_gpt(corpus: Corpus, preset: Preset, kind: Callable[..., nn.Module] = DecoderOnlyTransformer) -> nn.Module:
    """The first sitting's model, of this preset's size."""
    d = preset.d_model
    return kind(corpus.vocab_size, preset.length, d, preset.num_heads, 4 * d, preset.num_layers)


def new_llama(corpus: Corpus, preset: Preset, kind: Callable[..., nn.Module] = ModernLanguageModel) -> nn.Module:
    """The second sitting's model, of this preset's size."""
    d = preset.d_model
    return kind(corpus.vocab_size, d, preset.num_heads, preset.num_kv_heads, gated_width(d), preset.num_layers)


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


def restyled(corpus: Corpus, book: Book) -> Corpus:
    """Another book in the ids of this corpus."""
    return replace(
        corpus, title=book.title, train=corpus.encode(book.to_learn), held_out=corpus.encode(book.to_examine)
    )


def adapted(model: nn.Module, corpus: Corpus, kind: type[nn.Module] = LoRALinear, seed: int = 0) -> Run:
    """The model with LoRA, trained on another style. It changes in place."""
    torch.manual_seed(seed)
    with_lora(model, LORA_RANK, LORA_ALPHA, kind)
    return fit(model, corpus, LORA_STEPS, length=PAIRS.length, batch_size=PAIRS.batch_size, seed=seed, name="LoRA")

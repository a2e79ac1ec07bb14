"""Reading Shakespeare with today's parts, and another book after it."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn

from transformer_course.language_model.adapting import LoRALinear
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.lessons.lesson_11.experiments import PAIRS, Book, Corpus, Preset, Run, fit
from transformer_course.lessons.lesson_12.experiments.adapting import with_lora
from transformer_course.lessons.lesson_12.experiments.widths import gated_width

LORA_RANK, LORA_ALPHA, LORA_STEPS = 4, 8.0, 150


def new_llama(corpus: Corpus, preset: Preset, kind: Callable[..., nn.Module] = ModernLanguageModel) -> nn.Module:
    """This lesson's model, of this preset's size."""
    d = preset.d_model
    return kind(corpus.vocab_size, d, preset.num_heads, preset.num_kv_heads, gated_width(d), preset.num_layers)


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

"""Lesson 11's experiments: texts in ids, one training loop, and what comes of the models."""

from lessons.lesson_11.experiments.adapting import kilobytes, merged, with_lora
from lessons.lesson_11.experiments.cache import cache_costs, with_cache, without_cache
from lessons.lesson_11.experiments.corpus import Book, Corpus, book, in_byte_pairs, in_characters, names, other_style
from lessons.lesson_11.experiments.inventing import choices, continued, copied, invented, judged, longest_copy
from lessons.lesson_11.experiments.parts import COMPARED, Mixed, Parts, compared, mixed
from lessons.lesson_11.experiments.plays import (
    CHARACTERS,
    GPU,
    NAMES,
    PAIRS,
    Preset,
    adapted,
    new_gpt,
    new_llama,
    read,
    restyled,
)
from lessons.lesson_11.experiments.proof import held_against_gpt2, held_against_llama
from lessons.lesson_11.experiments.sizes import LOOKS, NEXT, SMALL, STEPS, in_blocks, line, predicted, sized, trained
from lessons.lesson_11.experiments.training import Run, bits, by_position, fit, looked, losses_of, parameters

__all__ = [
    "CHARACTERS",
    "COMPARED",
    "GPU",
    "LOOKS",
    "NAMES",
    "NEXT",
    "PAIRS",
    "SMALL",
    "STEPS",
    "Book",
    "Corpus",
    "Mixed",
    "Parts",
    "Preset",
    "Run",
    "adapted",
    "bits",
    "book",
    "by_position",
    "cache_costs",
    "choices",
    "compared",
    "continued",
    "copied",
    "fit",
    "held_against_gpt2",
    "held_against_llama",
    "in_blocks",
    "in_byte_pairs",
    "in_characters",
    "invented",
    "judged",
    "kilobytes",
    "line",
    "longest_copy",
    "looked",
    "losses_of",
    "merged",
    "mixed",
    "names",
    "new_gpt",
    "new_llama",
    "other_style",
    "parameters",
    "predicted",
    "read",
    "restyled",
    "sized",
    "trained",
    "with_cache",
    "with_lora",
    "without_cache",
]

"""Lesson 8's experiments: what came before, and the four rungs of the ladder.

The learner's own parts come in as arguments: `build`, the class Transformer, and `parts`, what trains it.
"""

from lessons.lesson_08.experiments.background import (
    GruTranslator,
    as_convolutions,
    complexity_table,
    influence_by_distance,
    layer_seconds,
)
from lessons.lesson_08.experiments.comparing import base_model, side_by_side
from lessons.lesson_08.experiments.ladder import (
    REVERSAL,
    TEN,
    Learnt,
    letter_scores,
    norm_orders,
    overfit_ten_pairs,
    reverse_letters,
)
from lessons.lesson_08.experiments.spelling import (
    SPELLING,
    baselines,
    letters_looked_at,
    say_all,
    some_words,
    spelling_scores,
    train_speller,
)
from lessons.lesson_08.experiments.translating import (
    Corpus,
    baseline_translations,
    corpus,
    hardest,
    padding_shares,
    score_table,
    seen_before,
    train_translator,
    translate,
    words_looked_at,
)

__all__ = [
    "REVERSAL",
    "SPELLING",
    "TEN",
    "Corpus",
    "GruTranslator",
    "Learnt",
    "as_convolutions",
    "base_model",
    "baseline_translations",
    "baselines",
    "complexity_table",
    "corpus",
    "hardest",
    "influence_by_distance",
    "layer_seconds",
    "letter_scores",
    "letters_looked_at",
    "norm_orders",
    "overfit_ten_pairs",
    "padding_shares",
    "reverse_letters",
    "say_all",
    "score_table",
    "seen_before",
    "side_by_side",
    "some_words",
    "spelling_scores",
    "train_speller",
    "train_translator",
    "translate",
    "words_looked_at",
]

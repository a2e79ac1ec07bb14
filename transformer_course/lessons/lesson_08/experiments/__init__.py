"""Lesson 8's experiments: what came before, and the four rungs of the ladder.

The learner's own parts come in as arguments: `build`, the class Transformer, and `parts`, what trains it.
"""

from transformer_course.lessons.lesson_08.experiments.assembling import Pieces
from transformer_course.lessons.lesson_08.experiments.background import (
    GruTranslator,
    GruWithAttention,
    complexity_table,
    influence_by_distance,
    layer_seconds,
)
from transformer_course.lessons.lesson_08.experiments.charts import (
    influence_chart,
    looks_chart,
    movements_chart,
    reversal_chart,
    rows_chart,
    translation_chart,
)
from transformer_course.lessons.lesson_08.experiments.comparing import base_model, side_by_side
from transformer_course.lessons.lesson_08.experiments.inside import movements, sizes_on_the_way
from transformer_course.lessons.lesson_08.experiments.ladder import (
    REVERSAL,
    TEN,
    Learnt,
    letter_scores,
    letters_mirrored,
    norm_orders,
    overfit_ten_pairs,
    reverse_letters,
    rows_table,
    twenty_losses,
)
from transformer_course.lessons.lesson_08.experiments.spelling import (
    SPELLING,
    baselines,
    letters_looked_at,
    say_all,
    some_words,
    spelling_scores,
    train_speller,
)
from transformer_course.lessons.lesson_08.experiments.telling import (
    english_looks,
    tale_scores,
    tale_words,
    teller,
    torn,
)
from transformer_course.lessons.lesson_08.experiments.translating import (
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
    "GruWithAttention",
    "Learnt",
    "Pieces",
    "base_model",
    "baseline_translations",
    "baselines",
    "complexity_table",
    "corpus",
    "english_looks",
    "hardest",
    "influence_by_distance",
    "influence_chart",
    "layer_seconds",
    "letter_scores",
    "letters_looked_at",
    "letters_mirrored",
    "looks_chart",
    "movements",
    "movements_chart",
    "norm_orders",
    "overfit_ten_pairs",
    "padding_shares",
    "reversal_chart",
    "reverse_letters",
    "rows_chart",
    "rows_table",
    "say_all",
    "score_table",
    "seen_before",
    "side_by_side",
    "sizes_on_the_way",
    "some_words",
    "spelling_scores",
    "tale_scores",
    "tale_words",
    "teller",
    "torn",
    "train_speller",
    "train_translator",
    "translate",
    "translation_chart",
    "twenty_losses",
    "words_looked_at",
]

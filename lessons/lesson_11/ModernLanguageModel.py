"""`ModernLanguageModel`: how it is tried."""

from __future__ import annotations

import numpy as np

from grader.authoring.draw import normal
from grader.authoring.spec import Case, Trial
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import modern_weights
from lessons.lesson_11.models import aspects_of, cases_of, probe_model, sizes_and_tokens, sizes_of, tokens_of


def cases(generator: np.random.Generator) -> list[Case]:
    def model(b: int, n: int, heads: int, layers: int) -> Inputs:
        sizes = sizes_of(generator, heads, layers)
        vocab, d_model = sizes["vocab_size"], sizes["d_model"]
        weights = {
            "embedding.weight": normal(generator, vocab, d_model),
            "output.weight": normal(generator, vocab, d_model) / d_model**0.5,
            "final_norm.weight": 1 + normal(generator, d_model) / 2,
        }
        for i in range(layers):
            weights |= modern_weights(generator, f"blocks.{i}", d_model, sizes["d_ff"], d_model // 2)
        tokens = tokens_of(generator, vocab, b, n)
        return {"sizes": {**sizes, "num_kv_heads": heads // 2}, "tokens": tokens, "weights": weights}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    return cases_of(model, b, n)


TRIAL = Trial(
    module="course.language_model.modern",
    points=3,
    cases=cases,
    probe=probe_model,
    shown=sizes_and_tokens,
    aspects=aspects_of(),
)

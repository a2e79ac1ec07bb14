"""`ModernLanguageModel`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Observation, aspects
from cellcheck.authoring.draw import integers, normal
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11 import models
from transformer_course.lessons.lesson_12.drawing import modern_weights
from transformer_course.lessons.wordings import usually_in_words

LONG = aspects.special("a text of any length", weight=3.0, meaning="There is no largest length: long texts work too.")
AGAIN = aspects.special(
    "called again", weight=3.0, meaning="A later call, with other tokens, is as right as the first."
)


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def model(b: int, n: int, heads: int, layers: int) -> Inputs:
        if b == n == 1:  # a single token tells no more of several blocks
            layers = 1
        sizes = models.sizes_of(generator, heads, layers)
        vocab, d_model = sizes["vocab_size"], sizes["d_model"]
        weights = {
            "embedding.weight": normal(generator, vocab, d_model),
            "output.weight": normal(generator, vocab, d_model) / d_model**0.5,
            "final_norm.weight": 1 + normal(generator, d_model) / 2,
        }
        for i in range(layers):
            weights |= modern_weights(generator, f"blocks.{i}", d_model, sizes["d_ff"], d_model // 2)
        tokens = models.tokens_of(generator, vocab, b, n) if n < vocab else integers(generator, 0, vocab - 1, b, n)
        return {"sizes": {**sizes, "num_kv_heads": heads // 2}, "tokens": tokens, "weights": weights}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    long, again, longer = model(1, 150, 2, 1), model(b, n, 4, 1), model(b, n, 4, 1)
    again["before"], longer["before"] = again["tokens"].flip(1), longer["tokens"][:, :1]
    for apart in (long, again, longer):
        apart["forwards"] = True
    return [
        *models.cases_of(model, b, n),
        Case.of("with a text of 150 tokens", LONG, **long),
        Case.of("in a call that follows one with other tokens", AGAIN, **again),
        Case.of("in a call that follows one with single tokens", AGAIN, **longer),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of the model; where only its output is looked at, no gradients are recorded."""
    with torch.set_grad_enabled(not inputs.get("forwards", False)):
        return models.probe_model(symbol, inputs)


def canonical(observation: Observation, case: Case) -> Observation:
    """Long texts and later calls are asked for once, in the output, and not again in the gradients."""
    apart = (LONG.tags | AGAIN.tags) & case.tags
    return {name: seen for name, seen in observation.items() if name != "gradients" or not apart}


TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=3,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={"stages": "what the blocks and the norm get", "size": "how many numbers it learns"},
    shown=models.sizes_and_tokens,
    aspects=models.aspects_of(LONG, AGAIN),
)

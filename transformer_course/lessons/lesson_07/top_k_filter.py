"""`top_k_filter`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import dims, strided
from transformer_course.lessons.lesson_07.drawing import INFINITE, of_filter, with_hidden
from transformer_course.lessons.lesson_07.keeping import CALLED, in_words, of_top_k

K = aspects.special("k = 1 to all", meaning="The result is right from the smallest k to k = vocab_size.")
ABOVE = aspects.special("k above vocab_size", meaning="If k is larger than vocab_size, every token is kept.")


def _uneven(
    generator: np.random.Generator, batch: int, vocabulary: int, kind: torch.dtype = torch.float32
) -> torch.Tensor:
    """Logits in no order, no two of which are close within a row; rows lie above and below row 0."""
    order = generator.permuted(np.tile(np.arange(vocabulary), (batch, 1)), axis=1)
    jitter = generator.uniform(-0.3, 0.3, (batch, vocabulary))
    level = np.arange(batch)[:, None] * (-1) ** np.arange(batch)[:, None] * 2
    return torch.from_numpy((order - vocabulary / 2 + jitter + level) * 0.7).to(kind)


def cases(generator: np.random.Generator) -> list[Case]:
    batch, vocabulary = dims(generator, 2, 3, 4)
    vocabulary, k = vocabulary + 4, 3  # never twice k: the k smallest dropped would be the k largest kept

    def draw(rows: int, tokens: int, k: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"logits": _uneven(generator, rows, tokens, kind), "k": k}

    below = draw(batch, vocabulary, k)
    below["logits"] -= below["logits"].max() + 1
    hidden = {"logits": with_hidden(_uneven(generator, batch, vocabulary), vocabulary - 2), "k": 3}
    some = {"logits": with_hidden(_uneven(generator, batch, vocabulary), 2), "k": 2}
    return [
        Case.of(f"with k = {k}", **draw(batch, vocabulary, k)),
        Case.of(f"with {vocabulary + 8} tokens and k = {k + 3}", **draw(2, vocabulary + 8, k + 3)),
        Case.of("with as many rows as tokens", **draw(5, 5, 2)),
        Case.of("where all logits are negative", **below),
        Case.of("with k = 1", K, **draw(batch, vocabulary, 1)),
        Case.of("with one less than all", K, **draw(batch, vocabulary, vocabulary - 1)),
        Case.of("with k = vocab_size", K, **draw(batch, vocabulary, vocabulary)),
        Case.of("with k above vocab_size", ABOVE, **draw(batch, vocabulary, vocabulary + 4)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **draw(1, vocabulary, k)),
        Case.of("where some logits are -inf already", INFINITE, **some),
        Case.of("where fewer than k logits are finite", INFINITE, **hidden),
        Case.of("with float64", aspects.FLOAT64, **draw(batch, vocabulary, k, torch.float64)),
        Case.of(
            "with logits that are not contiguous",
            aspects.LAYOUT,
            logits=strided(_uneven(generator, batch, vocabulary)),
            k=k,
        ),
    ]


TRIAL = Trial(
    module="transformer_course.sampling",
    points=2,
    cases=cases,
    canonical=in_words(of_top_k),
    called=CALLED,
    aspects=of_filter(K, ABOVE, aspects.BATCH_OF_ONE, INFINITE),
)

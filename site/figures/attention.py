"""Queries, keys and values of three words: the example of lesson 3, with a query for each word."""

from typing import Any

import torch

from figures.writing import SAYS, framed, table
from transformer_course.attention import scaled_dot_product_attention

WORDS = ("cat", "sees", "ball")
QUERIES = ((0.0, 1.0, 1.0, 1.0), (2.0, 1.0, 0.0, 0.0), (1.0, 0.0, 1.0, 2.0))
KEYS = ((2.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 2.0, 1.0))
VALUES = ((10.0, 0.0), (0.0, 10.0), (10.0, 10.0))
ASKS = 1
"""*Sees* wants to know who sees."""


def numbers() -> dict[str, Any]:
    """What the course's attention makes of all three queries."""
    output, weights = scaled_dot_product_attention(*map(torch.tensor, (QUERIES, KEYS, VALUES)))
    return {
        "words": WORDS,
        "queries": QUERIES,
        "keys": KEYS,
        "values": VALUES,
        "asks": ASKS,
        "weights": [[round(weight, 4) for weight in row] for row in weights.tolist()],
        "outputs": [[round(entry, 4) for entry in row] for row in output.tolist()],
    }


def html() -> str:
    """A table of the words, for the query of one of them."""
    known = numbers()
    root = len(KEYS[0]) ** 0.5
    rows = []
    for word, key, value, weight in zip(WORDS, KEYS, VALUES, known["weights"][ASKS], strict=True):
        score = sum(a * b for a, b in zip(QUERIES[ASKS], key, strict=True))
        bar = f'<span class="bar" style="--share:{weight}"></span>{weight:.2f}'
        rows.append((word, vector(key), f"{score:g}", f"{score / root:g}", bar, vector(value)))
    head = ("word", "key", "query · key", f"÷ {root:g}", "weight", "value")
    output = " and ".join(f"{entry:.2f}" for entry in known["outputs"][ASKS])
    says = SAYS.format(f"<em>{WORDS[ASKS]}</em> asks {vector(QUERIES[ASKS])}, and gets {output}.")
    return framed(
        "Who looks at whom: three words, with real numbers",
        "Choose the word that asks, change its query, and watch the weights and the mix.",
        f'<div class="controls"></div>{table(head, rows, "Keys, scores, weights and values")}{says}',
        known,
    )


def vector(entries: tuple[float, ...]) -> str:
    """A vector as the lesson writes it."""
    return f"({', '.join(f'{entry:g}' for entry in entries)})"

"""Temperature, top-k and top-p on one distribution: the words that follow *the* in the course's book."""

from collections import Counter
from itertools import pairwise
from typing import Any

import torch

from figures.writing import SAYS, framed, slider, table
from transformer_course.data import moby_dick
from transformer_course.lessons.lesson_07.experiments.book import words_of

BEFORE = "the"
SHOWN = 12


def numbers() -> dict[str, Any]:
    """The most frequent words, and their logits: the logarithms of how often they were counted."""
    counts = Counter(after for before, after in pairwise(words_of(moby_dick())) if before == BEFORE)
    words, often = zip(*counts.most_common(SHOWN), strict=True)
    logits = torch.tensor(often, dtype=torch.float64).log()
    return {"words": words, "counts": often, "logits": [round(logit, 5) for logit in logits.tolist()]}


def html() -> str:
    """The distribution as it is."""
    known = numbers()
    shares = torch.softmax(torch.tensor(known["logits"]), dim=-1).tolist()
    rows = [
        (word, str(count), f'<span class="bar" style="--share:{share:.4f}"></span>{share:.3f}', "")
        for word, count, share in zip(known["words"], known["counts"], shares, strict=True)
    ]
    controls = (
        slider("temperature", "temperature", 0.1, 3, 0.1, 1)
        + slider("k", "top-k", 1, SHOWN, 1, SHOWN)
        + slider("p", "top-p", 0.05, 1, 0.05, 1)
        + '<button type="button">Draw 20 words</button>'
    )
    head = (f"after <em>{BEFORE}</em>", "counted", "probability", '<span class="needs-script">drawn</span>')
    return framed(
        "One distribution, three controls",
        "First the temperature is applied, then top-k, then top-p. What is struck out is never drawn.",
        f'<div class="controls needs-script">{controls}</div>'
        + table(head, rows, f"The {SHOWN} words that follow {BEFORE} most often in Moby Dick, chapters 1 to 22")
        + SAYS.format(f"All {SHOWN} words can be drawn."),
        known,
    )

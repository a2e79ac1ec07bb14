"""A mask to paint: who may look at whom, and what the grader says to a mask that is a known mistake."""

from typing import Any

import torch

from cellcheck.syllabus import load_lesson
from figures.writing import SAYS, framed, table
from transformer_course.attention import masked_softmax
from transformer_course.causal import causal_mask

READS = ("^", "c", "b", "a")
SAYING = ("c", "b", "a", ".")
"""What each position has to say: the token that the next one reads, and at last the end."""
PRESETS = {
    "everything_allowed": "everything",
    "one_step_too_far": "one step too far",
    "own_position_hidden": "no diagonal",
    "future_kept": "mirrored",
}


def numbers() -> dict[str, Any]:
    """The right mask, the mistakes that the grader knows with its advice, and the weights of equal scores."""
    length = len(READS)
    known = {}
    for mistake in load_lesson("05_causal_masks")["causal_mask"].mistakes:
        mask = mistake.implementation(length)
        if isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and mask.shape == (length, length):
            known[mistake.name] = {"mask": painted(mask), "advice": mistake.advice}
    right = causal_mask(length)
    weights = masked_softmax(torch.zeros(length, length), right)
    return {
        "reads": READS,
        "says": SAYING,
        "right": painted(right),
        "known": known,
        "presets": PRESETS,
        "weights": [[round(weight, 4) for weight in row] for row in weights.tolist()],
    }


def painted(mask: torch.Tensor) -> str:
    """A mask as a text of ones and zeros, row by row.

    >>> painted(causal_mask(2))
    '1011'
    """
    return "".join(str(int(entry)) for entry in mask.flatten().tolist())


def html() -> str:
    """The causal mask as a table of yes and no."""
    known = numbers()
    length = len(READS)
    rows = []
    for place, (read, says) in enumerate(zip(READS, SAYING, strict=True)):
        row = known["right"][place * length : (place + 1) * length]
        cells = ["yes" if entry == "1" else "no" for entry in row]
        rows.append((f"<code>{read}</code>", *cells, f"<code>{says}</code>"))
    head = ("reads", *(f"<code>{read}</code>" for read in READS), "has to say")
    return framed(
        "Paint a mask",
        "Click a cell, or move with the arrow keys and press Space. A row is the position that looks.",
        '<div class="controls"></div>'
        + table(head, rows, "Who may look at whom")
        + SAYS.format("The causal mask: each position sees itself and what came before."),
        known,
    )

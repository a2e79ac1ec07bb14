"""What a mask opens or hides, in words: the first position that sees too much, or too little."""

from typing import Any

import torch

from transformer_course.lessons.watching import AS_ASKED

SEEN = "seen"
CALLED = {SEEN: "what each position sees"}


def of_a_mask(output: Any, right: torch.Tensor, real: torch.Tensor | None = None) -> str:
    """The first entry that is wrong, of a mask (length, length) or (batch, 1, length, length).

    `real` says which tokens aren't padding, (batch, length). Of anything else than yes and no, nothing is said.
    """
    if (
        not isinstance(output, torch.Tensor)
        or output.shape != right.shape
        or not bool(((output == 0) | (output == 1)).all())
    ):
        return AS_ASKED
    mask = output.bool()
    if torch.equal(mask, right) or torch.equal(~mask, right) or mask.all() or not mask.any():
        return AS_ASKED  # all of it is wrong, or nothing: what stands beside the right one says it better
    *rows, i, j = (mask != right).nonzero()[0].tolist()
    where = f"In row {rows[0]}, position {i}" if rows else f"Position {i}"
    other = "itself" if i == j else f"position {j}"
    if mask[(*rows, i, j)]:
        if j > i:
            return f"{where} sees {other}, which comes after it. Which positions may it look at?"
        return f"{where} sees {other}, where the row has padding. How do you find out where padding is?"
    what = "" if i == j else ", which comes before it"
    if rows and real is not None:
        what += ", and no padding is there" if i == j else " and isn't padding"
    return f"{where} doesn't see {other}{what}. Which positions may it look at?"

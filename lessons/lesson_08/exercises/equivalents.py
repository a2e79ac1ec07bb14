"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_START = "where the embeddings start is no part of the contract: training moves them"
_TWO_AXES = "of the real tokens alone there are two axes, and axis 1 is the last one"
_ERROR = "without it another error says that something is wrong: a division by zero, or a power of it"
_TRUSTED = "of a file that save_checkpoint wrote, both read the same"

_EMBEDDING = {
    f"nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5)) -> {changed}": _START
    for changed in (
        "(dropped)",
        "nn.init.normal_(self.embedding.weight, std=d_model ** 0.5)",
        "nn.init.normal_(self.embedding.weight, std=d_model ** (-1.5))",
    )
}
_LOGS = "log_probabilities = torch.log_softmax(logits[real], dim=-1)"
_TARGETS = "of_target = log_probabilities.gather(-1, targets[real].unsqueeze(-1)).squeeze(-1)"
_ALL = "of_all = log_probabilities.masked_fill(columns == self.pad_id, 0.0).sum(dim=-1)"

_BATCHES = (
    "batches = [([[5, 3, 8, 0, 0], [4, 0, 0, 0, 0], [9, 2, 1, 6, 7]], [[1, 6, 4, 2], [1, 7, 0, 0], [1, 3, 5, 0]]), "
    "([[3, 4, 2]], [[1, 2, 9, 4, 6, 5]])]"
)
_BEHIND_A_GAP = 22  # the one number of those batches that makes a difference: a real token behind padding
_MASKS = "(source_mask, allowed_source, real), (target_mask, allowed_target, real)]:"
_SHAPE = "shape = (len(source), 2, asking.shape[1], allowed.shape[-1])"
_ANY_QUERIES = "a mask that fits any number of queries says the same to all of them: the cross-attention shows it too"


def _other_ids() -> Iterator[str]:
    """The batches with another id, or a row that is one token longer."""
    for place, number in enumerate(re.finditer(r"\d+", _BATCHES)):
        if place != _BEHIND_A_GAP:
            yield f"{_BATCHES[: number.start()]}{int(number[0]) + 1}{_BATCHES[number.end() :]}"


EQUIVALENTS: dict[str, dict[str, str]] = {
    "Encoder": _EMBEDDING,
    "Decoder": _EMBEDDING,
}

"""A model small enough to know all its answers: its probabilities stand in `TREE`."""

from collections.abc import Mapping

import torch
from torch import nn

TREE_SYMBOLS = "_.^ab"  # padding, end, start, and two letters
TREE_END, TREE_START = 1, 2
TREE: Mapping[str, Mapping[str, float]] = {
    "": {"a": 0.6, "b": 0.4},
    "a": {"a": 0.4, "b": 0.3, ".": 0.3},
    "b": {".": 0.9, "a": 0.1},
}  # whatever isn't listed ends for certain


class TreeModel(nn.Module):
    """A model made by hand: the probabilities of `TREE`, whatever the source. (batch, length, 5 symbols)

    >>> tree_model(torch.tensor([[3]]), torch.tensor([[2, 3]])).exp()[0, -1]
    tensor([0.0000, 0.3000, 0.0000, 0.4000, 0.3000])
    """

    def __init__(self) -> None:
        super().__init__()
        self.device = nn.Parameter(torch.zeros(()), requires_grad=False)  # for decoders that ask where a model lives

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        probabilities = torch.zeros(*target_input.shape, len(TREE_SYMBOLS))
        for row, ids in enumerate(target_input.tolist()):
            text = "".join(TREE_SYMBOLS[i] for i in ids)
            for position in range(len(ids)):
                for symbol, probability in TREE.get(text[1 : position + 1], {".": 1.0}).items():
                    probabilities[row, position, TREE_SYMBOLS.index(symbol)] = probability
        return probabilities.log()


tree_model = TreeModel()


def tree_answers(prefix: str = "", probability: float = 1.0) -> dict[str, float]:
    """All answers that the tree can give, with their probabilities.

    >>> {answer: round(probability, 2) for answer, probability in tree_answers().items()}
    {'aa.': 0.24, 'ab.': 0.18, 'a.': 0.18, 'b.': 0.36, 'ba.': 0.04}
    """
    answers: dict[str, float] = {}
    for symbol, share in TREE.get(prefix, {".": 1.0}).items():
        if symbol == ".":
            answers[f"{prefix}."] = probability * share
        else:
            answers |= tree_answers(prefix + symbol, probability * share)
    return answers


def tree_text(ids: torch.Tensor) -> str:
    """A row of the tree's ids as a text, without padding.

    >>> tree_text(torch.tensor([4, 1, 0]))
    'b.'
    """
    return "".join(TREE_SYMBOLS[int(i)] for i in ids).rstrip("_")

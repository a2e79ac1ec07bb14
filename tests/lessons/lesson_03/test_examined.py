"""What is said of a classifier whose scores are changed on the way out."""

from typing import Any

import torch

from cellcheck.checking.check import Checker
from transformer_course.classifier import TransformerClassifier


class SharesOfTheBatch(TransformerClassifier):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        scores: Any = super().forward(tokens)
        return torch.softmax(scores, dim=0)


def test_where_scores_are_changed_nothing_is_claimed_about_what_the_last_layer_reads() -> None:
    message = Checker("03").verdict("TransformerClassifier", SharesOfTheBatch).message
    assert message.startswith("The scores are changed after the last layer, so they are no longer raw.")

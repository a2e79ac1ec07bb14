"""What is said of a classifier whose scores are changed on the way out."""

from typing import Any

import torch

from tests.lessons.marks import judge_of
from transformer_course.classifier import TransformerClassifier


class SharesOfTheBatch(TransformerClassifier):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        scores: Any = super().forward(tokens)
        return torch.softmax(scores, dim=0)


def test_where_scores_are_changed_nothing_is_claimed_about_what_the_last_layer_reads() -> None:
    judge = judge_of("03_classification_transformer", "TransformerClassifier", 0, combinations=0)
    message = judge.verdict(judge.observe(SharesOfTheBatch)).message
    assert message.startswith("The scores are changed after the last layer, so they are no longer raw.")


class BlocksOutOfSight(TransformerClassifier):
    """They are there, and attend, but a list of Python's is no module."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        blocks: Any = list(self.blocks)
        del self.blocks
        self.blocks = blocks


def test_of_attention_that_nobody_can_see_nothing_is_claimed() -> None:
    seen = judge_of("03_classification_transformer", "TransformerClassifier", 0).observe(BlocksOutOfSight)
    sentence = "No block can be found among the model's modules, so its attention can't be seen."
    assert sentence in {case.get("what_attention_sees") for case in seen}

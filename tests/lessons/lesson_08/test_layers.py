"""What is said of a layer whose parts are joined otherwise, where no mistake of the catalogue does the same."""

import torch

from cellcheck.checking.check import Checker
from transformer_course.paper.layers import EncoderLayer


class NormedTwice(EncoderLayer):
    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return self.norm1(super().forward(x, mask))


def test_the_layer_is_written_out_beside_a_question() -> None:
    message = Checker("08").verdict("EncoderLayer", NormedTwice).message
    assert message.startswith("Your layer computes ")
    assert "Which step does the docstring describe differently?" in message

"""What a model with a source and a target looks at."""

import torch
from torch import nn

from course.fitting import device_of
from course.tracing import attention_maps


class _OfOneSource(nn.Module):
    """The model as a function of the target alone."""

    def __init__(self, model: nn.Module, source: torch.Tensor) -> None:
        super().__init__()
        self.model = model
        self.source = source

    def forward(self, target_input: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(self.source, target_input)
        return logits


def translation_maps(model: nn.Module, source: torch.Tensor, target_input: torch.Tensor) -> dict[str, torch.Tensor]:
    """{name of an attention module: its weights for this batch}, as `attention_maps` for a model with two inputs.

    >>> from course.paper.model import Transformer
    >>> model = Transformer(9, 9, 8, 1, 2, 16, 0.0, 9)
    >>> maps = translation_maps(model, torch.tensor([[4, 7, 5]]), torch.tensor([[1, 6]]))
    >>> maps["decoder.layers.0.cross_attention"].shape
    torch.Size([1, 2, 2, 3])
    """
    asked = _OfOneSource(model, source.to(device_of(model)))
    return {name.removeprefix("model."): maps for name, maps in attention_maps(asked, target_input).items()}

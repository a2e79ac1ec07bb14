"""What a model with a source and a target looks at."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn

from transformer_course.fitting import device_of
from transformer_course.tracing import attention_maps

HIDDEN = "No part of your model returns its attention weights, so there is nothing to draw here."


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

    >>> from transformer_course.paper.model import Transformer
    >>> model = Transformer(9, 9, 8, 1, 2, 16, 0.0, 9)
    >>> maps = translation_maps(model, torch.tensor([[4, 7, 5]]), torch.tensor([[1, 6]]))
    >>> maps["decoder.layers.0.cross_attention"].shape
    torch.Size([1, 2, 2, 3])
    """
    asked = _OfOneSource(model, source.to(device_of(model)))
    with _weights_handed_out(model):
        return {name.removeprefix("model."): maps for name, maps in attention_maps(asked, target_input).items()}


def last_crossing(model: nn.Module, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor | None:
    """What each target token looks at in the source: the weights of the last
    cross-attention, (heads, target_length, source_length), for a batch of one.

    The last layer asks the encoder after it has asked itself, so they are the last
    weights of that shape. None where no module of the model returns any.
    """
    shape = (target_input.shape[1], source.shape[1])
    crossings = [
        weights for weights in translation_maps(model, source, target_input).values() if weights.shape[-2:] == shape
    ]
    return crossings[-1][0].reshape(-1, *shape) if crossings else None


@contextmanager
def _weights_handed_out(model: nn.Module) -> Iterator[None]:
    """Meanwhile PyTorch's own attention returns its weights, head by head; its layers ask it not to."""
    theirs: list[nn.Module] = [part for part in model.modules() if isinstance(part, nn.MultiheadAttention)]
    for part in theirs:
        part.forward = partial(_with_weights, part.forward)
    try:
        yield
    finally:
        for part in theirs:
            del part.forward


def _with_weights(forward: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    return forward(*inputs, **named | {"need_weights": True, "average_attn_weights": False})

"""LoRA in a whole model: put in, trained on another style, merged."""

from typing import Any

from torch import nn

from transformer_course.language_model.adapting import LoRALinear

PLACES = tuple(
    f"{part}.{layer}"
    for part, layers in (
        ("attention", ("query", "key", "value", "output")),
        ("feed_forward", ("gate", "up", "down")),
    )
    for layer in layers
)


def with_lora(model: nn.Module, rank: int, alpha: float, kind: type[nn.Module] = LoRALinear) -> nn.Module:
    """The model, frozen, with a correction beside each Linear layer of its blocks. It changes in place."""

    def adapted(linear: nn.Linear) -> nn.Module:
        layer = kind(linear, rank, alpha)
        answers = {
            "weight": property(lambda layer: layer.base.weight + alpha / rank * layer.up @ layer.down),
            "bias": property(lambda layer: layer.base.bias),
        }
        # For models that ask a layer for its weight, and don't call it.
        answers = {name: answer for name, answer in answers.items() if not hasattr(layer, name)}
        layer.__class__ = type("Adapted", (type(layer),), answers)
        return layer

    model.requires_grad_(False)
    blocks: Any = model.blocks
    for block in blocks:
        for place in PLACES:
            part, name = place.split(".")
            setattr(getattr(block, part), name, adapted(getattr(getattr(block, part), name)))
    return model


def merged(model: nn.Module) -> nn.Module:
    """The model with plain layers again, each with its correction inside. It changes in place."""
    blocks: Any = model.blocks
    for block in blocks:
        for place in PLACES:
            part, name = place.split(".")
            setattr(getattr(block, part), name, getattr(getattr(block, part), name).merged())
    return model


def kilobytes(model: nn.Module, learning: bool = False) -> float:
    """What the parameters of a model take, or those of them that learn."""
    counted = [parameter for parameter in model.parameters() if parameter.requires_grad or not learning]
    return sum(parameter.numel() * parameter.element_size() for parameter in counted) / 1000

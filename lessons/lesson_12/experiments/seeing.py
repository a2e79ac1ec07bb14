"""Handwritten digits: a Transformer of patches against the nearest neighbour."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from course import plots
from course.beyond.vision import VisionTransformer
from course.fitting import accuracy, fit
from course.plots import Picture
from course.tasks.handwriting import SIDE, Handwriting
from course.tracing import attention_maps


def neighbours(data: Handwriting, images: torch.Tensor | None = None) -> float:
    """How many test images look most like a training image of the same digit. `images` may stand in for the test's."""
    known, digits = data.train
    asked = data.test[0] if images is None else images
    nearest = torch.cdist(asked.flatten(1), known.flatten(1)).argmin(dim=1)
    return (digits[nearest] == data.test[1]).float().mean().item()


def learn(
    data: Handwriting,
    patch_size: int,
    build: Callable[..., nn.Module] = VisionTransformer,
    seed: int = 0,
    steps: int = 500,
) -> nn.Module:
    """Train with batches of 64 images."""
    torch.manual_seed(seed)
    model = build(SIDE, patch_size, 1, 32, 4, 64, 1, 10)
    fit(
        model,
        *data.train,
        steps=steps,
        batch_size=64,
        learning_rate=3e-3,
        seed=seed,
        name=f"patches of {patch_size} by {patch_size}",
    )
    return model


def right(model: nn.Module, data: Handwriting, images: torch.Tensor | None = None) -> float:
    """How many test images the model names. `images` may stand in for the test's."""
    return accuracy(model, data.test[0] if images is None else images, data.test[1])


def moved(images: torch.Tensor) -> torch.Tensor:
    """The same images, one pixel further to the right."""
    return nn.functional.pad(images, (1, 0))[..., :-1]


def where_it_looks(model: nn.Module, image: torch.Tensor) -> Picture:
    """An image (1, 8, 8), and beside it how much attention each of its patches gets, on average over heads and
    patches that look.
    """
    weights = next(iter(attention_maps(model, image[None]).values()))[0]  # (heads, tokens, tokens)
    across = int(weights.shape[-1] ** 0.5)  # a CLS token, if there is one, comes first
    looked_at = weights.mean(dim=(0, 1))[-(across**2) :].reshape(across, across)
    larger = looked_at.repeat_interleave(SIDE // across, 0).repeat_interleave(SIDE // across, 1)
    shares = larger / larger.max()
    return plots.heatmaps({"the image": image[0], "attention, 1 is the most": shares}, low=0, high=1)

"""Handwritten digits: a Transformer of patches against the nearest neighbour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.beyond.vision import VisionTransformer
from transformer_course.fitting import fit, predict
from transformer_course.plots import Picture
from transformer_course.tasks.handwriting import SIDE, Handwriting, shuffled_lines


def neighbours(data: Handwriting, images: torch.Tensor | None = None) -> float:
    """How many test images look most like a training image of the same digit. `images` may stand in for the test's."""
    return (said_by_neighbours(data, images) == data.test[1]).float().mean().item()


def said_by_neighbours(data: Handwriting, images: torch.Tensor | None = None) -> torch.Tensor:
    """What the nearest training image of each test image shows: (n,)."""
    return data.train[1][nearest(data, images)]


def nearest(data: Handwriting, images: torch.Tensor | None = None) -> torch.Tensor:
    """Which training image is most like each test image: (n,)."""
    asked = data.test[0] if images is None else images
    return torch.cdist(asked.flatten(1), data.train[0].flatten(1)).argmin(dim=1)


def close_in_the_file(data: Handwriting, seed: int = 0, lines: int = 70) -> tuple[float, float]:
    """Of the split drawn with this seed: the share of test images whose nearest neighbour is at most so many lines away
    in the file, and the share of all training images that are.
    """
    order = shuffled_lines(seed)
    asked, known = order[: len(data.test[1])], order[len(data.test[1]) :]
    close = (known[nearest(data)] - asked).abs() <= lines
    anybody = (known - asked.unsqueeze(1)).abs() <= lines
    return close.float().mean().item(), anybody.float().mean().item()


def beside_its_neighbour(data: Handwriting, place: int) -> Picture:
    """A test image and its nearest neighbour; the same image moved by a pixel, and the nearest neighbour of that."""
    images, digits = data.test
    shown = {}
    for name, asked in ((f"a test image: {int(digits[place])}", images), ("moved by one pixel", moved(images))):
        known = int(nearest(data, asked)[place])
        shown[name] = asked[place, 0]
        shown[f"nearest{' now' if asked is not images else ''}: {int(data.train[1][known])}"] = data.train[0][known, 0]
    return plots.heatmaps(shown, low=0, high=1)


def wrong_answers(data: Handwriting, read: torch.Tensor, count: int = 4) -> Picture:
    """The first test images that somebody got wrong, with what they are and what was said."""
    images, digits = data.test
    places = (read != digits).nonzero()[:count, 0].tolist()
    return plots.heatmaps(
        {
            f"{i + 1}: {'an' if digits[place] == 8 else 'a'} {int(digits[place])}, read as {int(read[place])}": images[
                place, 0
            ]
            for i, place in enumerate(places)
        },
        low=0,
        high=1,
    )


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


def moved(images: torch.Tensor) -> torch.Tensor:
    """The same images, one pixel further to the right."""
    return nn.functional.pad(images, (1, 0))[..., :-1]


def answers(model: nn.Module, data: Handwriting, images: torch.Tensor | None = None) -> torch.Tensor:
    """What the model says of each test image: (n,). `images` may stand in for the test's."""
    return predict(model, data.test[0] if images is None else images).argmax(dim=-1)


def in_thirds(
    thirds: Sequence[Handwriting], build: Callable[..., nn.Module] = VisionTransformer, seed: int = 0
) -> dict[str, dict[str, torch.Tensor]]:
    """Each third is read by models that were trained on the other two: of each reader, which of all the test images it
    got right as they are, and moved by a pixel.
    """
    right: dict[str, dict[str, list[torch.Tensor]]] = {}

    def note(reader: str, kind: str, read: torch.Tensor, data: Handwriting) -> None:
        right.setdefault(reader, {}).setdefault(kind, []).append(read == data.test[1])

    for data in thirds:
        for kind, images in (("as they are", data.test[0]), ("moved", moved(data.test[0]))):
            note("nearest neighbour", kind, said_by_neighbours(data, images), data)
        for size in (8, 4, 2):
            model = learn(data, size, build, seed)
            for kind, images in (("as they are", data.test[0]), ("moved", moved(data.test[0]))):
                note(f"patches of {size}", kind, answers(model, data, images), data)
    return {reader: {kind: torch.cat(parts) for kind, parts in kinds.items()} for reader, kinds in right.items()}


def scores(right: Mapping[str, Mapping[str, torch.Tensor]]) -> pd.DataFrame:
    """The shares of right answers: a row for each reader."""
    shares = {
        reader: {kind: one.float().mean().item() for kind, one in kinds.items()} for reader, kinds in right.items()
    }
    return pd.DataFrame(shares).T

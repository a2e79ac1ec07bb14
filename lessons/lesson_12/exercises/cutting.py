"""`patchify`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional as F

from course.beyond.vision import patchify
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, refused, shape, special, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, tagged


def _images(generator: np.random.Generator) -> list[Case]:
    b = int(generator.integers(3, 6))

    def case(label: str, tag: str, sizes: tuple[int, ...], patch_size: int, images: torch.Tensor | None = None) -> Case:
        drawn = draw.normal(generator, *sizes) if images is None else images
        return Case(label, {"images": drawn, "patch_size": patch_size}, tagged(tag) if tag else USUAL)

    def strided(*sizes: int) -> torch.Tensor:
        return draw.strided(draw.normal(generator, *sizes))

    return [
        case("with two channels", "", (b, 2, 4, 6), 2),
        case("with three channels, and patches of three", "", (b, 3, 9, 6), 3),
        case("with images that are taller than wide", "", (2, 2, 8, 4), 2),
        case("with a single channel", "grey", (b, 1, 4, 6), 2),
        case("with square images", "square", (b, 2, 6, 6), 2),
        case("with one patch for the whole image", "whole", (b, 2, 4, 4), 4),
        case("with patches of one pixel", "pixels", (b, 2, 2, 3), 1),
        case("on a batch of one", "one", (1, 2, 4, 6), 2),
        case("with float64", "float64", (b, 2, 4, 6), 2, draw.normal(generator, b, 2, 4, 6, dtype=torch.float64)),
        case("with images that are not contiguous", "strided", (b, 2, 4, 6), 2, strided(b, 2, 4, 6)),
        case("with a height that isn't divided", "refused", (b, 2, 5, 4), 2),
        case("with a width that isn't divided", "refused", (b, 2, 6, 7), 3),
    ]


def _fitting(images: torch.Tensor, patch_size: int) -> tuple[int, int, int, int]:
    """batch, channels, rows, columns."""
    batch, channels, height, width = images.shape
    if height % patch_size or width % patch_size:
        raise ValueError("the patches don't fit")
    return batch, channels, height // patch_size, width // patch_size


def _permuted(*order: int) -> Callable[[torch.Tensor, int], torch.Tensor]:
    """The axes (batch, channels, rows, patch rows, columns, patch columns) in this order."""

    def cut(images: torch.Tensor, patch_size: int) -> torch.Tensor:
        b, c, rows, columns = _fitting(images, patch_size)
        grid = images.reshape(b, c, rows, patch_size, columns, patch_size).permute(*order)
        return grid.reshape(b, rows * columns, c * patch_size**2)

    return cut


def _only_reshaped(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    b, c, rows, columns = _fitting(images, patch_size)
    return images.reshape(b, rows * columns, c * patch_size**2)


def _strips(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    """Cut into runs of pixels, not into squares."""
    b, c, rows, columns = _fitting(images, patch_size)
    return images.reshape(b, c, rows * columns, patch_size**2).transpose(1, 2).reshape(b, rows * columns, -1)


def _never_refuses(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    height, width = (size // patch_size * patch_size for size in images.shape[-2:])
    return patchify(images[..., :height, :width], patch_size)


def _looped(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    _, _, rows, columns = _fitting(images, patch_size)
    p = patch_size
    return torch.stack(
        [images[:, :, p * r : p * r + p, p * c : p * c + p].flatten(1) for r in range(rows) for c in range(columns)],
        dim=1,
    )


def _unfolded(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    _fitting(images, patch_size)
    return F.unfold(images, patch_size, stride=patch_size).transpose(1, 2)


def _unfolded_twice(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    _fitting(images, patch_size)
    pieces = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)  # (b, c, rows, columns, p, p)
    return pieces.movedim(1, 3).flatten(3).flatten(1, 2)


def _split(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    _fitting(images, patch_size)
    bands = torch.split(images, patch_size, dim=2)
    return torch.stack([piece.flatten(1) for band in bands for piece in torch.split(band, patch_size, dim=3)], dim=1)


def _pooled(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    _fitting(images, patch_size)
    return F.avg_pool2d(images, patch_size).flatten(2).transpose(1, 2)


def _first_channel(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    return patchify(images[:, :1], patch_size)


PATCHIFY = Exercise(
    symbol="patchify",
    points=3,
    cases=_images,
    references=(patchify,),
    aspects=(
        shape("shape (batch, patches, numbers)", "The result is (batch, patches, channels * patch_size ** 2)."),
        values(9.0),
        special("a single channel", "grey", 2.0, "Grey images, with one channel, are cut right."),
        special("square images", "square", meaning="Images as high as wide are cut right."),
        special("one patch for the whole image", "whole", 0.5, "A patch may be as large as the image."),
        special("patches of one pixel", "pixels", 0.5, "A patch may be a single pixel."),
        special("a batch of one", "one"),
        gradients(1.0),
        *any_numbers(0.5),
        refused("patches that don't fit", "refused", 2.0),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "only_reshaped",
            _only_reshaped,
            "You reshape without moving any axis, so a patch is a run of numbers from the same rows, not a square. "
            "Which axes have to change places?",
            central=True,
        ),
        Mistake(
            "strips",
            _strips,
            "Your patches are strips of a channel's numbers, not squares. Which two axes does a square need, and are "
            "they next to each other?",
            central=True,
        ),
        Mistake(
            "column_by_column",
            _permuted(0, 4, 2, 1, 3, 5),
            "Your patches come column by column. Which way do we read?",
        ),
        Mistake(
            "patches_transposed",
            _permuted(0, 2, 4, 1, 5, 3),
            "Within each patch, rows and columns have changed places. Which of the two runs fastest in memory?",
            central=True,
        ),
        Mistake(
            "channels_last",
            _permuted(0, 2, 4, 3, 5, 1),
            "Within a patch, you put the channels of each pixel together. Which comes first in the docstring: channel "
            "or pixel?",
        ),
        Mistake(
            "rows_mixed",
            _permuted(0, 2, 3, 1, 4, 5),
            "You put the rows within a patch before the columns of patches. Which axes say where a patch is, and which "
            "say where a pixel is within it?",
            central=True,
        ),
        Mistake(
            "pixels_before_patches",
            _permuted(0, 3, 5, 1, 2, 4),
            "The axes of the pixels come before those of the patches, so each of your tokens is spread over the whole "
            "image. Which axes belong to the tokens?",
            central=True,
        ),
        Mistake(
            "unfold_not_transposed",
            lambda images, patch_size: _unfolded(images, patch_size).transpose(1, 2),
            "The numbers are right, but your patches are columns: (batch, numbers, patches). Which axis should come "
            "second?",
            central=True,
        ),
        Mistake(
            "means_of_patches",
            _pooled,
            "You keep the mean of each patch alone. How many numbers does a patch have?",
            central=True,
        ),
        Mistake(
            "first_channel_only",
            _first_channel,
            "Only the first channel is in your patches. How many numbers should a patch have?",
            central=True,
        ),
        Mistake(
            "cut_off",
            _never_refuses,
            "Where patch_size doesn't divide the size, you drop what is left over. What does the docstring ask for?",
        ),
        Mistake(
            "detached",
            lambda images, patch_size: patchify(images.detach(), patch_size),
            "The patches are right, but no gradient gets back to the image. Where did you leave autograd?",
        ),
    ),
    variants={
        "slice by slice": _looped,
        "F.unfold": _unfolded,
        "unfold twice": _unfolded_twice,
        "split twice": _split,
        "einsum": lambda images, patch_size: (
            torch.einsum("bcrpqs->brqcps", images.unflatten(2, (-1, patch_size)).unflatten(4, (-1, patch_size)))
            .flatten(3)
            .flatten(1, 2)
            if _fitting(images, patch_size)
            else images
        ),
    },
)

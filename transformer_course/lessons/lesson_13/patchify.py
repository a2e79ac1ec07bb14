"""`patchify`: how it is tried."""

import math

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects, draw
from cellcheck.authoring.calls import in_order_with_gradients

GREY = aspects.special("a single channel", weight=2.0, meaning="Grey images, with one channel, are cut right.")
SQUARE = aspects.special("square images", meaning="Images as high as wide are cut right.")
WHOLE = aspects.special("one patch for the whole image", weight=0.5, meaning="A patch may be as large as the image.")
PIXELS = aspects.special("patches of one pixel", weight=0.5, meaning="A patch may be a single pixel.")
REFUSED = aspects.refused("patches that don't fit", weight=2.0)


def cases(generator: np.random.Generator) -> list[Case]:
    b = int(generator.integers(3, 6))

    def images(*sizes: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        return draw.normal(generator, *sizes, dtype=dtype)

    def counted(*sizes: int) -> torch.Tensor:
        """Pixels that count on, from some number: where one comes from can be read off it."""
        return (torch.arange(math.prod(sizes)) + int(generator.integers(0, 100))).reshape(sizes).float()

    return [
        Case.of("with two channels", images=counted(b, 2, 4, 6), patch_size=2),
        Case.of("with three channels, and patches of three", images=images(b, 3, 9, 6), patch_size=3),
        Case.of("with images that are taller than wide", images=counted(2, 2, 8, 4), patch_size=2),
        Case.of("with a single channel", GREY, images=counted(b, 1, 4, 6), patch_size=2),
        Case.of("with square images", SQUARE, images=counted(b, 2, 6, 6), patch_size=2),
        Case.of("with one patch for the whole image", WHOLE, images=counted(b, 2, 4, 4), patch_size=4),
        Case.of("with patches of one pixel", PIXELS, images=counted(b, 2, 2, 3), patch_size=1),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, images=counted(1, 2, 4, 6), patch_size=2),
        Case.of("with float64", aspects.FLOAT64, images=images(b, 2, 4, 6, dtype=torch.float64), patch_size=2),
        Case.of(
            "with images that are not contiguous", aspects.LAYOUT, images=draw.strided(images(b, 2, 4, 6)), patch_size=2
        ),
        Case.of("with a height that isn't divided", REFUSED, images=images(b, 2, 5, 4), patch_size=2),
        Case.of("with a width that isn't divided", REFUSED, images=images(b, 2, 6, 7), patch_size=3),
    ]


TRIAL = Trial(
    module="transformer_course.beyond.vision",
    points=3,
    cases=cases,
    probe=in_order_with_gradients(0),
    aspects=(
        aspects.shape("shape (batch, patches, numbers)", "The result is (batch, patches, channels * patch_size ** 2)."),
        aspects.values(9.0),
        GREY,
        SQUARE,
        WHOLE,
        PIXELS,
        aspects.BATCH_OF_ONE,
        aspects.gradients(1.0),
        *aspects.any_numbers(0.5),
        REFUSED,
        aspects.untouched(weight=0.5),
    ),
)

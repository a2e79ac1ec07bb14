"""`patchify`: how it is tried."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects, draw
from cellcheck.authoring.calls import call_and_follow
from transformer_course.lessons.refusing import own_refusal

GREY = aspects.special("a single channel", weight=2.0, meaning="Grey images, with one channel, are cut right.")
SQUARE = aspects.special("square images", meaning="Images as high as wide are cut right.")
WHOLE = aspects.special("one patch for the whole image", weight=0.5, meaning="A patch may be as large as the image.")
PIXELS = aspects.special("patches of one pixel", weight=0.5, meaning="A patch may be a single pixel.")
REFUSED = aspects.special(
    "patches that don't fit",
    weight=2.0,
    meaning="Where patch_size doesn't divide a side, your own error says so, and not one from within PyTorch.",
    keys=("refusal",),
)


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


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The patches, and the gradients that flow back; where patches don't fit, how they are refused."""
    images, patch_size = inputs["images"], inputs["patch_size"]
    if images.shape[2] % patch_size or images.shape[3] % patch_size:
        return own_refusal(symbol, images, patch_size)
    return call_and_follow(symbol, images, patch_size)


TRIAL = Trial(
    module="transformer_course.beyond.vision",
    points=3,
    cases=cases,
    probe=probe,
    called={"refusal": "the answer to patches that don't fit"},
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

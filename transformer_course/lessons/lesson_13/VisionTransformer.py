"""`VisionTransformer`: how it is tried. The contract names no parts, so questions are asked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects, draw
from transformer_course.lessons.lesson_13.looks import CORE, EVERYTHING, FEW, SIZES, looks
from transformer_course.lessons.lesson_13.readers import look_at

READ, MADE, LEFT = "what_the_last_layer_reads", "what_is_made_of_the_patches", "what_is_left_of_the_input"
NAMES = ("image_size", "patch_size", "channels", "d_model", "num_heads", "d_ff", "num_layers", "num_classes")


def cases(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, layers: int, ask: tuple[str, ...] = FEW, **other: Any) -> dict[str, Any]:
        heads, d_ff = int(generator.integers(2, 4)), int(generator.integers(11, 16))
        classes = int(generator.integers(3, 6))
        dtype = other.pop("dtype", torch.float32)
        sizes = dict(zip(NAMES, (6, 2, 2, 4 * heads, heads, d_ff, layers, classes), strict=True)) | other
        shape = (batch, sizes["channels"], sizes["image_size"], sizes["image_size"])
        return {"x": draw.normal(generator, *shape, dtype=dtype), "sizes": sizes, "ask": [*ask]}

    return [
        Case.of("with one block", **model(3, 1, (*CORE, READ, MADE), image_size=4)),
        Case.of("with two blocks", **model(2, 2, (*EVERYTHING, READ, MADE), channels=1, image_size=4)),
        Case.of("with patches of three", SIZES, **model(2, 1, patch_size=3, channels=3)),
        Case.of("with one patch for the whole image", SIZES, **model(2, 1, image_size=3, patch_size=3)),
        Case.of("with two classes", SIZES, **model(3, 1, num_classes=2, channels=1)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **model(1, 1)),
        Case.of("with float64", aspects.FLOAT64, **model(2, 1, dtype=torch.float64)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What the model answers; each patch should be a token."""
    sizes = inputs["sizes"]
    side, patch = sizes["image_size"], sizes["patch_size"]
    places = [(row // patch, column // patch) for row in range(side) for column in range(side)]
    across = side // patch
    groups = [row * across + column for row, column in places] * sizes["channels"]
    return look_at(symbol, inputs, groups, sizes["num_classes"])


TRIAL = Trial(
    module="transformer_course.beyond.vision",
    points=4,
    cases=cases,
    probe=probe,
    aspects=tuple(
        replace(aspect, keys=(*aspect.keys, MADE)) if LEFT in aspect.keys and len(aspect.keys) == 1 else aspect
        for aspect in looks(
            "logits (batch, num_classes)",
            "one patch",
            aspects.central(
                aspects.also(
                    "every patch is read, or a CLS token",
                    READ,
                    weight=2.0,
                    meaning="The last layer reads the mean of all patches, or a CLS token of your own.",
                )
            ),
        )
    ),
)

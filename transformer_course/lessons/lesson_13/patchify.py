"""`patchify`: how it is tried."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects, draw
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
BY_ITS_NAME = aspects.special(
    "by a ValueError", "patches that don't fit", 0.5, "The error is the one that the docstring names.", ("kind",)
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
        # 9 by 7 pixels would make seven patches of nine: it isn't enough to look at the area
        Case.of("with a width that isn't divided", REFUSED, images=images(b, 2, 9, 7), patch_size=3),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The patches, and the gradients that flow back; where patches don't fit, how they are refused."""
    images, patch_size = inputs["images"], inputs["patch_size"]
    if images.shape[2] % patch_size or images.shape[3] % patch_size:
        return own_refusal(symbol, images, patch_size)
    return call_and_follow(symbol, images, patch_size)


IN_ORDER = "as in the docstring"


def in_words(observation: Observation, case: Case) -> Observation:
    """What is in order, and what isn't, where whole patches or numbers have changed places."""
    if "output" not in observation:
        return observation
    output, wanted = observation["output"], _squares(**case.inputs)
    if not isinstance(output, torch.Tensor) or output.dim() != 3:
        return {"order": IN_ORDER, **observation}
    if output.shape != wanted.shape:
        return {"order": IN_ORDER, **observation, "output": _number(output, wanted, **case.inputs) or output}
    return {"order": _order(output, wanted) or IN_ORDER, **observation}


def _squares(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    """The patches, (batch, patches, numbers)."""
    cut = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return cut.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


def _number(output: torch.Tensor, wanted: torch.Tensor, images: torch.Tensor, patch_size: int) -> str:
    """What is to be said of so many patches; nothing where nothing can be."""
    batch, patches, numbers = wanted.shape
    if output.shape == (batch, patches * images.shape[1], patch_size**2):
        return "Each channel of a square is a token of its own. Which numbers make up a patch?"
    for side, other, length in (("rows", "columns", images.shape[2]), ("columns", "rows", images.shape[3])):
        if output.shape == (batch, (length // patch_size) ** 2, numbers):
            return f"You have as many {other} of patches as {side}. Is every image square?"
    return ""


def _order(output: torch.Tensor, wanted: torch.Tensor) -> str:
    """What is to be said of patches or numbers that have changed places; nothing where nothing can be."""
    of_patches = _places((output.unsqueeze(2) == wanted.unsqueeze(1)).all(dim=3).all(dim=0))
    if of_patches:
        return f"The patches are right, but they come in another order: {of_patches}. Where does the docstring begin?"
    of_numbers = _places((output.unsqueeze(3) == wanted.unsqueeze(2)).flatten(0, 1).all(dim=0))
    if of_numbers:
        return (
            f"Each patch has the right numbers, but in another order: {of_numbers}. Which one does the docstring name?"
        )
    return _both(output, wanted)


def _both(output: torch.Tensor, wanted: torch.Tensor) -> str:
    """What is to be said of patches in another order, each with its numbers in another order."""
    alike = output.sort(dim=2).values.unsqueeze(2) == wanted.sort(dim=2).values.unsqueeze(1)
    from_where = alike.all(dim=3).all(dim=0)  # (patches, patches)
    of_patches = _places(from_where)
    if not of_patches:
        return ""
    in_place = wanted[:, from_where.int().argmax(dim=1)]
    of_numbers = _places((output.unsqueeze(3) == in_place.unsqueeze(2)).flatten(0, 1).all(dim=0))
    if not of_numbers:
        return ""
    return (
        f"Your patches come in another order: {of_patches}. And each has the right numbers, but those are in another "
        f"order, too: {of_numbers}. Which order does the docstring name, for patches and within one?"
    )


def _places(same: torch.Tensor) -> str:
    """Of a table that says what is at which place, where the first ones come from; nothing if they are in order."""
    if not (same.sum(dim=0) == 1).all() or not (same.sum(dim=1) == 1).all() or same.diagonal().all():
        return ""
    places = same.int().argmax(dim=1).tolist()
    listed = ", ".join(map(str, places[:4])) + (" and so on" if len(places) > 4 else "")
    return f"{listed}, counted from 0"


TRIAL = Trial(
    module="transformer_course.beyond.vision",
    points=3,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={
        "order": "what your patches are made of",
        "refusal": "the answer to patches that don't fit",
        "kind": "the error",
    },
    aspects=(
        aspects.shape("shape (batch, patches, numbers)", "The result is (batch, patches, channels * patch_size ** 2)."),
        aspects.worded(aspects.values(9.0), "order"),
        GREY,
        SQUARE,
        WHOLE,
        PIXELS,
        aspects.BATCH_OF_ONE,
        aspects.gradients(1.0),
        *aspects.any_numbers(0.5),
        REFUSED,
        BY_ITS_NAME,
        aspects.untouched(weight=0.5),
    ),
)

"""`VisionTransformer`: cases, mistakes and variants. The contract names no parts, so questions are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course.beyond.vision import VisionTransformer, patchify
from course.blocks import EncoderBlock
from grader.authoring import draw
from grader.authoring.aspects import USUAL
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.lesson_12.exercises.looks import EVERYTHING, FEW, looks
from lessons.lesson_12.exercises.stacks import Stacked, but, shared_mistakes

SIZES = ("image_size", "patch_size", "channels", "d_model", "num_heads", "d_ff", "num_layers", "num_classes")


def _models(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, layers: int, ask: tuple[str, ...] = FEW, **other: Any) -> dict[str, Any]:
        heads, d_ff = int(generator.integers(2, 4)), int(generator.integers(11, 16))
        classes = int(generator.integers(3, 6))
        sizes = dict(zip(SIZES, (6, 2, 2, 4 * heads, heads, d_ff, layers, classes), strict=True))
        dtype = other.pop("dtype", torch.float32)
        sizes |= other
        shape = (batch, sizes["channels"], sizes["image_size"], sizes["image_size"])
        return {"x": draw.normal(generator, *shape, dtype=dtype), "sizes": sizes, "ask": [*ask]}

    return [
        Case("with one block", model(3, 1, EVERYTHING), USUAL),
        Case("with three blocks", model(2, 3, EVERYTHING, channels=1, image_size=4), USUAL),
        Case("with patches of three", model(3, 1, patch_size=3, channels=3), tagged("sizes")),
        Case("with one patch for the whole image", model(3, 1, image_size=3, patch_size=3), tagged("sizes")),
        Case("with two classes", model(4, 1, num_classes=2, channels=1), tagged("sizes")),
        Case("on a batch of one", model(1, 1), tagged("one")),
        Case("with float64", model(3, 1, dtype=torch.float64), tagged("float64")),
    ]


class Model(Stacked):
    """The right model; mistakes change one thing about it."""

    extra = 0  # tokens besides the patches

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        channels: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        num_classes: int,
    ) -> None:
        super().__init__()
        self.patch_size = patch_size
        self.embedding = nn.Linear(channels * patch_size**2, d_model)
        tokens = (image_size // patch_size) ** 2 + self.extra
        self.prepare(tokens, d_model, num_heads, d_ff, num_layers)
        self.head = self.last(tokens, d_model, num_classes)

    def last(self, tokens: int, d_model: int, num_classes: int) -> Any:
        return nn.Linear(d_model, num_classes)

    def tokens(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.embedding(patchify(x, self.patch_size)))

    def read(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=1)


_but = but(Model)


def _only_reshaped(self: Model, x: torch.Tensor) -> torch.Tensor:
    """Runs of numbers in place of square patches."""
    size = x.shape[1] * self.patch_size**2
    return torch.as_tensor(self.embedding(x.reshape(len(x), -1, size)))


def _overlapping(self: Model, x: torch.Tensor) -> torch.Tensor:
    return Model.tokens(self, x + x.roll(1, dims=-1))


class _WithToken(Model):
    """A learned CLS token in front, and the last layer reads it."""

    extra = 1

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.cls = nn.Parameter(torch.zeros(1, 1, sizes[3]))

    def tokens(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.cls.expand(len(x), -1, -1), super().tokens(x)], dim=1)

    def read(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, 0]


class _Convolved(Model):
    """A convolution whose stride is its size cuts the patches."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.embedding = nn.Conv2d(sizes[2], sizes[3], sizes[1], stride=sizes[1])

    def tokens(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.embedding(x)).flatten(2).transpose(1, 2)


class _Written(nn.Module):
    """Other names, a parameter for the positions, a Sequential of blocks, the mean before the norm."""

    def __init__(self, side: int, patch: int, channels: int, d: int, heads: int, d_ff: int, layers: int, k: int):
        super().__init__()
        self.patch = patch
        self.lift = nn.Linear(channels * patch * patch, d)
        self.where = nn.Parameter(torch.randn((side // patch) ** 2, d))
        self.encoder = nn.Sequential(*(EncoderBlock(d, heads, d_ff) for _ in range(layers)))
        self.out = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, k))

    def forward(self, pictures: torch.Tensor) -> Any:
        return self.out(self.encoder(self.lift(patchify(pictures, self.patch)) + self.where).mean(dim=1))


VISION_TRANSFORMER = Exercise(
    symbol="VisionTransformer",
    points=4,
    cases=_models,
    references=(VisionTransformer,),
    aspects=looks("logits (batch, num_classes)", "one patch"),
    mistakes=(
        *shared_mistakes(Model),
        Mistake(
            "reshaped_not_cut",
            _but(tokens=_only_reshaped),
            "Numbers of one patch end up in different tokens. Which function of yours cuts an image into squares?",
            central=True,
        ),
        Mistake(
            "patches_overlap",
            _but(tokens=_overlapping),
            "Some pixels reach more than one token. How many patches does a pixel belong to?",
        ),
        Mistake(
            "softmax_at_the_end",
            _but(finish=lambda self, result: result.softmax(dim=-1)),
            "Each of your rows sums to 1: these are shares, not scores. Who takes the softmax if the loss is a "
            "cross-entropy?",
            central=True,
        ),
        Mistake(
            "log_softmax_at_the_end",
            _but(finish=lambda self, result: result.log_softmax(dim=-1)),
            "You return the logarithms of shares. Doesn't the cross-entropy take both softmax and logarithm?",
        ),
        Mistake(
            "sigmoid_at_the_end",
            _but(finish=lambda self, result: torch.sigmoid(result)),
            "All your scores lie between 0 and 1. Which numbers may a logit be?",
        ),
        Mistake(
            "logits_for_every_patch",
            _but(read=lambda self, x: x),
            "You return logits for every patch: (batch, patches, num_classes). What turns many vectors into one?",
            central=True,
        ),
        Mistake(
            "squeezed",
            _but(finish=lambda self, result: result.squeeze()),
            "Axes of length 1 disappear from your logits. Isn't a batch of one image still a batch?",
        ),
    ),
    variants={
        "the mean of all patches": Model,
        "a CLS token in front": _WithToken,
        "a convolution cuts the patches": _Convolved,
        "the largest numbers": _but(read=lambda self, x: x.amax(dim=1)),
        "all patches in a row": _but(
            read=lambda self, x: x.flatten(1),
            last=lambda self, tokens, d_model, classes: nn.Linear(tokens * d_model, classes),
        ),
        "other names": _Written,
    },
)

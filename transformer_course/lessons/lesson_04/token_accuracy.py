"""`token_accuracy`: how it is tried."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import LAYOUT, refused, shape, untouched, values
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_04.drawing import a_number, draw_scored, ragged, turned
from transformer_course.sequences import token_accuracy

PADDING = special("padding counts nowhere", weight=7.0)
ANYWHERE = special("padding anywhere in a row")
OTHER_ID = special("another pad_id")
SMALLEST = special("a batch of one, a row of one")
NOTHING = refused("nothing but padding is refused")

OF_PADDED = (
    "half of all",
    "right ones of all positions",
    "real and right ones of all positions",
    "right ones or padding of all positions",
    "first tokens",
    "rows' mean",
    "rows without a mistake",
    "of those not said to be padding",
    "of those neither padding nor said to be",
    "of all but padding that is said",
)
OF_FULL = (
    "half of all",
    "first tokens",
    "rows without a mistake",
    "of those not said to be padding",
    "without the padding symbol",
    "chance above one half",
    "lowest logits",
    "best positions",
)
"""Which of the `other_shares` a case should tell from the right one, with padding and without."""


def other_shares(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> dict[str, Any]:
    """What comes out if something else than the right symbols of real tokens is counted."""
    predicted, real = logits.argmax(-1), targets != pad_id
    right = predicted == targets
    without_padding = logits.clone()
    without_padding[..., pad_id] = -torch.inf
    chances = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    rows = real.any(dim=1)
    shares = {
        "right ones of all positions": right,
        "real and right ones of all positions": right & real,
        "right ones or padding of all positions": right | ~real,
        "rows' mean": (right & real).sum(1)[rows] / real.sum(1)[rows],
        "rows without a mistake": (right | ~real).all(dim=1),
        "of those not said to be padding": right[predicted != pad_id],
        "of those neither padding nor said to be": right[real & (predicted != pad_id)],
        "of all but padding that is said": right[real | (predicted != pad_id)],
        "without the padding symbol": (without_padding.argmax(-1) == targets)[real],
        "among the best two": (logits.topk(2, dim=-1).indices == targets.unsqueeze(-1)).any(dim=-1)[real],
        "chance above one half": (chances > 0.5)[real],
        "lowest logits": (logits.argmin(-1) == targets)[real],
        "best positions": (logits.argmax(1)[:, :1] == targets)[real],
        "rows up to the first padding": right[real.cumprod(dim=1).bool()],
        "of those that aren't 0": right[targets != 0],
        "first tokens": right[:, 0][real[:, 0]],
    }
    return {"half of all": 0.5, "none": 0.0, "all": 1.0, **{name: one.float().mean() for name, one in shares.items()}}


def until_telling(draw: Callable[[], dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """Draws until each of these other shares is clearly another number than the right one."""
    while True:
        inputs = draw()
        right, others = float(token_accuracy(**inputs)), other_shares(**inputs)
        if all(abs(float(others[name]) - right) > 0.01 for name in names):
            return inputs


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(names: Sequence[str], lengths: list[int], width: int, vocab: int, **more: Any) -> dict[str, Any]:
        return until_telling(lambda: draw_scored(generator, lengths, width, vocab, **more), names)

    def full(batch: int, width: int, vocab: int) -> dict[str, Any]:
        """Something else than padding comes first as well where the right symbol is second."""
        while True:
            inputs = draw(OF_FULL, [width] * batch, width, vocab)
            others = other_shares(**inputs)
            if abs(float(others["among the best two"]) - float(others["without the padding symbol"])) > 0.01:
                return inputs

    def padded(batch: int, width: int, vocab: int, **more: Any) -> dict[str, Any]:
        return draw(OF_PADDED, ragged(generator, batch, width), width, vocab, **more)

    batch, width, vocab = dims(generator, 3, 4, 8)
    other, wide, many = dims(generator, 3, 4, 8)
    apart = full(other, wide, many)

    def with_zeros() -> dict[str, Any]:
        inputs = draw_scored(generator, ragged(generator, 5, width), width, vocab, pad_id=vocab - 1)
        inputs["targets"][inputs["targets"] == 1] = 0  # many real zeros
        return inputs

    def renamed() -> dict[str, Any]:
        """Nothing else that is wrong looks as if 0 were left out."""
        while True:
            inputs = until_telling(with_zeros, ("of those that aren't 0", *OF_PADDED))
            others = other_shares(**inputs)
            without_zeros = float(others["of those that aren't 0"])
            if all(abs(float(others[name]) - without_zeros) > 0.01 for name in OF_PADDED):
                return inputs

    def gap() -> dict[str, Any]:
        inputs = draw_scored(generator, [width, width - 1, width - 1], width, vocab)
        inputs["targets"][1] = inputs["targets"][1].roll(1)  # padding in front
        inputs["targets"][2, 1] = 0
        return inputs

    nothing = padded(batch, width, vocab)
    nothing["targets"] = torch.zeros_like(nothing["targets"])
    alone = ("half of all", *OF_PADDED[1:4], OF_PADDED[-1])
    return [
        Case.of("without padding", **full(batch, width, vocab)),
        Case.of("without padding, in other sizes", **full(other, wide, many)),
        Case.of("with padding", PADDING, **padded(batch, width, vocab)),
        Case.of("with padding, in other sizes", PADDING, **padded(other, wide, many)),
        Case.of("with a row that is all padding", PADDING, **draw(OF_PADDED, [width, 0, width - 1], width, vocab)),
        Case.of(
            "with padding before and between the tokens",
            ANYWHERE,
            **until_telling(gap, ("rows up to the first padding", *OF_PADDED)),
        ),
        Case.of(
            "where pad_id is another id, and 0 is a real token",
            OTHER_ID,
            **renamed(),
        ),
        Case.of("on a batch of one, padded", SMALLEST, **draw(alone, [wide - 1], wide, many)),
        Case.of("with rows of a single token", SMALLEST, **draw(("none", "all"), [1] * 7, 1, vocab)),
        Case.of("with float64", PADDING, **padded(other, wide, many, dtype=torch.float64)),
        Case.of(
            "with tensors that are not contiguous", LAYOUT, **{name: turned(value) for name, value in apart.items()}
        ),
        Case.of("where every target is padding", NOTHING, **nothing),
    ]


TRIAL = Trial(
    module="transformer_course.sequences",
    points=2,
    cases=cases,
    canonical=a_number,
    aspects=(
        shape("one number", "The result is a single number."),
        values(),
        PADDING,
        ANYWHERE,
        OTHER_ID,
        SMALLEST,
        LAYOUT,
        NOTHING,
        untouched(),
    ),
)

"""`exact_match`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_04.drawing import a_number, draw_tokens

PADDING = special(
    "padding does not matter",
    weight=3.0,
    meaning="Whatever is predicted where the target is padding doesn't matter, but every real token does.",
)
ANYWHERE = special("padding anywhere in a row")
WIDER = special("wider predictions", meaning="The predictions may have more columns than the targets.")
NARROWER = special(
    "narrower predictions", weight=2.0, meaning="The predictions may have fewer columns than the targets."
)
OTHER_ID = special("another pad_id")
SMALLEST = special("a batch of one, a row of one")


class Drawing:
    """Predictions of every kind: right ones, ones with a single slip, and noise at padded positions."""

    def __init__(self, generator: np.random.Generator, vocab_size: int, pad_id: int = 0) -> None:
        self.generator, self.vocab_size, self.pad_id = generator, vocab_size, pad_id

    def other(self, token: int) -> int:
        """Another real token."""
        ids = np.setdiff1d(np.arange(self.vocab_size), [token, self.pad_id])
        return int(self.generator.choice(ids))

    def rows(self, lengths: list[int], slips: list[int | None], width: int) -> dict[str, Any]:
        """Targets of these lengths, and predictions with one slip at the place that `slips` names, or none."""
        targets = draw_tokens(self.generator, lengths, width, self.vocab_size, self.pad_id)
        predictions = targets.clone()
        for row, (length, slip) in enumerate(zip(lengths, slips, strict=True)):
            if slip is not None:
                predictions[row, slip] = self.other(int(targets[row, slip]))
            for place in range(length, width):
                if self.generator.random() < 0.7 or place == length:
                    predictions[row, place] = self.other(self.pad_id)
        rows: dict[str, Any] = {"predictions": predictions, "targets": targets}
        return {**rows, "pad_id": self.pad_id} if self.pad_id else rows

    def narrow(self, width: int) -> dict[str, Any]:
        """Two columns too few: enough for one row of five, or two; a 0 that is a token falls out as well."""
        rows = self.rows([width - 2, width, width - 1, 1, width], [None, None, None, 0, None], width)
        rows["predictions"] = rows["predictions"][:, :-2].clone()
        if self.pad_id:
            rows["targets"][1, -2:] = 0
            rows["targets"][2, -2] = 0
        return rows

    def with_gaps(self, width: int) -> dict[str, Any]:
        """Padding in front of the tokens and between them; of six rows two are wrong, behind the padding alone.

        Two rows are whole: to count the rows without a slip is something else than to find all of them right.
        """
        rows = self.rows([width] * 6, [None, width - 1, None, width - 1, None, None], width)
        for row, place in enumerate((0, 0, 1, 1)):
            rows["targets"][row, place] = self.pad_id
            rows["predictions"][row, place] = self.other(self.pad_id)
        return rows

    def with_zeros(self, width: int) -> dict[str, Any]:
        """The first token of every row is a 0 that is no padding, and is said to be something else in three rows."""
        rows = self.rows([width, width - 1, 2, width, width], [None] * 5, width)
        rows["targets"][:, 0] = 0
        rows["predictions"][:, 0] = 0
        rows["predictions"][2:, 0] = 1 if self.pad_id != 1 else 3
        return rows


def cases(generator: np.random.Generator) -> list[Case]:
    width, vocab = sorted(dims(generator, 2, 4, 9))
    other, many = sorted(dims(generator, 2, 4, 9))
    draw, pad_id = Drawing(generator, vocab + 2), int(generator.integers(2, many))
    wide = Drawing(generator, many + 2)
    full = draw.rows([width] * 5, [None, 0, None, width - 1, width - 1], width)
    short = [width, width - 2, width - 1, 1, 2]
    padded = draw.rows(short, [None, None, 0, None, 0], width)
    longer = wide.rows([other, other - 1, other - 2], [None, 0, None], other)
    longer["predictions"] = torch.cat(
        [longer["predictions"], torch.from_numpy(generator.integers(0, many, (3, 2)))], dim=1
    )
    laid_out = with_gaps(draw.rows(short, [None, 0, 0, None, None], width))
    # Padding said where a token stands; two rows of four are right.
    silent = draw.rows([width] * 4, [None] * 4, width)
    silent["predictions"][1, width - 1] = 0
    silent["predictions"][2] = 0
    renamed = Drawing(generator, many, pad_id)
    zeros = renamed.with_zeros(other)
    gaps = draw.with_gaps(width)
    return [
        Case.of("without padding", **full),
        Case.of("without padding, with one more row", **draw.rows([other] * 6, [0, 0, *[None] * 4], other)),
        Case.of("where something else is predicted at padded positions", PADDING, **padded),
        Case.of("where the model predicts padding instead of a token", PADDING, **silent),
        Case.of("with padding before and between the tokens", ANYWHERE, **gaps),
        Case.of("with predictions wider than the targets", WIDER, **longer),
        Case.of("with predictions narrower than the targets", NARROWER, **draw.narrow(width)),
        Case.of("with narrower predictions and another pad_id", OTHER_ID, **renamed.narrow(other)),
        Case.of("where pad_id is another id, and 0 is a real token", OTHER_ID, **zeros),
        Case.of("on a batch of one", SMALLEST, **draw.rows([width - 1], [None], width)),
        Case.of("on a batch of one with a wrong answer", SMALLEST, **draw.rows([width], [1], width)),
        Case.of("with rows of a single token", SMALLEST, **draw.rows([1] * 4, [None, 0, 0, 0], 1)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


TRIAL = Trial(
    module="transformer_course.sequences",
    points=2,
    cases=cases,
    canonical=a_number,
    aspects=(
        aspects.shape("one number", "The result is a single number."),
        aspects.values(),
        PADDING,
        ANYWHERE,
        WIDER,
        NARROWER,
        OTHER_ID,
        SMALLEST,
        aspects.LAYOUT,
        aspects.untouched(),
    ),
)

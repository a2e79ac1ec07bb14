"""`pad_sequences`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import BATCH_OF_ONE, dtype, main, refused, shape, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.aspects import special

FULL = special("a sequence that just fits", meaning="A sequence of exactly max_length ids is kept whole.")
EMPTY = special("an empty sequence", meaning="An empty sequence becomes a row of nothing but padding.")
PAD_ID = special("another pad_id")
LONG = refused("too long is refused", weight=11.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(lengths: list[int], room: int, **more: int) -> dict[str, Any]:
        ids = [[int(i) for i in generator.integers(1, 30, length)] for length in lengths]
        for sequence in ids:
            while len(sequence) > 1 and sequence[0] == sequence[-1]:
                sequence[-1] = int(generator.integers(1, 30))
        return {"sequences": ids, "max_length": room, **more}

    def lengths(count: int) -> list[int]:
        while True:
            drawn = dims(generator, count, 2, 7)
            if max(drawn) != drawn[0]:
                return drawn

    three, four, full, wide = lengths(3), lengths(4), lengths(3), lengths(3)
    pad_id = int(generator.integers(31, 40))
    return [
        Case.of("on three sequences", **draw(three, max(three) + 3)),
        Case.of("on four sequences", **draw(four, max(four) + 2)),
        Case.of("on a batch of one", BATCH_OF_ONE, **draw([4], 6)),
        Case.of("where the longest sequence just fits", FULL, **draw(full, max(full))),
        Case.of("with an empty sequence", EMPTY, **draw([3, 0, 2], 5)),
        # As many rows and columns as before, so that nothing may be left of what they held.
        Case.of("with another pad_id", PAD_ID, **draw(four[::-1], max(four) + 2, pad_id=pad_id)),
        Case.of("where one sequence is one id too long", LONG, **draw(wide, max(wide) - 1)),
        Case.of("where one sequence is far too long", LONG, **draw([2, 9], 4)),
        Case.of("where the only sequence is too long", LONG, **draw([6], 4)),
        Case.of("where every sequence is one id too long", LONG, **draw([5, 5, 5], 4)),
    ]


TRIAL = Trial(
    module="transformer_course.vocabulary",
    points=2,
    cases=cases,
    aspects=(
        shape("shape (n, max_length)", "The result has one row per sequence and max_length columns."),
        main("ids left, padding right", meaning="Each row starts with its sequence's ids, and padding fills the rest."),
        dtype("whole numbers, int64", meaning="The result holds integers, of dtype int64."),
        BATCH_OF_ONE,
        FULL,
        EMPTY,
        PAD_ID,
        LONG,
        untouched("the sequences stay as they were"),
    ),
)

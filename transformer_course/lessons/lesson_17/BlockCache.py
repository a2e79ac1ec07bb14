"""`BlockCache`: how it is tried. A script says what is asked of it; keys and values are drawn.

Its cases know when no block is free: this file doesn't travel, and the probe stands in probes.py.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import dims, normal
from transformer_course.lessons.drawing import Inputs

MAIN = aspects.main("everything so far, oldest first", 5.0, meaning="`read` returns a text's keys and values in order.")
TEXTS = aspects.main(
    "each text by itself", 5.0, meaning="Texts whose tokens come in turn don't get into each other's way.", tag="texts"
)
BLOCKS = aspects.special("blocks are counted", weight=4.0, meaning="A text takes a block only when it needs one.")
FULL = aspects.special(
    "no block is free", weight=3.0, meaning="Without a free block, a MemoryError is raised, and nothing changes."
)
FORGET = aspects.special("truncate", weight=4.0, meaning="`truncate` keeps the first tokens, and forgets the others.")
AGAIN = aspects.special(
    "blocks are used again", weight=4.0, meaning="Blocks that a text no longer needs are free, and can be taken again."
)
NOTHING = aspects.special("texts that have nothing", meaning="A text without tokens has a length of 0.")
SHARED = aspects.special(
    "its own numbers", weight=2.0, meaning="The cache keeps its own copies, and gives copies away."
)
SMALL = aspects.special("blocks of one token", meaning="Blocks of one token and vectors of one number are right too.")
KIND = aspects.also("float32", "kinds", meaning="`read` returns float32.")
CACHES = aspects.special("each cache by itself", meaning="Two caches share nothing.")


def cases(generator: np.random.Generator) -> list[Case]:
    def script(sizes: Sequence[int], *steps: Any, **others: Any) -> Inputs:
        """Each step is what to do, on which cache, and with which text; keys and values are drawn."""
        d = sizes[2]
        drawn = [
            [*step, normal(generator, d), normal(generator, d)] if step[0].startswith("append") else list(step)
            for step in steps
        ]
        return {"sizes": list(sizes), "script": drawn, **others}

    def add(text: Any, count: int = 1, cache: int = 0) -> list[tuple[Any, ...]]:
        return [("append", cache, text)] * count

    def read(*texts: Any, cache: int = 0) -> list[tuple[Any, ...]]:
        return [("read", cache, text) for text in texts]

    def cut(text: Any, length: int) -> list[tuple[Any, ...]]:
        return [("truncate", 0, text, length)]

    free: list[tuple[Any, ...]] = [("free", 0)]
    size, d = dims(generator, 2, 3, 5)
    n = int(generator.integers(1, size))
    turns = [text for _ in range(2 * size) for text in ("a", 7, "b")]
    in_turn = [step for text in turns for step in add(text)]
    side = int(generator.integers(3, 5))
    return [
        Case.of("with one text", **script([4, size, d], *add("a", 2 * size + n), *read("a"))),
        Case.of("where all sizes are equal", **script([side] * 3, *add("a", side + 1), *read("a"))),
        Case.of(
            "with a text that is read after each token",
            **script([3, size, d], *(step for _ in range(size + 2) for step in [*add("a"), *read("a")])),
        ),
        Case.of("with three texts in turn", "texts", **script([9, size, d], *in_turn, *read("b", "a", 7))),
        Case.of(
            "with texts named 0, 1, '1' and an empty string",
            "texts",
            **script(
                [9, size, d],
                *add(0, size),
                *add("", 2),
                *add(1, n),
                *add("1", n),
                *add(0),
                *read(0, "", 1, "1"),
                *cut(1, 0),
                *read(1, "1"),
            ),
        ),
        Case.of(
            "where free blocks are counted",
            BLOCKS,
            **script(
                [5, size, d], *free, *add("a"), *free, *add("a", size - 1), *free, *add("a"), *free, *add("b"), *free
            ),
        ),
        Case.of(
            "where all blocks are taken",
            FULL,
            **script([2, size, d], *add("a", 2 * size), *add("a"), *read("a"), *free, *add("b"), *read("b", "a")),
        ),
        Case.of(
            "where a text goes on in its own block, and another finds none free",
            FULL,
            **script([2, size, d], *add("a"), *add("b"), *add("b", size), *add("a", size - 1), *read("a", "b"), *free),
        ),
        Case.of(
            "where no block is free at first, and then one is",
            FULL,
            **script(
                [2, size, d], *add("a", size), *add("b"), *add("a"), *cut("b", 0), *add("a", 2), *read("a"), *free
            ),
        ),
        Case.of(
            "where a text is truncated, and goes on",
            FORGET,
            **script([4, size, d], *add("a", 2 * size), *cut("a", size + n), *read("a"), *add("a", 2), *read("a")),
        ),
        Case.of(
            "where a text is truncated at the end of a block",
            FORGET,
            **script([4, size, d], *add("a", 2 * size + n), *cut("a", size), *read("a"), *free, *add("a"), *read("a")),
        ),
        Case.of(
            "where a text is truncated to more than it has",
            FORGET,
            **script(
                [4, size, d], *add("a", size + n), *cut("a", size + n + 1), *read("a"), *cut("a", size + n), *free
            ),
        ),
        Case.of(
            "where texts leave, and others come",
            AGAIN,
            **script(
                [3, size, d],
                *add("a", size + 1),
                *add("b", n),
                *cut("a", 0),
                *free,
                *read("a"),
                *add("c", 2 * size),
                *read("c", "b"),
                *free,
                *cut("c", 0),
                *add("a", n),
                *read("a", "b", "c"),
                *free,
                *add("d"),
                *free,
            ),
        ),
        Case.of(
            "where the end of a text makes room for another",
            AGAIN,
            **script(
                [2, size, d], *add("a", size + n), *cut("a", size), *free, *add("b", size), *read("a", "b"), *free
            ),
        ),
        Case.of(
            "where the end of a text makes room for another, and it goes on elsewhere",
            AGAIN,
            **script(
                [3, size, d],
                *add("a", 2 * size),
                *add("c"),
                *cut("a", size),
                *add("b", size),
                *cut("c", 0),
                *add("a", n),
                *read("a", "b"),
                *free,
            ),
        ),
        Case.of("with a text that nobody has appended to", NOTHING, **script([2, size, d], *read("a"), *free)),
        Case.of(
            "where a text that has nothing is truncated",
            NOTHING,
            **script([2, size, d], *cut("a", 0), *cut("a", 3), *free, *add("a"), *read("a"), *free),
        ),
        Case.of(
            "where the caller changes what was appended",
            SHARED,
            **script([3, size, d], *add("a"), ("append, then change", 0, "a"), *add("a"), *read("a")),
        ),
        Case.of(
            "where the caller changes what was read",
            SHARED,
            **script(
                [3, size, d], *add("a", size - 1), ("read, then change", 0, "a"), *read("a"), *add("a"), *read("a")
            ),
        ),
        Case.of(
            "where a text goes on after it was read",
            SHARED,
            **script([1, size, d], *add("a", 2), ("read, and keep", 0, "a"), *cut("a", 0), *add("b", 2), *read("b")),
        ),
        Case.of(
            "with blocks of one token", SMALL, **script([4, 1, 1], *add("a", 2), *add("b"), *read("a", "b"), *free)
        ),
        Case.of(
            "with two caches",
            CACHES,
            **script(
                [2, size, d],
                *add("a", 2),
                *add("a", 1, 1),
                *read("a"),
                *read("a", cache=1),
                *free,
                ("free", 1),
                caches=2,
            ),
        ),
    ]


TRIAL = Trial(
    module="transformer_course.fast_answers.serving",
    points=4,
    cases=cases,
    shown=lambda case: {
        "num_blocks, block_size, d": case.inputs["sizes"],
        "script": ", ".join(f"{step[0]} {step[2]!r}" if len(step) > 2 else step[0] for step in case.inputs["script"]),
    },
    called={"output": "what comes back", "kinds": "the kind of number"},
    aspects=(
        MAIN,
        TEXTS,
        BLOCKS,
        FULL,
        FORGET,
        AGAIN,
        NOTHING,
        SHARED,
        SMALL,
        KIND,
        CACHES,
        aspects.untouched(),
    ),
)

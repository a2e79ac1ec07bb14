"""`BlockCache`: how it is tried. A script says what is asked of it; keys and values are drawn.

Its cases know when no block is free: this file doesn't travel, and the probe stands in probes.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
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
LOOKED_AT = (MAIN, TEXTS, BLOCKS, FULL, FORGET, AGAIN, NOTHING, SHARED, SMALL)


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


@dataclass
class _Text:
    """What a text should hold, and what it should not: tokens, each the number of the step that appended it."""

    tokens: list[int] = field(default_factory=list)
    forgotten: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    cut_to: int | None = None
    """The length to which it was truncated last, as long as nothing has been appended since."""


def in_words(observation: Observation, case: Case) -> Observation:
    """What goes wrong first, in a sentence, where it can be told for sure. None otherwise, not a word of another kind:
    a sentence is then told before a length that comes of the same fault."""
    if "error" in observation:
        return observation
    seen = {name: value for name, value in observation.items() if name != "refused"}
    return {"told": _told(seen.get("output"), observation.get("refused"), case.inputs) or None, **seen}


def _told(output: Any, refused: Any, inputs: Mapping[str, Any]) -> str:
    """Goes through the script with lists alone, as long as what comes back is what should. `refused` are the steps at
    which a MemoryError was raised."""
    if output == ["a new cache isn't empty"]:
        return (
            "A new cache already holds what another one was given. Which of your attributes belong to the class, and "
            "which to one cache?"
        )
    if not isinstance(output, list) or not isinstance(refused, list):
        return ""
    num_blocks, size = (int(one) for one in inputs["sizes"][:2])
    caches: dict[int, dict[Any, _Text]] = {}
    pairs: dict[int, tuple[Any, torch.Tensor, torch.Tensor]] = {}  # by the number of the step: text, key, value
    coming, changed = list(output), ""

    def free(number: int) -> int:
        return num_blocks - sum(-(-len(text.tokens) // size) for text in caches.get(number, {}).values())

    for at, (what, number, *arguments) in enumerate(inputs["script"]):
        texts = caches.setdefault(number, {})
        text = texts.setdefault(arguments[0], _Text()) if arguments else _Text()
        if what.startswith("append"):
            room = len(text.tokens) % size > 0
            pairs[at] = (arguments[0], arguments[1], arguments[2])
            error = at in refused
            if not room and free(number) == 0:
                if not error:
                    return (
                        f"A token needs a block of its own while all {num_blocks} are taken, and no MemoryError is "
                        "raised. What does the docstring ask for there?"
                    )
                coming.pop(0)
                text.refused.add(at)
                continue
            if error:
                why = "the last block of its text has room" if room else "a block should be free"
                return f"A MemoryError is raised for a token although {why}. When does a token need a free block?"
            text.tokens.append(at)
            text.cut_to = None
            if what == "append, then change":
                changed = "The caller has changed the tensors that were appended, and the cache's numbers change too."
        elif what == "truncate":
            remaining = text.tokens[: arguments[1]]
            if len(remaining) < len(text.tokens):
                text.cut_to = len(remaining)
            text.forgotten |= set(text.tokens[len(remaining) :])
            text.tokens = remaining
        elif what == "read, then change":
            changed = "The caller has changed what was read, and the cache's own numbers change too."
        elif what in ("read", "read, and keep", "free"):
            if not coming:
                return ""
            came = coming.pop(0)
            if what == "free":
                if isinstance(came, int) and came != free(number):
                    return _of_free(came, free(number), num_blocks, size, texts)
            elif words := _of_read(came, arguments[0], text, pairs, changed):
                return words
            elif not _is_right(came, text, pairs):
                return ""
    return ""


def _of_free(came: int, free: int, num_blocks: int, size: int, texts: Mapping[Any, _Text]) -> str:
    lengths = [str(len(text.tokens)) for text in texts.values() if text.tokens]
    held = f"texts of {' and '.join(lengths)} tokens" if len(lengths) > 1 else f"a text of {''.join(lengths)}"
    what = held if lengths else "no token at all"
    return (
        f"With {num_blocks} blocks of {size} and {what} in the cache, {free} should be free, but `free` says {came}. "
        "Which blocks does a text need?"
    )


def _is_right(came: Any, text: _Text, pairs: Mapping[int, tuple[Any, torch.Tensor, torch.Tensor]]) -> bool:
    return all(
        isinstance(rows, torch.Tensor)
        and len(rows) == len(text.tokens)
        and all(torch.equal(row.float(), pairs[at][1 + part]) for row, at in zip(rows, text.tokens, strict=True))
        for part, rows in enumerate(came)
    )


def _of_read(
    came: Any, name: Any, text: _Text, pairs: Mapping[int, tuple[Any, torch.Tensor, torch.Tensor]], changed: str
) -> str:
    """Whose keys come back for a text, where these are keys that somebody has appended."""
    if not isinstance(came, list | tuple) or len(came) != 2 or _is_right(came, text, pairs):
        return ""
    keys = came[0]
    if not isinstance(keys, torch.Tensor) or keys.dim() != 2:
        return ""
    rows = [next((at for at, pair in pairs.items() if _equal(row, pair[1])), None) for row in keys]
    lost = [row for row, at in zip(keys, rows, strict=True) if at is None]
    if changed and lost and not torch.stack(lost).any() and len(rows) == len(text.tokens):
        return f"{changed} What does the cache need of its own?"
    if None in rows:
        return ""
    if any(pairs[at][0] != name or type(pairs[at][0]) is not type(name) for at in rows if at is not None):
        return f"Reading the text {name!r} gives tokens of another text as well. How do you know whose token is whose?"
    if text.refused & set(rows):
        return (
            "There was no room for a token, and it is in its text all the same. What may change when a MemoryError is "
            "raised?"
        )
    if len(rows) > len(text.tokens) and text.forgotten & set(rows):
        return "A truncated text still has tokens that it should have forgotten. How long is it afterwards?"
    if text.cut_to is not None and rows != text.tokens:
        if len(rows) != text.cut_to:
            return f"A text was truncated to a length of {text.cut_to}, and has one of {len(rows)}. Which stay?"
        if text.forgotten & set(rows):
            return f"A text was truncated to {text.cut_to} tokens, and keeps others than the first. Which should stay?"
    return ""


def _equal(row: torch.Tensor, key: torch.Tensor) -> bool:
    return row.shape == key.shape and torch.equal(row.float(), key)


TRIAL = Trial(
    module="transformer_course.fast_answers.serving",
    points=4,
    cases=cases,
    shown=lambda case: {
        "num_blocks, block_size, d": case.inputs["sizes"],
        "script": ", ".join(f"{step[0]} {step[2]!r}" if len(step) > 2 else step[0] for step in case.inputs["script"]),
    },
    canonical=in_words,
    called={"output": "what comes back", "told": "what comes back", "kinds": "the kind of number"},
    aspects=(
        *(replace(one, keys=("told", "output")) for one in LOOKED_AT),
        KIND,
        replace(CACHES, keys=("told", "output")),
        aspects.untouched(),
    ),
)

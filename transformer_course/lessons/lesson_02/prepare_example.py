"""`prepare_example`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import CONTENT, USUAL, main, refused, right_kind, special, untouched
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_02.drawing import draw_symbols, draw_text, draw_vocabulary

TOKENS = ("tokens",)
ONE = special("one character", meaning="A text of one character gives the right tokens too.", keys=TOKENS)
FULL = special(
    "an exact fit", meaning="A text that leaves room only for the CLS token gives the right tokens too.", keys=TOKENS
)
LONG = refused("too long is refused", weight=5.0)
UNKNOWN = refused("unknown characters are refused")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(label: int, length: int, room: int, unknown: str = "") -> dict[str, Any]:
        symbols = draw_symbols(generator, 6)
        return {
            "text": draw_text(generator, symbols, length) + unknown,
            "label": label,
            "vocabulary": draw_vocabulary(generator, symbols),
            "max_length": room,
            "cls_id": 8 + int(generator.integers(4)),  # not the next id
        }

    flip = int(generator.integers(2))
    return [
        Case("on a text that leaves room for padding", draw(flip, 5, 9), USUAL),
        Case("with another label", draw(1 - flip, 4, 11), USUAL),
        Case("on a text of one character, with label 2", draw(2, 1, 5), ONE.tags),
        Case("on a text that leaves room only for the CLS token", draw(1, 6, 7), FULL.tags),
        Case("on a text that leaves no room for the CLS token", draw(1, 6, 6), LONG.tags),
        Case("on a text that is far too long", draw(0, 9, 5), LONG.tags),
        Case("on a text with an unknown character", draw(0, 4, 9, "?"), UNKNOWN.tags),
    ]


def either_type(observation: Observation, case: Case) -> Observation:
    """Tokens as a tensor and the label as a number, whichever way they came: the contract fixes neither."""
    tokens, label = observation["output"]
    if isinstance(tokens, list) and all(isinstance(i, int) for i in tokens):
        tokens = torch.tensor(tokens)
    if isinstance(label, torch.Tensor) and label.numel() == 1 and not label.is_floating_point():
        label = int(label)
    return {"tokens": tokens, "label": label, "arguments": observation["arguments"]}


TRIAL = Trial(
    module="transformer_course.vocabulary",
    points=2,
    cases=cases,
    canonical=either_type,
    aspects=(
        right_kind("max_length ids", "tokens is a LongTensor with max_length entries.", *TOKENS),
        main(
            "text, padding, CLS",
            keys=TOKENS,
            meaning="The text's ids come first, then padding, and the CLS token at the very end.",
        ),
        Aspect(
            "the label",
            keys=("label",),
            kinds=CONTENT - {"error"},
            weight=5.0,
            meaning="The label is passed on unchanged.",
        ),
        ONE,
        FULL,
        LONG,
        UNKNOWN,
        untouched("the arguments stay as they were"),
    ),
)

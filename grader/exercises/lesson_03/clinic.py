"""`ignores_padding`, the bug clinic: does a model read its padding? The small models live in the probes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.classifier import ignores_padding
from grader.exercises import draw
from grader.exercises.aspects import CONTENT, KNOWN, special, untouched
from grader.exercises.spec import Aspect, Case, Exercise

# (model of the probe, rows of tokens, tag, words for the learner)
_TRIED = [
    ("attention", "some", "sound", "with a sound model: attention, then a masked mean"),
    ("bag", "some", "sound", "with a sound model without attention"),
    ("attention", "none", "sound", "with a sound model, on rows without padding"),
    ("attention", "one", "sound", "with a sound model, on a batch of one"),
    ("positions", "some", "places", "with a sound model that has learned positions"),
    ("dropout", "some", "dropout", "with a sound model that is in training mode and has dropout"),
    ("rounding", "some", "rounding", "with a sound model whose last digits move with the length"),
    ("attention", "empty", "empty", "with a sound model, where one row is all padding"),
    ("mean over all", "some", "broken", "with a model whose mean counts the padding"),
    ("no mask", "some", "broken", "with a model whose attention sees the padding"),
    ("inverted", "some", "broken", "with a model whose mask is turned round"),
    ("another id", "some", "broken", "with a model whose mask looks for another id"),
    ("last position", "some", "broken", "with a model that reads the last position"),
    ("no mask", "one", "broken", "with a model whose attention sees the padding, on a batch of one"),
    ("first row's mask", "some", "rows", "with a model that uses the first row's mask for all rows"),
    ("last row open", "some", "rows", "with a model that masks all rows but the last"),
    ("one logit", "some", "mild", "with a model in which padding moves one logit only"),
    ("small leak", "some", "mild", "with a model in which padding has a small weight"),
    ("divided by the length", "some", "amount", "with a model that divides by the whole length"),
    ("places", "some", "amount", "with a model in which padding has no content but a place"),
    ("mean over all", "none", "none", "with a model whose mean counts the padding, on rows without padding"),
    ("no mask", "none", "none", "with a model whose attention sees the padding, on rows without padding"),
    ("second column", "second", "second", "with a model that hides only the first column of padding"),
    ("zero row", "some", "content", "with a model that trusts its padding to hold zeros"),
    ("inverted to NaN", "some", "nan", "with a model that answers NaN"),
]


def _models(generator: np.random.Generator) -> list[Case]:
    def rows(kind: str) -> torch.Tensor:
        """Ids from 1 to 9, padded on the right. No two rows have as much padding; the first has the least."""
        length = int(generator.integers(6, 8))
        amounts = {
            "some": [1, 3, 2, 4],
            "none": [0, 0, 0],
            "one": [int(generator.integers(2, 4))],
            "empty": [1, 3, length],
            "second": [1, 0, 1],
        }[kind]
        tokens = draw.integers(generator, 1, 10, len(amounts), length)
        for row, amount in zip(tokens, amounts, strict=True):
            row[length - amount :] = 0
        return tokens

    def tables() -> dict[str, torch.Tensor]:
        return {
            "embedding": draw.normal(generator, 10, 6),
            "positions": draw.normal(generator, 64, 6),
            "head": draw.normal(generator, 3, 6),
        }

    return [
        Case(
            label,
            {"model": model, "tokens": rows(kind), "tables": tables(), "training": model in ("dropout", "bag")},
            frozenset({tag}),
        )
        for model, kind, tag, label in _TRIED
    ]


IGNORES_PADDING = Exercise(
    symbol="ignores_padding",
    points=2,
    cases=_models,
    references=(ignores_padding,),
    aspects=(
        Aspect("sound models pass", kinds=CONTENT, weight=3.0, core=True, tags=frozenset({"sound"})),
        Aspect("leaks are found", kinds=CONTENT, weight=3.0, core=True, tags=frozenset({"broken"})),
        special("every row counts", "rows"),
        special("small leaks too", "mild"),
        special("leaks of the amount", "amount"),
        special("rows without padding", "none"),
        special("a leak behind the first column", "second", 0.5),
        special("leaks of the content alone", "content", 0.5),
        special("NaN is no sound answer", "nan", 0.5),
        special("dropout is no leak", "dropout"),
        special("rounding is no leak", "rounding"),
        special("positions are no leak", "places"),
        special("a row of padding alone", "empty", 0.5),
        Aspect("train and eval mode restored", keys=("training_mode",), kinds=KNOWN),
        untouched("the model is left as it was"),
    ),
    mistakes=(),
    variants={},
)

Answer = Any

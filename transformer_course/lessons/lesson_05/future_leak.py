"""`future_leak`, the bug clinic: how to see that a model reads ahead. The models stand in lesson 4's `patients`."""

from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from transformer_course.lessons.lesson_04.clinics import AMOUNT, HIGHEST, MODES, Draw, in_words, tried

CONSTANTS = (1, 2, 3, HIGHEST)
"""Ids that a test may put in place of every token. Where the token has that id already, nothing changes."""

_main = partial(aspects.main, keys=("leak",))
_on = partial(aspects.special, keys=("leak",))

CLOSED = _main("honest models get 0", 12.0, meaning="A model that never looks ahead gets 0.", tag="closed")
LEAKS = _main("leaks are found", 6.0, meaning="A model that reads later tokens gets more than 0.", tag="leaks")
FURTHEST = aspects.special(
    "how far", "", 16.0, "The number is the largest difference of an earlier logit, up or down.", (AMOUNT,)
)
FAR = _on("far ahead", meaning="A leak is found even when the model skips the next token and reads a later one.")
ACROSS = _on("from the last place to the first", "", 3.0, "A leak across the whole row is found.")
PLACE = _on("one place of several", "", 4.0, meaning="A leak is found when a single token leaks to a single position.")
ROW = _on("one row of several", meaning="A leak is found when only one row of the batch leaks.")
ONE_ROW = _on("a batch of one", meaning="A batch with a single row gets the right number too.")
SIGN = _on("up or down", meaning="A leak counts whether it raises a logit or lowers it.")
FAINT = _on("small moves", meaning="A leak counts even if it is too small to change the answer.")
SINGLE = _on("a single target token", meaning="With one target token there is no future, so the leak is 0.")
IDS = _on("ids that exist", meaning="The new tokens are ids that the model knows.")
ALREADY = _on("a token that really changes", "", 6.0, "The new token differs from the old one, whatever that was.")
MODULE = _on("models with parameters", meaning="An nn.Module gets the right number too, in either mode.")


def cases(generator: np.random.Generator) -> list[Case]:
    draw = Draw(generator, "target_input")

    def one(model: str = "one later token", place: int = 2, at: int = 1, **others: Any) -> dict[str, Any]:
        return draw(model, place=place, at=at, length=6, of_target=True, **others)

    def already(constant: int) -> dict[str, Any]:
        """One leaking token, which is `constant` in each row, and found nowhere else in it."""
        drawn = one()
        target, place = drawn["target_input"], drawn["place"]
        target = torch.where(target == constant, target[:, place : place + 1], target)
        target[:, place] = constant
        return {**drawn, "target_input": target}

    return [
        tried("with a model that only looks at its own token", draw("own token"), CLOSED.tags),
        tried("with a model that looks back", draw("past"), CLOSED.tags),
        tried("with a model that looks back, but not at its own token", draw("strictly past"), CLOSED.tags),
        tried("with a model that looks at the source and back", draw("source and past"), CLOSED.tags),
        tried("with an honest model and a target of two tokens", draw("past", length=2), CLOSED.tags),
        tried("with an honest model whose logits are large", draw("large", dtype=torch.float64), CLOSED.tags),
        tried("with a model that always gives the same answer", draw("always the same"), CLOSED.tags),
        *(
            tried(f"with an nn.Module that looks back, in {mode} mode", draw("past", mode=mode), MODULE.tags)
            for mode in MODES
        ),
        tried("with a target of a single token", draw("past", length=1), SINGLE.tags),
        tried("with a model that peeks at the next token", draw("next token"), LEAKS.tags),
        tried("with a model that peeks at all target tokens", draw("bag of the target"), LEAKS.tags),
        *(
            tried(f"with an nn.Module that peeks, in {mode} mode", draw("next token", mode=mode), MODULE.tags)
            for mode in MODES
        ),
        tried(
            "where another token moves an earlier logit by 0.75 and another by -1.25",
            one("a later token, by a known number"),
            FURTHEST.tags,
        ),
        tried(
            "where another token moves an earlier logit by 0.25 and another by 0.5",
            one("a later token, by another known number", batch=1),
            FURTHEST.tags,
        ),
        tried(
            "with an honest model, where another token moves its own logit by 0.5 and a later one by 0.875",
            one("a token that moves what comes after it", row=-1, place=1),
            FURTHEST.tags,
        ),
        tried("with a model that peeks two tokens ahead", draw("two ahead"), FAR.tags),
        tried("with a model that peeks at the last token", draw("last token"), FAR.tags),
        tried("with a model that peeks, on a batch of one", draw("next token", batch=1), ONE_ROW.tags),
        tried("on a batch of one, where one token moves one logit", one(batch=1), ONE_ROW.tags),
        tried("where the last token leaks to the first place", one(place=-1, at=0), ACROSS.tags),
        tried("where only the second token leaks, to the first place", one(place=1, at=0), PLACE.tags),
        tried("where only the last token leaks, to the place before it", one(place=-1, at=-2), PLACE.tags),
        tried("where only the third token leaks, to the second place", one(), PLACE.tags),
        tried("where only the first row of the batch leaks", one(row=0), ROW.tags),
        tried("where only the last row of the batch leaks", one(row=-1), ROW.tags),
        tried("where the leak pushes one logit down", one("one later token, downwards"), SIGN.tags),
        tried("where one logit rises and another falls", one("one later token, up and down"), SIGN.tags),
        tried("where the leak is too small to change an answer", one("one later token, faintly"), FAINT.tags),
        tried("with a model that peeks, and padding", draw("next token", padded=True), LEAKS.tags),
        tried("where one token has the vocabulary's last id", draw("next token", last_id=True), IDS.tags),
        *(
            tried(f"where the token that leaks is {constant} already", already(constant), ALREADY.tags)
            for constant in CONSTANTS
        ),
    ]


TRIAL = Trial(
    module="transformer_course.causal",
    points=3,
    cases=cases,
    canonical=in_words("leak"),
    aspects=(
        CLOSED,
        LEAKS,
        FURTHEST,
        FAR,
        ACROSS,
        PLACE,
        ROW,
        ONE_ROW,
        SIGN,
        FAINT,
        SINGLE,
        IDS,
        ALREADY,
        MODULE,
        aspects.modes(),
        aspects.untouched(),
    ),
)
